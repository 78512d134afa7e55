import type { Check, Verdict } from "tidegate";

/** What a request was counted under: a rule, and its key there. */
export type Counted = Pick<Check, "rule" | "key">;

/** What this process may let one key of one rule do without asking. */
export interface Slice<About> {
  /** Whose it is, for whoever is told of it. */
  about: About | undefined;
  checks: readonly Check[];
  /** What the store answered last, and the same as it is shown for each hit counted here. */
  verdicts: readonly Verdict[];
  shown: readonly Verdict[] | undefined;
  left: number;
  /** Hits that the store does not know of yet. */
  taken: number;
  /** When the first of them came; of none, when the store last said something of it. */
  since: number;
  /** So many of them are soon to be told of. */
  urgentFrom: number;
  /** With hits that were not told of by then nothing more is taken. */
  openUntil: number;
  isBeingTold: boolean;
}

/** One of which nobody knows yet what it may take. */
export function emptySlice<About>(checks: readonly Check[], since: number): Slice<About> {
  const nothing = { about: undefined, shown: undefined, left: 0, taken: 0, urgentFrom: 0, openUntil: 0 };
  return { ...nothing, checks, verdicts: [], since, isBeingTold: false };
}

/** Of a quarter of what is left to a client: so little that what a dozen processes keep to themselves is no crossing. */
const urgentShare = 1 / 8;

export function refill<About>(slice: Slice<About>, verdicts: readonly Verdict[], left: number): void {
  slice.verdicts = verdicts;
  slice.shown = undefined;
  slice.left = left;
  slice.urgentFrom = Math.max(1, Math.ceil(urgentShare * left));
}

/** The hits to tell of. */
export function take(slice: Slice<unknown>): number {
  const { taken } = slice;
  slice.taken = 0;
  return taken;
}

/** Whoever still has it asks. */
export function makeVoid(slice: Slice<unknown>): void {
  slice.left = 0;
  slice.taken = 0;
}

export function endOfGroup(checks: readonly Check[], from: number): number {
  const { rule, key } = checks[from] as Check;
  let to = from + 1;
  while (to < checks.length && checks[to]?.rule === rule && checks[to]?.key === key) to++;
  return to;
}

/** Checks of one rule and key stand together. */
export function groupsOf(checks: readonly Check[]): (readonly Check[])[] {
  const groups: (readonly Check[])[] = [];
  for (let i = 0; i < checks.length; i = endOfGroup(checks, i))
    groups.push(checks.slice(i, endOfGroup(checks, i)));
  return groups;
}

export function heavier(check: Check, more: number): Check {
  return more === 0 ? check : { ...check, cost: (check.cost ?? 1) + more };
}

/** What may still come before any of these refuses; 0 where one does, or is not the store's own word. */
export function leftOf(checks: readonly Check[], verdicts: readonly Verdict[]): number {
  let left = Number.POSITIVE_INFINITY;
  for (let i = 0; i < checks.length; i++) {
    const { allowed, remaining, source, heldUntil } = verdicts[i] as Verdict;
    if (!allowed || source !== "store" || heldUntil !== undefined) return 0;
    if (checks[i]?.limit.countsOffences !== true) left = Math.min(left, remaining);
  }
  return Number.isFinite(left) ? left : 0;
}

import type { Check, Store, Terms, Verdict } from "tidegate";
import {
  type Counted,
  emptySlice,
  endOfGroup,
  groupsOf,
  heavier,
  leftOf,
  makeVoid,
  refill,
  type Slice,
  take,
} from "./slice.js";
import { sliceBook } from "./slice-book.js";
import { storeHealth } from "./store-health.js";
import { tellingLine } from "./telling-line.js";

export interface SlicingOptions<About> {
  /** The share of what the store says is left that this process may count by itself before it asks again. */
  readonly share: number;
  /** How soon the store hears of who has taken more than a small part of what he may; how often it is tried once somebody failed. */
  readonly everyMs: number;
  /** How soon it hears of all others. What is told later counts as if it came later: well below the limits' half-lives. */
  readonly restMs: number;
  /** Who has not come for so long is asked about again; where there is little room left, sooner. */
  readonly idleMs: number;
  /** Keys counted here at the same time: all others are asked about each time. */
  readonly most: number;
  /** The store refuses whom it was told of: together with what other processes counted, that was too much. */
  readonly onRefused?: (slice: Slice<About>, verdicts: readonly Verdict[]) => void;
  /** So many hits counted here did not reach the store. */
  readonly onLost?: (about: Counted, hits: number) => void;
  /** Asking and telling fail, and nothing is known of anybody any more; the store has answered since. */
  readonly onAway?: (error: unknown) => void;
  readonly onBack?: () => void;
  /** For tests. Default `performance.now`. */
  readonly now?: () => number;
}

export interface SlicingStore<About> extends Store {
  /** What this process may let one do of whom `decide` was asked before. Undefined: it has to be asked about. */
  sliceOf(counted: Counted): Slice<About> | undefined;
  /** Counts one hit more of all these. False: `decide` has to be asked again, and nothing was counted. */
  countHere(slices: readonly Slice<About>[]): boolean;
  close(): Promise<void>;
}

/** When closing. */
const mostAtOnce = 256;
/** Between one round and the next, at least. */
const pauseMs = 2;
/** Up to this share of their number those who come no more may stay; beyond it for so much less. */
const roomy = 1 / 4;
const crowded = 1 / 3;
/** Looked at in one go, to find those; of thousands more, but not oftener than this. */
const fewLookedAt = 64;
const leastWeedingMs = 20;
/** Whose hits could not be told for so many times the time is asked about. */
const longest = 3;

/**
 * The same store for those nobody waits for: a client far below its rate is counted here, and the store hears of its hits
 * in sums, some clients at a time. The closer a client comes to the rate the smaller are its slices, down to none: the hit
 * that crosses is always asked about, and counts as it would have. Whoever is spread over several processes is found out as
 * much later as the store hears of it.
 */
export function slicingStore<About>(store: Store, options: SlicingOptions<About>): SlicingStore<About> {
  const { share, everyMs, restMs, idleMs, most, now = () => performance.now() } = options;
  const { onRefused, onLost } = options;
  const { keepsDeadlines, accept, clock } = store;
  const book = sliceBook<About>();
  const urgent = tellingLine<Slice<About>>(everyMs);
  const atLeisure = tellingLine<Slice<About>>(restMs);
  let terms: Terms | undefined;
  let timer: NodeJS.Timeout | undefined;
  let roundAt = 0;
  let toldAt = 0;
  let weededAt = 0;
  let isClosed = false;
  const health = storeHealth({
    askedWithinMs: restMs + everyMs,
    triedWithinMs: 2 * everyMs,
    now,
    onAway(error) {
      drop();
      options.onAway?.(error);
    },
    onBack: () => options.onBack?.(),
  });
  /** How often the store took what it was told. */
  let tellsTaken = 0;
  const underWay = new Set<Promise<unknown>>();

  /** What was counted here is not to come back. */
  function forgetSlice(about: Counted): void {
    const slice = book.of(about);
    if (slice !== undefined) end(slice);
  }

  function end(slice: Slice<About>): void {
    leaveLine(slice);
    makeVoid(slice);
  }

  function isOpen({ left, taken, openUntil }: Slice<About>, at: number): boolean {
    return left >= 1 && (taken === 0 || at < openUntil);
  }

  function takeOne(slice: Slice<About>, at: number): void {
    slice.left--;
    slice.taken++;
    if (slice.taken === 1) slice.since = at;
    else if (slice.taken !== slice.urgentFrom || slice.isBeingTold) return;
    standInLine(slice, at);
  }

  /** Who is being told of stands in line again afterwards. */
  function standInLine(slice: Slice<About>, at: number): void {
    const isUrgent = slice.taken >= slice.urgentFrom;
    slice.openUntil = at + longest * (isUrgent || slice.isBeingTold ? everyMs : restMs);
    if (slice.isBeingTold) return;
    (isUrgent ? atLeisure : urgent).leave(slice);
    if ((isUrgent ? urgent : atLeisure).stand(slice, at)) goOnAfter(at);
  }

  /** It may have gone on while the store was asked. */
  function settle(slice: Slice<About>): void {
    if (slice.taken > 0) standInLine(slice, now());
    else slice.since = now();
  }

  function leaveLine(slice: Slice<About>): void {
    urgent.leave(slice);
    atLeisure.leave(slice);
  }

  /** Undefined where some rule has to be asked. */
  function verdictsHere(checks: readonly Check[], at: number): Verdict[] | undefined {
    for (let i = 0; i < checks.length; i = endOfGroup(checks, i)) {
      const slice = book.of(checks[i] as Check);
      if (slice === undefined || !isOpen(slice, at)) return undefined;
      if (slice.verdicts.length !== endOfGroup(checks, i) - i) return undefined;
    }
    const verdicts: Verdict[] = [];
    for (let i = 0; i < checks.length; i = endOfGroup(checks, i)) {
      const slice = book.of(checks[i] as Check) as Slice<About>;
      takeOne(slice, at);
      slice.shown ??= slice.verdicts.map((verdict) => ({ ...verdict, source: "slice" }));
      for (const verdict of slice.shown) verdicts.push(verdict);
    }
    return verdicts;
  }

  function countHere(slices: readonly Slice<About>[]): boolean {
    const at = now();
    for (let i = 0; i < slices.length; i++) if (!isOpen(slices[i] as Slice<About>, at)) return false;
    for (let i = 0; i < slices.length; i++) takeOne(slices[i] as Slice<About>, at);
    return true;
  }

  /** Asks with all that was counted here since. */
  async function ask(checks: readonly Check[]): Promise<Verdict[]> {
    const groups = groupsOf(checks);
    const taken = groups.map((group) => {
      const slice = book.of(group[0] as Check);
      if (slice === undefined) return 0;
      slice.left = 0;
      leaveLine(slice);
      return take(slice);
    });
    const weighed = groups.flatMap((group, i) => group.map((check) => heavier(check, taken[i] as number)));
    try {
      const verdicts = await inTime(store.decide(weighed, terms));
      health.answered(verdicts);
      let from = 0;
      for (const group of groups) {
        grant(group, verdicts.slice(from, from + group.length));
        from += group.length;
      }
      return verdicts;
    } catch (error) {
      for (const [i, [first]] of groups.entries()) lose(first as Check, taken[i] as number);
      doubt(error);
      throw error;
    }
  }

  /** These hits may have reached the store or not; what came since is told of with the next. */
  function lose(about: Counted, hits: number): void {
    const slice = book.of(about);
    if (slice !== undefined) slice.left = 0;
    if (hits > 0) onLost?.(about, hits);
  }

  function grant(checks: readonly Check[], verdicts: readonly Verdict[]): void {
    const known = book.of(checks[0] as Check);
    // The store does not know yet of what came while it was asked.
    const left = Math.floor(share * (leftOf(checks, verdicts) - (known?.taken ?? 0)));
    if (known !== undefined) {
      refill(known, verdicts, left);
      settle(known);
    } else if (left >= 1 && book.size() < most && !isClosed) {
      const begun = emptySlice<About>(checks, now());
      refill(begun, verdicts, left);
      book.add(begun);
      if (book.size() > 1) return;
      weededAt = begun.since;
      goRoundBy(weedAt());
    }
  }

  function goRoundBy(at: number): void {
    if (timer !== undefined && roundAt <= at) return;
    clearTimeout(timer);
    roundAt = at;
    // A timer knows whole milliseconds only, and would come before its time.
    timer = setTimeout(goRound, Math.ceil(at - now())).unref();
  }

  /** Tells of those who are due, a few at a time, and lets go of some of those who came no more. */
  function goRound(): void {
    const at = now();
    timer = undefined;
    const due = [...urgent.takeDue(at), ...atLeisure.takeDue(at)];
    if (due.length === 0 && at >= tryAt()) due.push(...atLeisure.takeFirst());
    if (due.length > 0) toldAt = at;
    for (const slice of due) tell(slice);
    if (at >= weedAt()) weed(at);
    goOnAfter(at);
  }

  function weedAt(): number {
    return weededAt + weedingMs();
  }

  /** Between two goes: each slice is looked at once within the time it may stay. */
  function weedingMs(): number {
    return Math.max(leastWeedingMs, (mayIdleMs() * fewLookedAt) / Math.max(book.size(), fewLookedAt));
  }

  function weed(at: number): void {
    weededAt = at;
    const count = Math.ceil((book.size() * weedingMs()) / mayIdleMs());
    const idleSince = at - mayIdleMs();
    for (const slice of book.weed(count, (each) => isNeeded(each, idleSince))) end(slice);
  }

  function mayIdleMs(): number {
    return book.size() < roomy * most ? idleMs : crowded * idleMs;
  }

  function goOnAfter(at: number): void {
    const next = isClosed ? undefined : nextRoundAt();
    if (next !== undefined) goRoundBy(Math.max(at + pauseMs, next));
  }

  function doubt(error: unknown): void {
    health.failed(error);
    goOnAfter(now());
  }

  /** When somebody at leisure is told of, due or not: who fails may be the only one, or all do. */
  function tryAt(): number {
    const isSomebodyThere = atLeisure.nextAt() !== undefined;
    return isSomebodyThere && health.isInDoubt() ? toldAt + everyMs : Number.POSITIVE_INFINITY;
  }

  function nextRoundAt(): number | undefined {
    if (book.size() === 0) return undefined;
    const turns = [urgent, atLeisure].map((line) => line.nextAt() ?? Number.POSITIVE_INFINITY);
    return Math.min(weedAt(), tryAt(), ...turns);
  }

  function isNeeded({ taken, isBeingTold, since }: Slice<About>, idleSince: number): boolean {
    return taken > 0 || isBeingTold || since > idleSince;
  }

  /** Of all hits since it was last told of. The client goes on meanwhile. */
  function tell(slice: Slice<About>): void {
    if (slice.taken === 0) return;
    const telling = tellStore(slice).finally(() => underWay.delete(telling));
    underWay.add(telling);
  }

  async function tellStore(slice: Slice<About>): Promise<void> {
    const { checks } = slice;
    const about = checks[0] as Check;
    const taken = take(slice);
    slice.isBeingTold = true;
    try {
      const weighed = checks.map((check) => heavier(check, taken - 1));
      const verdicts = await inTime(store.decide(weighed, terms));
      health.answered(verdicts);
      tellsTaken++;
      if (book.of(about) === slice) grant(checks, verdicts);
      if (verdicts.some(({ allowed }) => !allowed)) onRefused?.(slice, verdicts);
    } catch (error) {
      slice.left = 0;
      onLost?.(about, taken);
      doubt(error);
    }
    slice.isBeingTold = false;
    settle(slice);
  }

  /** A store that keeps no deadlines itself is not waited for any longer. */
  function inTime<T>(answer: T | Promise<T>): T | Promise<T> {
    const ms = terms?.deadlineMs;
    if (keepsDeadlines === true || ms === undefined) return answer;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms).unref();
      Promise.resolve(answer)
        .then(resolve, reject)
        .finally(() => clearTimeout(late));
    });
  }

  function drop(): void {
    urgent.clear();
    atLeisure.clear();
    for (const slice of book.take()) {
      if (slice.taken > 0) onLost?.(slice.checks[0] as Check, slice.taken);
      makeVoid(slice);
    }
  }

  return {
    decide(checks, own) {
      terms = own;
      return verdictsHere(checks, now()) ?? ask(checks);
    },
    peek: (checks, own) => store.peek(checks, own),
    refund: (charges, own) => store.refund(charges, own),
    hold(rule, key, forMs, own) {
      forgetSlice({ rule, key });
      return store.hold(rule, key, forMs, own);
    },
    forget(checks, own) {
      for (const check of checks) forgetSlice(check);
      return store.forget(checks, own);
    },
    ...(keepsDeadlines !== undefined && { keepsDeadlines }),
    ...(accept && { accept: (limit) => accept.call(store, limit) }),
    ...(clock && { clock }),
    sliceOf: book.of,
    countHere,
    /** Tells of all that was counted here, some hundred at a time; once the store takes nothing of it, of no more. */
    async close() {
      isClosed = true;
      clearTimeout(timer);
      let takenBefore: number;
      do {
        takenBefore = tellsTaken;
        for (const slice of book.take(mostAtOnce)) {
          tell(slice);
          end(slice);
        }
        const isTelling = underWay.size > 0;
        await Promise.all(underWay);
        if (isTelling && tellsTaken === takenBefore) break;
      } while (book.size() > 0);
      drop();
    },
  };
}

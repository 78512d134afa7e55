import type { Check, Store, Terms, Verdict } from "tidegate";
import type { Counted } from "./known-visits.js";

export interface SlicingOptions {
  /** The share of what the store says is left that this process may count by itself before it asks again. */
  readonly share: number;
  /** From half as long to so long; what it counted is told after as long again, if the client has not come back by then. */
  readonly forMs: number;
  /** Keys counted here at the same time: all others are asked about each time. */
  readonly most: number;
  /** For tests. Default `performance.now`. */
  readonly now?: () => number;
}

export interface SlicingStore extends Store {
  /** Counts one hit more of all these, of which `decide` was asked before. False: it has to be asked again, and nothing was counted. */
  countHere(counted: readonly Counted[]): boolean;
  close(): Promise<void>;
}

/** What this process may let a key do without asking. */
interface Slice {
  /** Of one rule and key. */
  checks: readonly Check[];
  /** What the store answered last, and the same as it is shown for each hit counted here. */
  verdicts: readonly Verdict[];
  shown: readonly Verdict[] | undefined;
  left: number;
  /** Hits that the store does not know of yet. */
  taken: number;
  /** When it was put in line. */
  begunAt: number;
  endsAt: number;
}

/** In one go: more would be felt. */
const mostTold = 16;
const mostLookedAt = 256;
/** Between one go and the next. */
const pauseMs = 2;
/** By steps of the golden ratio any few in a row lie well apart. */
const spreadStep = (Math.sqrt(5) - 1) / 2;

/**
 * The same store for those nobody waits for: a client far below its rate is counted here, and the store hears of its hits
 * in one sum. The closer it comes to the rate the smaller are its slices, down to none: the hit that crosses is always
 * asked about, and counts as it would have. Whoever is spread over several processes is found out as much later as a slice lasts.
 */
export function slicingStore(store: Store, options: SlicingOptions): SlicingStore {
  const { share, forMs, most, now = () => performance.now() } = options;
  const { keepsDeadlines, accept, clock } = store;
  const byRule = new Map<string, Map<string, Slice>>();
  /** In the order in which they are looked at. */
  let inOrder: Slice[] = [];
  let terms: Terms | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  /** From 0 to 1, another for each slice. */
  let spread = 0;
  const underWay = new Set<Promise<unknown>>();

  function sliceOf({ rule, key }: Counted): Slice | undefined {
    return byRule.get(rule)?.get(key);
  }

  /** What was counted here is not to come back. */
  function forgetSlice(about: Counted): void {
    const slice = sliceOf(about);
    if (slice === undefined) return;
    slice.left = 0;
    slice.taken = 0;
  }

  /** Undefined where it has to be asked about. */
  function openSlice(about: Counted, at: number): Slice | undefined {
    const slice = sliceOf(about);
    return slice !== undefined && slice.left >= 1 && at < slice.endsAt ? slice : undefined;
  }

  /** Undefined where some rule has to be asked. */
  function verdictsHere(checks: readonly Check[], at: number): Verdict[] | undefined {
    for (let i = 0; i < checks.length; i = endOfGroup(checks, i)) {
      const slice = openSlice(checks[i] as Check, at);
      if (slice?.verdicts.length !== endOfGroup(checks, i) - i) return undefined;
    }
    const verdicts: Verdict[] = [];
    for (let i = 0; i < checks.length; i = endOfGroup(checks, i)) {
      const slice = sliceOf(checks[i] as Check) as Slice;
      takeOne(slice);
      slice.shown ??= slice.verdicts.map((verdict) => ({ ...verdict, source: "slice" }));
      for (const verdict of slice.shown) verdicts.push(verdict);
    }
    return verdicts;
  }

  function countHere(counted: readonly Counted[]): boolean {
    const at = now();
    for (const each of counted) if (openSlice(each, at) === undefined) return false;
    for (const each of counted) takeOne(sliceOf(each) as Slice);
    return true;
  }

  /** Asks with all that was counted here since. */
  async function ask(checks: readonly Check[]): Promise<Verdict[]> {
    const groups = groupsOf(checks);
    const taken = groups.map(take);
    const weighed = groups.flatMap((group, i) => group.map((check) => heavier(check, taken[i] as number)));
    try {
      const verdicts = await store.decide(weighed, terms);
      let from = 0;
      for (const group of groups) {
        grant(group, verdicts.slice(from, from + group.length));
        from += group.length;
      }
      return verdicts;
    } catch (error) {
      drop();
      throw error;
    }
  }

  function take(group: readonly Check[]): number {
    const slice = sliceOf(group[0] as Check);
    if (slice === undefined) return 0;
    const { taken } = slice;
    slice.taken = 0;
    slice.left = 0;
    return taken;
  }

  function grant(checks: readonly Check[], verdicts: readonly Verdict[]): void {
    const { rule, key } = checks[0] as Check;
    const slices = slicesOf(rule);
    const slice = slices.get(key);
    // The store does not know yet of what came while it was asked.
    const left = Math.floor(share * (leftOf(checks, verdicts) - (slice?.taken ?? 0)));
    const at = now();
    // Those who came together would all be asked about together again.
    spread = (spread + spreadStep) % 1;
    const endsAt = at + forMs * (1 - spread / 2);
    if (slice !== undefined) {
      slice.verdicts = verdicts;
      slice.shown = undefined;
      slice.left = left;
      slice.endsAt = endsAt;
    } else if (left >= 1 && inOrder.length < most && !isClosed) {
      const begun = { checks, verdicts, shown: undefined, left, taken: 0, begunAt: at, endsAt };
      slices.set(key, begun);
      inOrder.push(begun);
      timer ??= setTimeout(tellEnded, 2 * forMs).unref();
    }
  }

  function slicesOf(rule: string): Map<string, Slice> {
    let slices = byRule.get(rule);
    if (slices === undefined) {
      slices = new Map();
      byRule.set(rule, slices);
    }
    return slices;
  }

  /** Tells of those whose time is over, a few at a time. */
  function tellEnded(): void {
    const at = now();
    let looked = 0;
    let told = 0;
    for (; looked < Math.min(inOrder.length, mostLookedAt) && told < mostTold; looked++) {
      const slice = inOrder[looked] as Slice;
      if (at < slice.endsAt + forMs) {
        if (at < slice.begunAt + 2 * forMs) break;
        // It was asked about since.
        slice.begunAt = at;
        inOrder.push(slice);
      } else {
        if (slice.taken > 0) told++;
        end(slice);
      }
    }
    inOrder.splice(0, looked);
    timer = undefined;
    const [next] = inOrder;
    if (next !== undefined)
      timer = setTimeout(tellEnded, Math.max(pauseMs, next.begunAt + 2 * forMs - at)).unref();
  }

  /** Should this sum make a hold begin, the client's next hit finds it. */
  function end({ checks, taken }: Slice): void {
    const { rule, key } = checks[0] as Check;
    byRule.get(rule)?.delete(key);
    if (taken === 0) return;
    const telling = Promise.resolve()
      .then(() =>
        store.decide(
          checks.map((check) => heavier(check, taken - 1)),
          terms,
        ),
      )
      .catch(drop)
      .finally(() => underWay.delete(telling));
    underWay.add(telling);
  }

  /** The store does not answer: nothing is known of anybody, and what it was not told of yet is lost. */
  function drop(): void {
    inOrder = [];
    byRule.clear();
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
    countHere,
    /** Tells of all that was counted here, some hundred at a time; from the first the store does not take, of no more. */
    async close() {
      isClosed = true;
      clearTimeout(timer);
      do {
        for (const slice of inOrder.splice(0, mostLookedAt)) end(slice);
        await Promise.all(underWay);
      } while (inOrder.length > 0);
    },
  };
}

function takeOne(slice: Slice): void {
  slice.left--;
  slice.taken++;
}

function endOfGroup(checks: readonly Check[], from: number): number {
  const { rule, key } = checks[from] as Check;
  let to = from + 1;
  while (to < checks.length && checks[to]?.rule === rule && checks[to]?.key === key) to++;
  return to;
}

/** Checks of one rule and key stand together. */
function groupsOf(checks: readonly Check[]): (readonly Check[])[] {
  const groups: (readonly Check[])[] = [];
  for (let i = 0; i < checks.length; i = endOfGroup(checks, i))
    groups.push(checks.slice(i, endOfGroup(checks, i)));
  return groups;
}

function heavier(check: Check, more: number): Check {
  return more === 0 ? check : { ...check, cost: (check.cost ?? 1) + more };
}

/** What may still come before any of these refuses; 0 where one does, or is not the store's own word. */
function leftOf(checks: readonly Check[], verdicts: readonly Verdict[]): number {
  let left = Number.POSITIVE_INFINITY;
  for (let i = 0; i < checks.length; i++) {
    const { allowed, remaining, source, heldUntil } = verdicts[i] as Verdict;
    if (!allowed || source !== "store" || heldUntil !== undefined) return 0;
    if (checks[i]?.limit.countsOffences !== true) left = Math.min(left, remaining);
  }
  return Number.isFinite(left) ? left : 0;
}

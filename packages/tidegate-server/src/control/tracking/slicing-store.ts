import type { Check, Store, Terms, Verdict } from "tidegate";
import { type Counted, endOfGroup, groupsOf, heavier, leftOf, makeVoid, type Slice, take } from "./slice.js";
import { storeHealth } from "./store-health.js";

export interface SlicingOptions<About> {
  /** The share of what the store says is left that this process may count by itself before it asks again. */
  readonly share: number;
  /** How soon the store hears of what was counted here; of many clients in turn, so that none waits for twice as long. */
  readonly everyMs: number;
  /** Who has not come for so long is asked about again; where there is little room left, much sooner. */
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

/** Told of in one go: more would be felt, but where hundreds wait. */
const fewTold = 8;
const mostTold = 32;
const mostLookedAt = 64;
/** When closing. */
const mostAtOnce = 256;
/** Between one go and the next, at least. */
const pauseMs = 2;
/** Whoever is due within this share of the time is told of with who is due now. */
const early = 1 / 4;
/** Up to this share of their number those who come no more may stay a while. */
const roomy = 1 / 4;
/** Whose hits could not be told for so many times the time is asked about. */
const longest = 3;

/**
 * The same store for those nobody waits for: a client far below its rate is counted here, and the store hears of its hits
 * in sums, some clients at a time. The closer a client comes to the rate the smaller are its slices, down to none: the hit
 * that crosses is always asked about, and counts as it would have. Whoever is spread over several processes is found out as
 * much later as the store hears of it.
 */
export function slicingStore<About>(store: Store, options: SlicingOptions<About>): SlicingStore<About> {
  const { share, everyMs, idleMs, most, now = () => performance.now() } = options;
  const { onRefused, onLost } = options;
  const { keepsDeadlines, accept, clock } = store;
  const byRule = new Map<string, Map<string, Slice<About>>>();
  /** All of them, and how far they were looked through for who comes no more. */
  let slices: Slice<About>[] = [];
  let lookedAt = 0;
  /** Those with hits to tell of, the oldest first. */
  let line: Slice<About>[] = [];
  let terms: Terms | undefined;
  let timer: NodeJS.Timeout | undefined;
  let roundAt = 0;
  let isClosed = false;
  const health = storeHealth({
    answersWithinMs: 2 * everyMs,
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

  function sliceOf({ rule, key }: Counted): Slice<About> | undefined {
    return byRule.get(rule)?.get(key);
  }

  /** What was counted here is not to come back. */
  function forgetSlice(about: Counted): void {
    const slice = sliceOf(about);
    if (slice !== undefined) makeVoid(slice);
  }

  function isOpen({ left, taken, since }: Slice<About>, at: number): boolean {
    return left >= 1 && (taken === 0 || at < since + longest * everyMs);
  }

  function takeOne(slice: Slice<About>, at: number): void {
    slice.left--;
    if (slice.taken++ > 0) return;
    slice.since = at;
    standInLine(slice);
  }

  function standInLine(slice: Slice<About>): void {
    if (slice.inLineSince !== undefined) return;
    slice.inLineSince = now();
    if (line.push(slice) === 1) goRoundIn(everyMs);
  }

  /** Undefined where some rule has to be asked. */
  function verdictsHere(checks: readonly Check[], at: number): Verdict[] | undefined {
    for (let i = 0; i < checks.length; i = endOfGroup(checks, i)) {
      const slice = sliceOf(checks[i] as Check);
      if (slice === undefined || !isOpen(slice, at)) return undefined;
      if (slice.verdicts.length !== endOfGroup(checks, i) - i) return undefined;
    }
    const verdicts: Verdict[] = [];
    for (let i = 0; i < checks.length; i = endOfGroup(checks, i)) {
      const slice = sliceOf(checks[i] as Check) as Slice<About>;
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
      const slice = sliceOf(group[0] as Check);
      if (slice === undefined) return 0;
      slice.left = 0;
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
      health.failed(error);
      throw error;
    }
  }

  /** These hits may have reached the store or not; what came since is told of with the next. */
  function lose(about: Counted, hits: number): void {
    const slice = sliceOf(about);
    if (slice !== undefined) slice.left = 0;
    if (hits > 0) onLost?.(about, hits);
  }

  function grant(checks: readonly Check[], verdicts: readonly Verdict[]): void {
    const about = checks[0] as Check;
    const slice = sliceOf(about);
    // The store does not know yet of what came while it was asked.
    const left = Math.floor(share * (leftOf(checks, verdicts) - (slice?.taken ?? 0)));
    if (slice !== undefined) {
      slice.verdicts = verdicts;
      slice.shown = undefined;
      slice.left = left;
    } else if (left >= 1 && slices.length < most && !isClosed) {
      const begun = begin(checks, verdicts, left);
      keep(about, begun);
      if (slices.push(begun) === 1) goRoundIn(idleMs);
    }
  }

  function begin(checks: readonly Check[], verdicts: readonly Verdict[], left: number): Slice<About> {
    const fresh = { about: undefined, shown: undefined, taken: 0, inLineSince: undefined };
    return { ...fresh, checks, verdicts, left, since: now() };
  }

  function keep({ rule, key }: Counted, slice: Slice<About>): void {
    const ofRule = byRule.get(rule);
    if (ofRule === undefined) byRule.set(rule, new Map([[key, slice]]));
    else ofRule.set(key, slice);
  }

  function goRoundIn(ms: number): void {
    const at = now() + ms;
    if (timer !== undefined && roundAt <= at) return;
    clearTimeout(timer);
    roundAt = at;
    timer = setTimeout(goRound, ms).unref();
  }

  /** Tells of those who are due, a few at a time, and lets go of some of those who came no more. */
  function goRound(): void {
    const at = now();
    timer = undefined;
    const latest = at - (1 - early) * everyMs;
    const turns = inOneGo();
    let told = 0;
    let looked = 0;
    for (; looked < line.length && told < turns; looked++) {
      const slice = line[looked] as Slice<About>;
      if ((slice.inLineSince ?? 0) > latest) break;
      if (slice.taken === 0) slice.inLineSince = undefined;
      else {
        told++;
        tell(slice);
      }
    }
    line.splice(0, looked);
    letGo(at - (slices.length < roomy * most ? idleMs : longest * everyMs));
    const [next] = line;
    if (next !== undefined) goRoundIn(Math.max(pause(), (next.inLineSince ?? 0) + everyMs - at));
    else if (slices.length > 0) goRoundIn((idleMs * mostLookedAt) / Math.max(slices.length, mostLookedAt));
  }

  function inOneGo(): number {
    return Math.min(mostTold, Math.max(fewTold, line.length >> 4));
  }

  /** So long that all have had their turn after `everyMs`, but for thousands. */
  function pause(): number {
    return Math.min(early * everyMs, Math.max(pauseMs, (everyMs * inOneGo()) / line.length));
  }

  /** Looks at the next few for who has not come since. */
  function letGo(since: number): void {
    for (let looked = Math.min(slices.length, mostLookedAt); looked > 0; looked--) {
      if (lookedAt >= slices.length) lookedAt = 0;
      const slice = slices[lookedAt] as Slice<About>;
      if (slice.inLineSince !== undefined || slice.since > since) lookedAt++;
      else {
        slices[lookedAt] = slices.at(-1) as Slice<About>;
        slices.pop();
        end(slice);
      }
    }
  }

  /** Of all hits since it was last told of. The client goes on meanwhile. */
  function tell(slice: Slice<About>): void {
    const telling = tellStore(slice).finally(() => underWay.delete(telling));
    underWay.add(telling);
  }

  async function tellStore(slice: Slice<About>): Promise<void> {
    const { checks } = slice;
    const about = checks[0] as Check;
    const taken = take(slice);
    try {
      const weighed = checks.map((check) => heavier(check, taken - 1));
      const verdicts = await inTime(store.decide(weighed, terms));
      health.answered(verdicts);
      tellsTaken++;
      if (sliceOf(about) === slice) grant(checks, verdicts);
      if (verdicts.some(({ allowed }) => !allowed)) onRefused?.(slice, verdicts);
    } catch (error) {
      slice.left = 0;
      onLost?.(about, taken);
      health.failed(error);
    }
    slice.inLineSince = undefined;
    // It went on while it was told of.
    if (slice.taken > 0) standInLine(slice);
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

  function end(slice: Slice<About>): void {
    const { rule, key } = slice.checks[0] as Check;
    makeVoid(slice);
    byRule.get(rule)?.delete(key);
  }

  function drop(): void {
    for (const slice of slices) {
      if (slice.taken > 0) onLost?.(slice.checks[0] as Check, slice.taken);
      makeVoid(slice);
    }
    slices = [];
    line = [];
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
    sliceOf,
    countHere,
    /** Tells of all that was counted here, some hundred at a time; once the store takes nothing of it, of no more. */
    async close() {
      isClosed = true;
      clearTimeout(timer);
      let takenBefore: number;
      do {
        takenBefore = tellsTaken;
        for (const slice of slices.splice(0, mostAtOnce)) {
          if (slice.taken > 0) tell(slice);
          end(slice);
        }
        const isTelling = underWay.size > 0;
        await Promise.all(underWay);
        if (isTelling && tellsTaken === takenBefore) break;
      } while (slices.length > 0);
      drop();
    },
  };
}

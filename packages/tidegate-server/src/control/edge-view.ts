import type { Edge, EdgeChanges, EdgeMode, EdgeOutcome, EdgeState } from "../edge.js";

/** What is known of one edge: as last read, and what it was told since. */
export interface EdgeView {
  /** False: it has to be read before anything is applied. */
  readonly isKnown: boolean;
  /** Ours, key to `until`; those that ended stay until they are removed. */
  readonly entries: ReadonlyMap<string, number>;
  readonly foreign: number;
  /** Undefined: it has to be told again. */
  readonly mode: EdgeMode | undefined;
  /** As it was last read or told, whatever has failed since. */
  readonly lastMode: EdgeMode | undefined;
  /** Reads it; answers what was found. */
  look(asked: Iterable<string>, now: number, read: ReadEdge): Promise<Found>;
  /** Keys that may stand there though nobody told it: to be removed, they have to be taken for known. */
  suspect(keys: Iterable<string>): void;
  /** Changes that are being made: should nobody learn how that ended, they are asked about. */
  trying(changes: EdgeChanges): void;
  told(changes: EdgeChanges, outcome: EdgeOutcome): void;
  toldMode(mode: EdgeMode): void;
  /** The outcome of something is unknown. */
  forget(): void;
}

export type ReadEdge = (asked: readonly string[]) => Promise<EdgeState>;

export interface Found {
  /** Entries that were not as expected; undefined: nothing was. */
  readonly drift?: number;
  readonly hasLostAll: boolean;
}

/** An edge that can not list is asked for all it should know only now and then, meanwhile for so many. */
const askedAtOnce = 500;

export function openEdgeView({ isListable }: Pick<Edge["abilities"], "isListable">): EdgeView {
  let entries = new Map<string, number>();
  let isKnown = false;
  let foreign = 0;
  let mode: EdgeMode | undefined;
  let lastMode: EdgeMode | undefined;
  let epoch: string | undefined;
  let nextAsked = 0;
  /** Keys that stand there only if what is being tried succeeds. */
  let guessed = new Set<string>();

  /** Some of them, others each time. */
  function turnOf(keys: readonly string[]): readonly string[] {
    if (nextAsked >= keys.length) nextAsked = 0;
    const turn = keys.slice(nextAsked, nextAsked + askedAtOnce);
    nextAsked += turn.length;
    return turn;
  }

  function take(state: EdgeState, asked: ReadonlySet<string> | undefined, now: number): number {
    const drift = driftBetween(entries, state.entries, asked, now);
    const kept = [...entries].filter(([key, until]) => until <= now || (asked && !asked.has(key)));
    entries = new Map([...kept, ...state.entries]);
    ({ foreign, epoch } = state);
    mode = state.mode;
    lastMode = mode;
    return drift;
  }

  return {
    get isKnown() {
      return isKnown;
    },
    get entries() {
      return entries;
    },
    get foreign() {
      return foreign;
    },
    get mode() {
      return mode;
    },
    get lastMode() {
      return lastMode;
    },
    async look(asked, now, read) {
      const all = [...asked];
      const before = epoch;
      const wasKnown = isKnown;
      const isTurn = wasKnown && !isListable && all.length > askedAtOnce;
      const some = isTurn ? turnOf(all) : all;
      let state = await read(some);
      let isPart = isTurn;
      if (isTurn && (state.epoch !== before || isWrong(entries, state.entries, some, now))) {
        state = await read(all);
        isPart = false;
      }
      const drift = take(state, isPart ? new Set(some) : undefined, now);
      isKnown = true;
      return {
        ...(wasKnown && { drift }),
        hasLostAll: before !== undefined && state.epoch !== before,
      };
    },
    suspect(keys) {
      for (const key of keys) if (!entries.has(key)) entries.set(key, Number.POSITIVE_INFINITY);
    },
    trying({ put }) {
      guessed = new Set(put.map(({ key }) => key).filter((key) => !entries.has(key)));
      for (const key of guessed) entries.set(key, 0);
    },
    told({ remove, put }, { refused, left }) {
      const untold = new Set([...refused.map(({ key }) => key), ...left]);
      for (const key of remove) if (!untold.has(key)) entries.delete(key);
      for (const key of untold) if (guessed.has(key)) entries.delete(key);
      for (const { key, until } of put) if (!untold.has(key)) entries.set(key, until);
    },
    toldMode(told) {
      mode = told;
      lastMode = told;
    },
    forget() {
      isKnown = false;
      mode = undefined;
    },
  };
}

function isWrong(
  expected: ReadonlyMap<string, number>,
  found: ReadonlyMap<string, number>,
  asked: readonly string[],
  now: number,
): boolean {
  return driftBetween(expected, found, new Set(asked), now) > 0;
}

/** How many entries are missing, too many, or have another end. Those about to end are not looked at. */
function driftBetween(
  expected: ReadonlyMap<string, number>,
  found: ReadonlyMap<string, number>,
  asked: ReadonlySet<string> | undefined,
  now: number,
): number {
  let drift = 0;
  for (const [key, until] of expected) {
    if (until <= now + 1_000 || (asked && !asked.has(key))) continue;
    const there = found.get(key);
    if (there === undefined || Math.abs(there - until) >= 2_000) drift++;
  }
  for (const [key, until] of found) if (until > now + 1_000 && !expected.has(key)) drift++;
  return drift;
}

/**
 * Those somebody is to be told of, the longest waiting first. They go a few at a time, with pauses between: all in one go would
 * be felt by whoever comes meanwhile.
 */
export interface TellingLine<One> {
  /** Whoever stands here stays where it is. True: nobody else does. */
  stand(one: One, at: number): boolean;
  leave(one: One): void;
  /** The few whose turn it is now, if it is anybody's. They leave. */
  takeDue(at: number): One[];
  /** Whoever is first, due or not. It leaves. */
  takeFirst(): One[];
  /** When it is somebody's turn; undefined: nobody stands here. */
  nextAt(): number | undefined;
  clear(): void;
}

/** In one go: more would be felt, but where thousands wait. Fewer cost as much, since most of a go is the call it makes. */
const few = 8;
const most = 64;
/** Where few are not enough, so many goes take the time. */
const usualGoes = 32;
const shortestPauseMs = 2;
/** Whoever is due within this share of the time goes with who is due now. */
const early = 1 / 4;

/** Each has its turn after this time; of many who came at once none waits for twice as long, but for thousands. */
export function tellingLine<One>(withinMs: number): TellingLine<One> {
  /** Since when each waits, in that order. */
  const line = new Map<One, number>();
  let pausedUntil = Number.NEGATIVE_INFINITY;

  function firstSince(): number | undefined {
    for (const since of line.values()) return since;
    return undefined;
  }

  /** In which all are to have their turn, as if they had come together. */
  function msLeft(at: number): number {
    return Math.max(1, (firstSince() ?? at) + 2 * withinMs - at);
  }

  function inOneGo(at: number): number {
    const share = withinMs / msLeft(at) / usualGoes;
    return Math.min(most, Math.max(few, Math.ceil(share * line.size)));
  }

  function pauseMs(at: number): number {
    const goesLeft = Math.ceil(line.size / inOneGo(at));
    return Math.min(early * withinMs, Math.max(shortestPauseMs, msLeft(at) / goesLeft));
  }

  function take(count: number, cameBy: number): One[] {
    const taken: One[] = [];
    for (const [one, since] of line) {
      if (taken.length === count || since > cameBy) break;
      line.delete(one);
      taken.push(one);
    }
    return taken;
  }

  return {
    stand(one, at) {
      if (!line.has(one)) line.set(one, at);
      return line.size === 1;
    },
    leave(one) {
      line.delete(one);
    },
    takeDue(at) {
      if (at < pausedUntil) return [];
      const due = take(inOneGo(at), at - (1 - early) * withinMs);
      if (due.length > 0) pausedUntil = at + pauseMs(at);
      return due;
    },
    takeFirst: () => take(1, Number.POSITIVE_INFINITY),
    nextAt() {
      const since = firstSince();
      return since === undefined ? undefined : Math.max(pausedUntil, since + withinMs);
    },
    clear() {
      line.clear();
    },
  };
}

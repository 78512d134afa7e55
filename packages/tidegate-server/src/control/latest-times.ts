/** The last thousand of some durations. */
export interface LatestTimes {
  add(ms: number): void;
  /** Undefined: there was none yet. */
  percentiles(): { readonly p50: number; readonly p99: number } | undefined;
}

const most = 1_000;

export function latestTimes(): LatestTimes {
  const times: number[] = [];
  let next = 0;
  return {
    add(ms) {
      times[next] = ms;
      next = (next + 1) % most;
    },
    percentiles() {
      if (times.length === 0) return undefined;
      const sorted = [...times].sort((a, b) => a - b);
      const at = (part: number): number => sorted[Math.ceil(part * sorted.length) - 1] as number;
      return { p50: at(0.5), p99: at(0.99) };
    },
  };
}

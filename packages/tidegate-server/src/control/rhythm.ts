/** Does one round after the other: at once when woken, else when the last one said. */
export interface Rhythm {
  /** Several wakes while a round is under way are one. */
  wake(): void;
  /** Somebody woke it since the round under way began. */
  readonly isWoken: boolean;
  /** Resolves when a whole round that began after this call has ended. */
  round(): Promise<void>;
  /** Lets the round under way end, and begins none. */
  close(): Promise<void>;
}

/** A round that took this long, or longer, is followed by a rest of this length: a flood of wakes leaves time for others. */
const longestRestMs = 20;

/** `work` answers after how many milliseconds it wants to be done again. */
export function openRhythm(work: () => Promise<number>): Rhythm {
  let isClosed = false;
  let isWoken = false;
  let waiting: (() => void)[] = [];
  let stir: (() => void) | undefined;

  async function run(): Promise<void> {
    while (!isClosed) {
      isWoken = false;
      const told = waiting;
      waiting = [];
      const startedAt = performance.now();
      const nextInMs = await work();
      for (const tell of told) tell();
      const tookMs = performance.now() - startedAt;
      if (isWoken && waiting.length === 0) await pause(Math.min(tookMs, longestRestMs), false);
      else if (!isWoken && !isClosed) await pause(nextInMs, true);
    }
    for (const tell of waiting) tell();
  }

  function pause(ms: number, endsWhenWoken: boolean): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(end, Math.min(Math.max(0, ms), 60_000));
      if (endsWhenWoken) timer.unref();
      function end(): void {
        clearTimeout(timer);
        stir = undefined;
        resolve();
      }
      if (endsWhenWoken) stir = end;
    });
  }

  function wake(): void {
    isWoken = true;
    stir?.();
  }

  const running = Promise.resolve().then(run);
  return {
    get isWoken() {
      return isWoken;
    },
    wake,
    round() {
      if (isClosed) return Promise.resolve();
      return new Promise((resolve) => {
        waiting.push(resolve);
        wake();
      });
    },
    async close() {
      isClosed = true;
      wake();
      await running;
    },
  };
}

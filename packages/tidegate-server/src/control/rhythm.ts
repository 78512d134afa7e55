/** Does one round after the other: when woken, at once if it has been quiet for a moment, else when the last one said. */
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

/** When a round wants to be done again, in milliseconds from its end. */
export interface Pace {
  readonly nextInMs: number;
  /** Not before this, however often it is woken, so that a flood of wakes leaves time for others. */
  readonly restMs: number;
}

export function openRhythm(work: () => Promise<Pace>): Rhythm {
  let isClosed = false;
  let isWoken = false;
  let waiting: (() => void)[] = [];
  let stir: (() => void) | undefined;

  async function run(): Promise<void> {
    while (!isClosed) {
      isWoken = false;
      const told = waiting;
      waiting = [];
      const { nextInMs, restMs } = await work();
      for (const tell of told) tell();
      const restUntil = performance.now() + restMs;
      if (!isWoken && !isClosed) await pause(nextInMs, () => true);
      const leftMs = restUntil - performance.now();
      if (isWoken && !isClosed && waiting.length === 0 && leftMs > 0)
        await pause(leftMs, () => waiting.length > 0 || isClosed);
    }
    for (const tell of waiting) tell();
  }

  /** What wakes it meanwhile ends it early, if it may. */
  function pause(ms: number, mayEnd: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(end, Math.min(Math.max(0, ms), 60_000)).unref();
      function end(): void {
        clearTimeout(timer);
        stir = undefined;
        resolve();
      }
      stir = () => {
        if (mayEnd()) end();
      };
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

/** Does something at once, and then not again before `everyMs` have passed: whoever asks meanwhile shares the next time. */
export interface Paced {
  /** Settles with a run that began after it was asked for. */
  run(): Promise<void>;
  /** Does at once what still waits. */
  close(): Promise<void>;
}

export function paced(act: () => Promise<void>, everyMs: number): Paced {
  let lastAt = Number.NEGATIVE_INFINITY;
  let waiting: { readonly done: Promise<void>; start(): void } | undefined;
  let underWay: Promise<unknown> = Promise.resolve();

  function begin(): Promise<void> {
    waiting = undefined;
    lastAt = performance.now();
    const done = underWay.then(act);
    underWay = done.catch(() => {});
    return done;
  }

  function wait(ms: number): Promise<void> {
    let start = () => {};
    const done = new Promise<void>((resolve) => {
      const timer = setTimeout(() => start(), ms);
      start = () => {
        clearTimeout(timer);
        resolve(begin());
      };
    });
    waiting = { done, start: () => start() };
    return done;
  }

  return {
    run() {
      if (waiting !== undefined) return waiting.done;
      const pauseMs = lastAt + everyMs - performance.now();
      return pauseMs <= 0 ? begin() : wait(pauseMs);
    },
    async close() {
      waiting?.start();
      await underWay;
    },
  };
}

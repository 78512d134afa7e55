/** Where delayed requests wait. */
export interface WaitsFor {
  readonly waiting: number;
  readonly isFull: boolean;
  /** Answers after so long, or as soon as the caller is gone. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

/** By the machine's own time. It holds so many and no more. */
export class WaitingRoom implements WaitsFor {
  readonly #capacity: number;
  #waiting = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get isFull(): boolean {
    return this.#waiting >= this.#capacity;
  }

  async wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) return;
    this.#waiting++;
    try {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        signal?.addEventListener("abort", done);
      });
    } finally {
      this.#waiting--;
    }
  }
}

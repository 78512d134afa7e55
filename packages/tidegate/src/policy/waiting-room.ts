/** Where delayed requests wait. It holds so many and no more. */
export class WaitingRoom {
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

  /** Answers after so long, or as soon as the caller is gone. */
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

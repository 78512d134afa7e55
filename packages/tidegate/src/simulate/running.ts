/** Requests being judged or ended at this instant: those that wait for a time to come are not. */
export class Running {
  count = 0;

  /** Nothing here waits for anything but promises, so each turn of the microtasks brings it on. */
  async settled(): Promise<void> {
    while (this.count > 0) await undefined;
  }

  /** Counts until the promise is settled. */
  follow(promise: Promise<unknown>): void {
    this.count++;
    const ends = (): void => {
      this.count--;
    };
    promise.then(ends, ends);
  }
}

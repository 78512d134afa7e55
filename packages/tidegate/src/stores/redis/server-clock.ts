/**
 * Where the server's clock stands, as far as replies tell. Used only to say until when a batch may still take effect,
 * so it errs to the late side: by at most one round trip.
 */
export class ServerClock {
  #aheadMs = Number.NaN;

  get isKnown(): boolean {
    return !Number.isNaN(this.#aheadMs);
  }

  /** The server's time when it is `localMs` here. */
  at(localMs: number): number {
    return localMs + this.#aheadMs;
  }

  /** The server ran something at `serverMs` that was sent at `sentMs`. */
  learn(serverMs: number, sentMs: number): void {
    const aheadMs = serverMs - sentMs;
    // A faster round trip, or a clock set back, is taken at once; drift the other way slowly.
    this.#aheadMs =
      this.#aheadMs > aheadMs || !this.isKnown ? aheadMs : this.#aheadMs + (aheadMs - this.#aheadMs) / 64;
  }

  /** A batch was refused as late though it was not: the server's clock was set forward. */
  relearn(serverMs: number, sentMs: number): void {
    this.#aheadMs = serverMs - sentMs;
  }
}

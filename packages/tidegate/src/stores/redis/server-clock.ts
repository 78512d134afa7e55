/**
 * Where the server's clock stands, as far as replies tell. It says until when a call may still take effect, and errs to
 * the early side by the time a reply travels: what runs later than that is not heard of in time anyway.
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

  /** The server's clock stood at `serverMs` somewhere between `sentMs` and `receivedMs`. */
  learn(serverMs: number, sentMs: number, receivedMs: number): void {
    const least = serverMs - receivedMs;
    const most = serverMs - sentMs;
    this.#aheadMs = this.isKnown ? Math.min(Math.max(this.#aheadMs, least), most) : least;
  }
}

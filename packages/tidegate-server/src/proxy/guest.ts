import type { Errand } from "./errand.js";

/**
 * The part of an origin's connections one client may hold: with a quarter it takes four who leave their requests unfinished
 * or their answers unread before others have to wait.
 */
const part = 1 / 4;
/** However few connections there are: a browser opens several at once. */
const least = 4;

export function shareOf(connections: number): number {
  return Math.min(connections, Math.max(least, Math.floor(connections * part)));
}

/** A client as one origin knows it. */
export class Guest {
  /** Connections it holds, and its places in line for one. Never more than its share. */
  taken = 0;
  /** What it wants beyond its share, in order. */
  back: Set<Errand> | undefined;

  get isHere(): boolean {
    return this.taken > 0 || (this.back?.size ?? 0) > 0;
  }
}

/**
 * The guests of one origin. Those who have nothing there any more are let go many at a time: a map that gains and loses an entry
 * with every request makes itself a new table every few, and each table keeps the next one alive until a whole collection.
 */
export class Guests {
  #known = new Map<string, Guest>();
  #most = idleGuests;

  get size(): number {
    return this.#known.size;
  }

  of(address: string): Guest {
    const known = this.#known.get(address);
    if (known !== undefined) return known;
    if (this.#known.size >= this.#most) this.#letGo();
    const guest = new Guest();
    this.#known.set(address, guest);
    return guest;
  }

  #letGo(): void {
    this.#known = new Map([...this.#known].filter(([, guest]) => guest.isHere));
    this.#most = this.#known.size + idleGuests;
  }
}

/** So many at most have nothing there. */
const idleGuests = 1000;

import type { Errand } from "./origin.js";

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

/** A client as one origin knows it, for as long as it has something there. */
export class Guest {
  readonly address: string;
  /** Connections it holds, and its places in line for one. Never more than its share. */
  taken = 0;
  /** What it wants beyond its share, in order. */
  back: Set<Errand> | undefined;

  constructor(address: string) {
    this.address = address;
  }
}

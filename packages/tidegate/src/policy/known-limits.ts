import { fixedWindow } from "../algorithms/fixed-window/fixed-window.js";
import type { Limit } from "../limit.js";

/** Customers' own limits, made once each: stores know a limit by its object. */
export class KnownLimits {
  readonly #made = new Map<string, Limit>();

  of(windowSeconds: number, limit: number): Limit {
    const name = `${windowSeconds}:${limit}`;
    let made = this.#made.get(name);
    if (made === undefined) {
      made = fixedWindow({ limit, window: Math.round(windowSeconds * 1000) });
      if (this.#made.size >= mostKept) this.#made.clear();
      this.#made.set(name, made);
    }
    return made;
  }
}

const mostKept = 10_000;

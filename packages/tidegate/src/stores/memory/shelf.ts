import { type Ledger, type Limit, maxCells } from "../../limit.js";
import type { Candidate } from "./table.js";

/** The ledgers (logs, leases) of the memory store, by name, with a way to drop the one that matters least. */
export class Shelf {
  readonly #places = new Map<string, Place>();
  readonly #order: Place[] = [];
  readonly #facts = new Float64Array(maxCells);

  get count(): number {
    return this.#order.length;
  }

  find(name: string): Ledger | undefined {
    return this.#places.get(name)?.ledger;
  }

  /** Opens a ledger that is not there yet, and looks after two others in passing. */
  open(name: string, limit: Limit, now: number): Ledger {
    this.#dropIfIdle(now);
    this.#dropIfIdle(now);
    const ledger = (limit.ledger as NonNullable<Limit["ledger"]>).open();
    const place = { name, ledger, limit, index: this.#order.length };
    this.#places.set(name, place);
    this.#order.push(place);
    return ledger;
  }

  remove(name: string): void {
    const place = this.#places.get(name);
    if (place === undefined) return;
    this.#places.delete(name);
    const last = this.#order.pop() as Place;
    if (last !== place) {
      this.#order[place.index] = last;
      last.index = place.index;
    }
  }

  /** The ledger of lowest pressure among a few, anywhere. There must be one. */
  weakest(now: number): Candidate {
    let weakest = this.#any();
    let lowest = this.#pressure(weakest, now);
    for (let i = 1; i < sampleSize && lowest > 0; i++) {
      const place = this.#any();
      const pressure = this.#pressure(place, now);
      if (pressure < lowest) {
        lowest = pressure;
        weakest = place;
      }
    }
    return { pressure: lowest, drop: () => this.remove(weakest.name) };
  }

  #dropIfIdle(now: number): void {
    if (this.count === 0) return;
    const place = this.#any();
    if (this.#pressure(place, now) === 0) this.remove(place.name);
  }

  #any(): Place {
    return this.#order[(Math.random() * this.#order.length) | 0] as Place;
  }

  #pressure({ ledger, limit }: Place, now: number): number {
    ledger.look(limit.args, this.#facts, now, 1, undefined);
    return limit.pressure(this.#facts, 0, now);
  }
}

interface Place {
  readonly name: string;
  readonly ledger: Ledger;
  readonly limit: Limit;
  index: number;
}

const sampleSize = 4;

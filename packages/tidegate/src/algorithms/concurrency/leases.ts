import { type Charge, costOf } from "../../check.js";
import type { Ledger } from "../../limit.js";

interface Lease {
  /** "" for a lease nobody named. */
  readonly id: string;
  end: number;
  slots: number;
}

/** Leases in the order of their end. Those that ended are dropped by the next charge, as on Redis. */
export class Leases implements Ledger {
  #byEnd: Lease[] = [];
  #slots = 0;
  /** Absent while there are so few that looking through them is as fast. */
  #byId: Map<string, Lease> | undefined = undefined;

  look(
    [limit]: readonly number[],
    facts: Float64Array,
    now: number,
    cost: number,
    id: string | undefined,
  ): void {
    const isKnown = this.#running(id, now) !== undefined;
    const used = this.#used(now);
    facts[0] = used;
    facts[1] = used === 0 ? 0 : (this.#byEnd[this.#byEnd.length - 1] as Lease).end;
    facts[2] = isKnown ? 0 : this.#passesAt(used + cost - (limit as number), now, cost > (limit as number));
    facts[3] = isKnown ? 1 : 0;
  }

  charge([, leaseForMs]: readonly number[], now: number, cost: number, id: string | undefined): void {
    const running = this.#running(id, now);
    this.#dropEnded(now);
    const end = now + (leaseForMs as number);
    if (running === undefined) {
      const lease = { id: id ?? "", end, slots: cost };
      this.#insert(lease);
      this.#slots += cost;
      this.#index(lease);
    } else if (end > running.end) {
      this.#byEnd.splice(this.#placeOf(running), 1);
      running.end = end;
      this.#insert(running);
    }
  }

  refund(_args: readonly number[], now: number, charge: Charge): void {
    if (charge.id !== undefined) {
      const lease = this.#find(charge.id);
      if (lease !== undefined) this.#remove(this.#placeOf(lease));
      return;
    }
    for (let left = Math.floor(costOf(charge)); left > 0; ) {
      const last = this.#byEnd[this.#byEnd.length - 1];
      if (last === undefined || last.end <= now) return;
      const released = Math.min(left, last.slots);
      left -= released;
      last.slots -= released;
      this.#slots -= released;
      if (last.slots === 0) this.#remove(this.#byEnd.length - 1);
    }
  }

  #running(id: string | undefined, now: number): Lease | undefined {
    const lease = id === undefined ? undefined : this.#find(id);
    return lease !== undefined && lease.end > now ? lease : undefined;
  }

  #find(id: string): Lease | undefined {
    return this.#byId === undefined ? this.#byEnd.find((lease) => lease.id === id) : this.#byId.get(id);
  }

  #index(lease: Lease): void {
    if (this.#byId !== undefined) this.#byId.set(lease.id, lease);
    else if (this.#byEnd.length > few) this.#byId = new Map(this.#byEnd.map((each) => [each.id, each]));
  }

  /** When so many slots more than there are have come free; 0 if none is missing. */
  #passesAt(missing: number, now: number, isTooMuch: boolean): number {
    if (isTooMuch) return Number.POSITIVE_INFINITY;
    let left = missing;
    for (const { end, slots } of this.#byEnd) {
      if (left <= 0) break;
      if (end <= now) continue;
      left -= slots;
      if (left <= 0) return end;
    }
    return 0;
  }

  /** Those that ended are few, and come first. */
  #used(now: number): number {
    let used = this.#slots;
    for (let i = 0; i < this.#byEnd.length && (this.#byEnd[i] as Lease).end <= now; i++)
      used -= (this.#byEnd[i] as Lease).slots;
    return used;
  }

  #insert(lease: Lease): void {
    this.#byEnd.splice(this.#placeOf(lease), 0, lease);
  }

  #placeOf(lease: Lease): number {
    let low = 0;
    let high = this.#byEnd.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(this.#byEnd[middle] as Lease, lease)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #remove(at: number): void {
    const [lease] = this.#byEnd.splice(at, 1) as [Lease];
    this.#slots -= lease.slots;
    this.#byId?.delete(lease.id);
  }

  #dropEnded(now: number): void {
    let ended = 0;
    while (ended < this.#byEnd.length && (this.#byEnd[ended] as Lease).end <= now) ended++;
    if (ended === 0) return;
    if (ended === this.#byEnd.length) this.#byId = undefined;
    for (const { id, slots } of this.#byEnd.splice(0, ended)) {
      this.#slots -= slots;
      this.#byId?.delete(id);
    }
  }
}

const few = 16;

function isBefore(a: Lease, b: Lease): boolean {
  return a.end < b.end || (a.end === b.end && a.id < b.id);
}

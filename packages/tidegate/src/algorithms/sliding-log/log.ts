import { type Charge, costOf } from "../../check.js";
import { exceeds, type Ledger } from "../../limit.js";

/**
 * Entries in the order of their time, each with the sum of all before it, so that the sum of any stretch is one
 * subtraction. Times, sums and costs lie in typed arrays between `#start` and `#end`; while every cost is 1 there are
 * only times, 8 bytes an entry. Entries whose time is over are dropped by the next charge, as on Redis.
 */
export class Log implements Ledger {
  #times: Float64Array = none;
  /** Absent while every cost is 1. */
  #costs: Float64Array | undefined = undefined;
  #befores: Float64Array | undefined = undefined;
  /** Absent until the first id. Both hold the same ids. */
  #ids: (string | undefined)[] | undefined = undefined;
  #timeOf: Map<string, number> | undefined = undefined;
  #start = 0;
  #end = 0;
  /** The sum before the first entry, while there are only times. */
  #base = 0;
  readonly #wholeOnly: boolean;

  /** `wholeOnly`: entries are given back whole, as a list of times must. */
  constructor({ wholeOnly = false }: { wholeOnly?: boolean } = {}) {
    this.#wholeOnly = wholeOnly;
  }

  look(
    [limit, windowMs]: readonly number[],
    facts: Float64Array,
    now: number,
    cost: number,
    id: string | undefined,
  ): void {
    const first = this.#firstIn(windowMs as number, now);
    const isEmpty = first === this.#end;
    const used = isEmpty ? 0 : this.#total() - this.#before(first);
    const isKnown = !isEmpty && id !== undefined && this.#isIn(id, windowMs as number, now);
    facts[0] = used;
    facts[1] = isEmpty ? 0 : this.#newest() + (windowMs as number);
    facts[2] =
      !isKnown && exceeds(used + cost, limit as number)
        ? this.#passesAt(first, limit as number, windowMs as number, cost)
        : 0;
    facts[3] = isKnown ? 1 : 0;
  }

  charge([limit, windowMs]: readonly number[], now: number, cost: number, id: string | undefined): void {
    const first = this.#firstIn(windowMs as number, now);
    if (first === this.#end) this.#clear();
    else if (id !== undefined && this.#isIn(id, windowMs as number, now)) return;
    else this.#dropBefore(first);
    const time = this.#count() === 0 ? now : Math.max(now, this.#newest());
    if (isTooLong(this.#total() + cost, limit as number)) this.#sumFrom(this.#start, 0);
    this.#append(time, cost, id);
  }

  refund([, windowMs]: readonly number[], now: number, charge: Charge): void {
    const first = this.#firstIn(windowMs as number, now);
    if (first === this.#end) return;
    if (charge.id !== undefined) {
      if (this.#isIn(charge.id, windowMs as number, now)) this.#removeId(charge.id);
    } else {
      const at = now < this.#newest() ? this.#newest() : (charge.at ?? now);
      const cost = costOf(charge);
      this.#giveBack(first, this.#firstAfter(at) - 1, this.#wholeOnly ? Math.floor(cost) : cost);
    }
    if (this.#count() === 0) this.#clear();
    else this.#fit();
  }

  /** Of the entries not later than `last`, the newest first. What was charged with an id is given back by its id only. */
  #giveBack(first: number, last: number, cost: number): void {
    let left = cost;
    let lowest = -1;
    let before = 0;
    for (let i = last; i >= first && left > cost * hair; i--) {
      if (this.#ids?.[i] !== undefined) continue;
      lowest = i;
      before = this.#before(i);
      const own = this.#cost(i);
      if (own * (1 - hair) <= left) this.#remove(i);
      else this.#weigh()[i] = own - left;
      left -= own;
    }
    if (lowest >= 0) this.#sumFrom(lowest, before);
  }

  /** When a call of this cost passes if nothing else is sent: with the end of the first entry that leaves room for it. */
  #passesAt(first: number, limit: number, windowMs: number, cost: number): number {
    if (exceeds(cost, limit)) return Number.POSITIVE_INFINITY;
    const total = this.#total();
    let low = first;
    let high = this.#end - 1;
    // Mostly it is one of the oldest: in growing steps from there, then closing in.
    for (let step = 1; low < high; ) {
      const at = step > 0 ? Math.min(low + step - 1, high - 1) : (low + high) >> 1;
      const isStillOver = exceeds(total - (this.#before(at) + this.#cost(at)) + cost, limit);
      if (isStillOver) low = at + 1;
      else high = at;
      step = isStillOver ? step * 2 : 0;
    }
    return (this.#times[low] as number) + windowMs;
  }

  #count(): number {
    return this.#end - this.#start;
  }

  #newest(): number {
    return this.#times[this.#end - 1] as number;
  }

  #cost(i: number): number {
    return this.#costs === undefined ? 1 : (this.#costs[i] as number);
  }

  #before(i: number): number {
    return this.#befores === undefined ? this.#base + (i - this.#start) : (this.#befores[i] as number);
  }

  #total(): number {
    return this.#count() === 0 ? 0 : this.#before(this.#end - 1) + this.#cost(this.#end - 1);
  }

  /** The first entry still in the window, which never runs backwards; `#end` if there is none. */
  #firstIn(windowMs: number, now: number): number {
    if (this.#count() === 0) return this.#end;
    const edge = Math.max(now, this.#newest()) - windowMs;
    return (this.#times[this.#start] as number) > edge ? this.#start : this.#firstAfter(edge);
  }

  #firstAfter(time: number): number {
    let low = this.#start;
    let high = this.#end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#times[middle] as number) > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #isIn(id: string, windowMs: number, now: number): boolean {
    const time = this.#timeOf?.get(id);
    return time !== undefined && time > Math.max(now, this.#newest()) - windowMs;
  }

  #removeId(id: string): void {
    const ids = this.#ids as (string | undefined)[];
    let i = this.#firstAfter(this.#timeOf?.get(id) as number) - 1;
    while (ids[i] !== id) i--;
    const before = this.#before(i);
    this.#remove(i);
    this.#sumFrom(i, before);
  }

  /** Sums anew from this entry on. */
  #sumFrom(from: number, before: number): void {
    if (this.#befores === undefined) {
      if (from === this.#start) this.#base = before;
      return;
    }
    let sum = before;
    for (let i = from; i < this.#end; i++) {
      this.#befores[i] = sum;
      sum += this.#cost(i);
    }
  }

  #append(time: number, cost: number, id: string | undefined): void {
    const before = this.#total();
    if (this.#end === this.#times.length)
      this.#make(this.#count() * 2 <= this.#end ? this.#end : this.#end * 2);
    if (cost !== 1) this.#weigh();
    const at = this.#end++;
    this.#times[at] = time;
    if (this.#befores !== undefined && this.#costs !== undefined) {
      this.#befores[at] = before;
      this.#costs[at] = cost;
    }
    if (id === undefined) return;
    this.#ids ??= new Array(this.#times.length).fill(undefined);
    this.#timeOf ??= new Map();
    this.#ids[at] = id;
    this.#timeOf.set(id, time);
  }

  /** From now on entries have costs of their own. */
  #weigh(): Float64Array {
    if (this.#costs === undefined) {
      this.#befores = Float64Array.from(this.#times, (_, i) => this.#base + (i - this.#start));
      this.#costs = new Float64Array(this.#times.length).fill(1);
    }
    return this.#costs;
  }

  /** The sums of those behind it are the caller's to put right. */
  #remove(i: number): void {
    const id = this.#ids?.[i];
    if (id !== undefined) this.#timeOf?.delete(id);
    for (const column of this.#columns()) column.copyWithin(i, i + 1, this.#end);
    this.#end--;
    if (this.#ids !== undefined) this.#ids[this.#end] = undefined;
  }

  #dropBefore(first: number): void {
    if (first === this.#start) return;
    this.#base += first - this.#start;
    for (let i = this.#start; i < first && this.#ids !== undefined; i++) {
      const id = this.#ids[i];
      if (id !== undefined) this.#timeOf?.delete(id);
      this.#ids[i] = undefined;
    }
    this.#start = first;
    if (this.#timeOf?.size === 0) this.#ids = this.#timeOf = undefined;
    this.#fit();
  }

  #clear(): void {
    this.#times = none;
    this.#costs = this.#befores = this.#ids = this.#timeOf = undefined;
    this.#start = this.#end = this.#base = 0;
  }

  /** Gives back what a shorter log does not need. */
  #fit(): void {
    const room = this.#times.length;
    if (room > smallest && this.#count() * 4 < room) this.#make(room / 2);
  }

  /** Makes room for so many, the first at 0. */
  #make(room: number): void {
    const length = Math.max(smallest, room);
    const resized = (column: Float64Array): Float64Array => {
      const to = new Float64Array(length);
      to.set(column.subarray(this.#start, this.#end));
      return to;
    };
    this.#times = resized(this.#times);
    if (this.#costs !== undefined) this.#costs = resized(this.#costs);
    if (this.#befores !== undefined) this.#befores = resized(this.#befores);
    if (this.#ids !== undefined) {
      const ids = this.#ids.slice(this.#start, this.#end);
      while (ids.length < length) ids.push(undefined);
      this.#ids = ids;
    }
    this.#end -= this.#start;
    this.#start = 0;
  }

  #columns(): { copyWithin(target: number, start: number, end: number): unknown }[] {
    return [this.#times, this.#costs, this.#befores, this.#ids].filter((column) => column !== undefined);
  }
}

const none = new Float64Array(0);
const smallest = 4;
/** So small a share of a cost is rounding. */
const hair = 1e-9;

/**
 * Whether sums that grew so far must begin again at 0: beyond 2^53 they are not exact, and beyond a thousand limits
 * fractions lose too many digits. The Lua twin has the same line.
 */
function isTooLong(sum: number, limit: number): boolean {
  return sum > Number.MAX_SAFE_INTEGER || (sum > limit * 1000 && Math.floor(sum) !== sum);
}

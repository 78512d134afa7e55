import {
  type Charge,
  type Check,
  costOf,
  isCost,
  isOffence,
  levelName,
  markCrossed,
  validateChecks,
  validateCost,
  validateKey,
  verdictOf,
} from "../../check.js";
import { type Clock, checkedClock, systemClock } from "../../clock.js";
import type { Verdict } from "../../decision.js";
import type { Docket } from "../../docket.js";
import { ConfigError, shown } from "../../errors.js";
import { KeyHash } from "../../key-hash.js";
import { type Limit, maxCells, Reading, Ruling, rejectUnknownOptions } from "../../limit.js";
import { declareOwn, type Store, type Terms } from "../../store.js";
import { type Binding, Bindings } from "./bindings.js";
import { KeyInHand } from "./key-in-hand.js";
import { Shelf } from "./shelf.js";
import type { Candidate } from "./table.js";
import { UsualChecks } from "./usual-checks.js";

export interface MemoryStoreOptions {
  /** The most states kept, one per rule, key and limit. Default 1,000,000. When full, what matters least is dropped. */
  maxKeys?: number;
  clock?: Clock;
}

/** Counts in this process. Answers at once, never fails, and stays within `maxKeys`. */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return new MemoryStore(options);
}

const absent = new Float64Array(maxCells);
// Of the check in hand: nothing else runs between writing and reading them.
const ruling = new Ruling();
const reading = new Reading();

class MemoryStore implements Store {
  /** The one it was handed. */
  readonly clock?: Clock;
  readonly #clock: Clock;
  readonly #maxKeys: number;
  readonly #hand = new KeyInHand();
  readonly #bindings = new Bindings();
  readonly #usual = new UsualChecks(this.#bindings, this.#hand);
  readonly #shelf = new Shelf();
  /** No hold lasts longer than this: until the first one nobody looks for holds. */
  #lastHoldEnds = Number.NEGATIVE_INFINITY;
  /** One for each check of a decision, used again by the next. */
  readonly #places: Place[] = [new Place()];
  readonly #holdPlace = new Place();

  constructor(options: MemoryStoreOptions) {
    rejectUnknownOptions(options, ["maxKeys", "clock"], "memoryStore");
    const maxKeys = options.maxKeys ?? 1_000_000;
    if (!Number.isInteger(maxKeys) || maxKeys < 1) {
      throw new ConfigError(
        "TG_MAX_KEYS",
        "memoryStore.maxKeys",
        `${shown(maxKeys)} is not a number of keys.`,
        "Write a whole number from 1.",
      );
    }
    this.#maxKeys = maxKeys;
    if (options.clock !== undefined) this.clock = checkedClock(options.clock, "memoryStore.clock");
    this.#clock = this.clock ?? systemClock;
    declareOwn(this, { isSure: true });
  }

  /** States kept now, one per rule, key and limit. */
  get size(): number {
    let size = this.#shelf.count;
    for (const table of this.#bindings.tables) size += table.count;
    return size;
  }

  decide(checks: readonly Check[], terms?: Terms): Verdict[] {
    const at = terms?.at;
    const areSound = terms?.areSound === true;
    if (checks.length === 1) return [this.decideOne(checks[0] as Check, at, areSound)];
    const now = at === undefined ? this.#clock() : at;
    const usual = now < this.#lastHoldEnds ? undefined : this.#usual.decide(checks, now, areSound);
    return usual ?? this.#decideTogether(checks, now);
  }

  decideDocket(docket: Docket, now: number): Verdict[] | undefined {
    return now < this.#lastHoldEnds ? undefined : this.#usual.decideDocket(docket, now);
  }

  decideOne(check: Check, at?: number, isSound = false): Verdict {
    const { limit } = check;
    if (limit.cells > 0 && limit.countsOffences !== true) return this.#decideAlone(check, at, isSound);
    return this.#decideTogether([check], at ?? this.#clock())[0] as Verdict;
  }

  peek(checks: readonly Check[]): Verdict[] {
    const now = this.#clock();
    this.#judge(checks, now);
    return checks.map((check, i) => {
      const { ruling, heldUntil, cells, offset } = this.#places[i] as Place;
      check.limit.read(cells, offset, now, costOf(check), reading);
      return verdictOf(check, check.key, ruling, reading, ruling.allowed, now, heldUntil);
    });
  }

  refund(charges: readonly Charge[]): void {
    const now = this.#clock();
    for (const charge of charges) {
      validateKey(charge.key);
      validateCost(costOf(charge));
      const { rule, key, limit } = charge;
      if (limit.ledger !== undefined) {
        this.#shelf.find(ledgerName(rule, limit.id, key))?.refund(limit.args, now, charge);
        continue;
      }
      this.#hand.take(key);
      const place = this.#places[0] as Place;
      if (this.#find(this.#bindings.of(rule, limit), place))
        limit.refund(place.cells, place.offset, now, charge);
    }
  }

  hold(rule: string, key: string, forMs: number): void {
    validateKey(key);
    const now = this.#clock();
    this.#holdUntil(rule, key, now + forMs, now);
  }

  #holdUntil(rule: string, key: string, until: number, now: number): void {
    this.#hand.take(key);
    const place = this.#holdPlace;
    if (!this.#find(this.#bindings.of(rule, holds), place)) this.#insert(place, now);
    place.cells[place.offset] = until;
    this.#lastHoldEnds = Math.max(this.#lastHoldEnds, until);
  }

  forget(checks: readonly Check[]): void {
    for (const { rule, key } of checks) {
      validateKey(key);
      this.#hand.take(key);
      // Limits no longer in force and the hold lie under the same rule.
      for (const binding of this.#bindings.ofRule(rule)) {
        const { limit, table } = binding;
        if (limit.ledger !== undefined) this.#shelf.remove(ledgerName(rule, limit.id, key));
        else table.remove(binding.lowFor(this.#hand.low), binding.highFor(this.#hand.high));
      }
    }
  }

  /**
   * One check against a state of constant size while nobody is held: most decisions. It says what `#judge` and `#write`
   * say, with all it needs in local variables, in two thirds of the time. The clock is read once the record is asked
   * for, which comes from memory meanwhile.
   */
  #decideAlone(check: Check, at: number | undefined, isSound: boolean): Verdict {
    const { rule, key, limit, cost = 1, hashed } = check;
    if (typeof key !== "string" || key === "") validateKey(key);
    if (!isCost(cost)) validateCost(cost);
    const place = this.#places[0] as Place;
    let { binding } = place;
    if (binding === undefined || binding.limit !== limit || binding.rule !== rule)
      place.binding = binding = this.#bindings.of(rule, limit);
    this.#hand.take(key, hashed, isSound);
    const low = binding.lowFor(this.#hand.low);
    const high = binding.highFor(this.#hand.high);
    const segment = binding.table.segmentOf(high);
    const offset = segment.find(low, high);
    const now = at === undefined ? this.#clock() : at;
    if (now < this.#lastHoldEnds) return this.#decideTogether([check], now)[0] as Verdict;
    ruling.delayMs = Number.NaN;
    ruling.estimate = Number.NaN;
    limit.step(offset < 0 ? absent : segment.cells, Math.max(0, offset), now, cost, ruling);
    const { allowed } = ruling;
    const after = allowed ? ruling.ifAllowed : ruling.ifRefused;
    if (allowed || limit.refusedWeight > 0) {
      if (offset >= 0) write(segment.cells, offset, after, limit.cells);
      else {
        place.low = low;
        place.high = high;
        this.#insert(place, now);
        write(place.cells, place.offset, after, limit.cells);
      }
    }
    limit.read(after, 0, now, cost, reading);
    if (check.name === undefined) binding.name ??= levelName(rule, limit);
    return verdictOf(check, check.key, ruling, reading, allowed, now, 0, check.name ?? binding.name);
  }

  #decideTogether(checks: readonly Check[], now: number): Verdict[] {
    const passes = this.#judge(checks, now);
    const verdicts: Verdict[] = [];
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i] as Check;
      const { limit } = check;
      if (limit.countsOffences === true) {
        verdicts.push(this.#countOffence(checks, i, now));
        continue;
      }
      const place = this.#places[i] as Place;
      const { ruling, heldUntil } = place;
      const isCharged = passes && ruling.allowed;
      const after = isCharged ? ruling.ifAllowed : ruling.ifRefused;
      if (limit.ledger !== undefined) {
        if (isCharged) this.#charge(check, now);
      } else if (isCharged || limit.refusedWeight > 0) this.#write(place, after, now);
      limit.read(after, 0, now, costOf(check), reading);
      verdicts.push(verdictOf(check, check.key, ruling, reading, ruling.allowed, now, heldUntil));
    }
    return verdicts;
  }

  #countOffence(checks: readonly Check[], at: number, now: number): Verdict {
    const check = checks[at] as Check;
    const place = this.#places[at] as Place;
    const { ruling, heldUntil } = place;
    const offends = isOffence(checks, at, heldUntil, now, (i) => (this.#places[i] as Place).ruling.allowed);
    const after = offends ? ruling.ifRefused : ruling.ifAllowed;
    check.limit.read(after, 0, now, costOf(check), reading);
    const verdict = verdictOf(check, check.key, ruling, reading, ruling.allowed, now, heldUntil);
    if (offends) this.#write(place, after, now);
    if (offends && ruling.holdUntil > 0) {
      this.#holdUntil(check.rule, check.key, ruling.holdUntil, now);
      markCrossed(verdict, ruling.holdUntil);
    }
    return verdict;
  }

  /** Judges every check into its place. Answers whether all that enforce allow. Changes nothing. */
  #judge(checks: readonly Check[], now: number): boolean {
    validateChecks(checks);
    let passes = true;
    let taken: string | undefined;
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i] as Check;
      const { rule, key, limit, cost = 1 } = check;
      if (key !== taken) this.#hand.take(key, check.hashed);
      taken = key;
      if (i === this.#places.length) this.#places.push(new Place());
      const place = this.#places[i] as Place;
      const { ruling } = place;
      let { binding } = place;
      if (binding === undefined || binding.limit !== limit || binding.rule !== rule)
        binding = this.#bindings.of(rule, limit);
      if (limit.ledger !== undefined) this.#findLedger(binding, place, check, now);
      else this.#find(binding, place);
      ruling.delayMs = Number.NaN;
      ruling.estimate = Number.NaN;
      limit.step(place.cells, place.offset, now, cost, ruling);
      place.heldUntil = now < this.#lastHoldEnds ? this.#heldUntil(rule) : 0;
      if (place.heldUntil > now) ruling.allowed = false;
      if (!ruling.allowed && check.shadow !== true) passes = false;
    }
    return passes;
  }

  /** Points the place at the state of the key in hand. Answers whether there is one. */
  #find(binding: Binding, place: Place): boolean {
    const { table } = binding;
    place.binding = binding;
    place.low = binding.lowFor(this.#hand.low);
    place.high = binding.highFor(this.#hand.high);
    const segment = table.segmentOf(place.high);
    const offset = segment.find(place.low, place.high);
    const isThere = offset >= 0;
    place.cells = isThere ? segment.cells : absent;
    place.offset = isThere ? offset : 0;
    place.version = isThere ? table.version : -1;
    return isThere;
  }

  #findLedger(binding: Binding, place: Place, check: Check, now: number): void {
    const { ledger: factory, id, args } = check.limit as Limit & Required<Pick<Limit, "ledger">>;
    const ledger = this.#shelf.find(ledgerName(check.rule, id, check.key)) ?? factory.open();
    ledger.look(args, place.facts, now, costOf(check), check.id);
    place.binding = binding;
    place.cells = place.facts;
    place.offset = 0;
  }

  /** Of the key in hand. */
  #heldUntil(rule: string): number {
    const place = this.#holdPlace;
    return this.#find(this.#bindings.of(rule, holds), place) ? (place.cells[place.offset] as number) : 0;
  }

  #write(place: Place, after: Float64Array, now: number): void {
    const { table, limit } = place.binding as Binding;
    // What was added for an earlier check may have moved this record, or dropped it.
    if (place.version !== table.version) {
      const segment = table.segmentOf(place.high);
      place.offset = segment.find(place.low, place.high);
      place.cells = segment.cells;
      if (place.offset < 0) this.#insert(place, now);
    }
    write(place.cells, place.offset, after, limit.cells);
  }

  #charge(check: Check, now: number): void {
    const { limit } = check;
    const name = ledgerName(check.rule, limit.id, check.key);
    let ledger = this.#shelf.find(name);
    if (ledger === undefined) {
      this.#makeRoom(now);
      ledger = this.#shelf.open(name, limit, now);
    }
    ledger.charge(limit.args, now, costOf(check), check.id);
  }

  /** Makes the record the place looked for. */
  #insert(place: Place, now: number): void {
    const { table, owner } = place.binding as Binding;
    this.#makeRoom(now);
    place.offset = table.insert(place.low, place.high, owner, now);
    place.cells = table.segmentOf(place.high).cells;
  }

  /** Drops the weakest of a few samples, taken anywhere: a kind of limit with few keys is not the poorer for it. */
  #makeRoom(now: number): void {
    const { size } = this;
    if (size < this.#maxKeys) return;
    let weakest = this.#anyCandidate(size, now);
    for (let i = 1; i < samples && weakest.pressure > 0; i++) {
      const other = this.#anyCandidate(size, now);
      if (other.pressure < weakest.pressure) weakest = other;
    }
    weakest.drop();
  }

  #anyCandidate(size: number, now: number): Candidate {
    let at = Math.random() * size;
    for (const table of this.#bindings.tables) {
      if (at < table.count) return table.weakest(now);
      at -= table.count;
    }
    return this.#shelf.weakest(now);
  }
}

export type { MemoryStore };

/** What is found out about one check before the decision is known. */
class Place {
  readonly ruling = new Ruling();
  /** What a ledger says of itself. */
  readonly facts = new Float64Array(maxCells);
  binding: Binding | undefined = undefined;
  low = 0;
  high = 0;
  /** The state lies in `cells` from `offset` while the table's version is this one. */
  cells: Float64Array = absent;
  offset = 0;
  version = -1;
  heldUntil = 0;
}

function write(cells: Float64Array, offset: number, after: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) cells[offset + i] = after[i] as number;
}

function ledgerName(rule: string, id: string, key: string): string {
  return `${rule}\n${id}\n${key.length <= longestKey ? key : digestOf(key)}`;
}

/** Longer keys are named by their seeded hash: they would cost their length each, and V8 hashes very long strings by length alone. */
const longestKey = 256;
const longKeys = new KeyHash();

function digestOf(key: string): string {
  longKeys.of(key);
  return `\0${longKeys.low.toString(36)}.${longKeys.high.toString(36)}.${key.length}`;
}

/** A hold lies in a table as counts do: one cell, the time it ends. It is dropped last. */
const holds: Limit = Object.freeze({
  kind: "hold",
  id: "hold",
  cells: 1,
  args: [],
  limit: 0,
  windowMs: 0,
  refusedWeight: 0,
  step() {},
  read() {},
  refund() {},
  pressure: (cells: Float64Array, at: number, now: number) =>
    (cells[at] as number) > now ? Number.MAX_VALUE : 0,
});

const samples = 4;

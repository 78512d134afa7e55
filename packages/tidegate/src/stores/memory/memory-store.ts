import {
  type Charge,
  type Check,
  costOf,
  validateChecks,
  validateCost,
  validateKey,
  verdictOf,
} from "../../check.js";
import { type Clock, systemClock } from "../../clock.js";
import type { Verdict } from "../../decision.js";
import { ConfigError, shown } from "../../errors.js";
import { type Limit, maxCells, Reading, Ruling, rejectUnknownOptions } from "../../limit.js";
import type { Store } from "../../store.js";
import { KeyHash } from "./key-hash.js";
import { Shelf } from "./shelf.js";
import { type Candidate, Table } from "./table.js";

export interface MemoryStoreOptions {
  /** The most states kept, one per rule, key and limit. Default 1,000,000. When full, what matters least is dropped. */
  maxKeys?: number;
  clock?: Clock;
}

/** Counts in this process. Answers at once, never fails, and stays within `maxKeys`. */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return new MemoryStore(options);
}

/** A rule's limit, as this store knows it: which table, which salt. Two limits of one id under one rule share it. */
interface Binding {
  readonly rule: string;
  limit: Limit;
  readonly table: Table;
  readonly owner: number;
  readonly low: number;
  readonly high: number;
}

const absent = new Float64Array(maxCells);
const reading = new Reading();

class MemoryStore implements Store {
  readonly #clock: Clock;
  readonly #maxKeys: number;
  readonly #hash = new KeyHash();
  readonly #tables: Table[] = [];
  readonly #shelf = new Shelf();
  readonly #bindings = new Map<string, Map<string, Binding>>();
  /** No hold lasts longer than this: until the first one nobody looks for holds. */
  #lastHoldEnds = Number.NEGATIVE_INFINITY;
  // One place per check of a decision, reused by the next.
  readonly #places: Place[] = [new Place()];
  readonly #held = new Place();

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
    this.#clock = options.clock ?? systemClock;
  }

  /** States kept now, one per rule, key and limit. */
  get size(): number {
    let size = this.#shelf.count;
    for (const table of this.#tables) size += table.count;
    return size;
  }

  decide(checks: readonly Check[]): Verdict[] {
    const now = this.#clock();
    const passes = this.#judge(checks, now);
    const verdicts = new Array<Verdict>(checks.length);
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i] as Check;
      const { limit } = check;
      const place = this.#places[i] as Place;
      const { ruling } = place;
      const charged = passes && ruling.allowed;
      const after = charged ? ruling.ifAllowed : ruling.ifRefused;
      if (limit.cells > 0) {
        if (charged || limit.refusedWeight > 0) this.#write(check, place, after, now);
      } else if (charged) this.#charge(check, now);
      limit.read(after, 0, now, check.cost === undefined ? 1 : check.cost, reading);
      verdicts[i] = verdictOf(check, ruling, reading, ruling.allowed, now, place.heldUntil);
    }
    return verdicts;
  }

  peek(checks: readonly Check[]): Verdict[] {
    const now = this.#clock();
    this.#judge(checks, now);
    return checks.map((check, i) => {
      const { ruling, heldUntil, cells, offset } = this.#places[i] as Place;
      check.limit.read(cells, offset, now, costOf(check), reading);
      return verdictOf(check, ruling, reading, ruling.allowed, now, heldUntil);
    });
  }

  refund(charges: readonly Charge[]): void {
    const now = this.#clock();
    for (const charge of charges) {
      validateKey(charge.key);
      validateCost(costOf(charge));
      const { limit } = charge;
      if (limit.ledger !== undefined) {
        this.#shelf.find(ledgerName(charge.rule, limit.id, charge.key))?.refund(limit.args, now, charge);
        continue;
      }
      this.#hash.of(charge.key);
      const place = this.#places[0] as Place;
      if (this.#find(this.#bind(charge.rule, limit), place))
        limit.refund(place.cells, place.offset, now, charge);
    }
  }

  hold(rule: string, key: string, forMs: number): void {
    validateKey(key);
    const now = this.#clock();
    const until = now + forMs;
    this.#hash.of(key);
    const place = this.#places[0] as Place;
    if (!this.#find(this.#bind(rule, holds), place)) this.#insert(place, now);
    place.cells[place.offset] = until;
    this.#lastHoldEnds = Math.max(this.#lastHoldEnds, until);
  }

  forget(checks: readonly Check[]): void {
    for (const { rule, key } of checks) {
      validateKey(key);
      this.#hash.of(key);
      // Limits no longer in force and the hold lie under the same rule.
      for (const { limit, table, low, high } of this.#bindings.get(rule)?.values() ?? []) {
        if (limit.ledger !== undefined) this.#shelf.remove(ledgerName(rule, limit.id, key));
        else table.remove(this.#hash.low ^ low || 1, this.#hash.high ^ high);
      }
    }
  }

  /** Judges every check into its place. Answers whether all that enforce allow. Changes nothing. */
  #judge(checks: readonly Check[], now: number): boolean {
    if (checks.length > 1) validateChecks(checks);
    let passes = true;
    let hashed: string | undefined;
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i] as Check;
      const { limit, key, cost = 1 } = check;
      if (typeof key !== "string" || key === "") validateKey(key);
      if (typeof cost !== "number" || !(cost > 0 && cost <= Number.MAX_SAFE_INTEGER)) validateCost(cost);
      if (key !== hashed) this.#hash.of((hashed = key));
      const place = (this.#places[i] ??= new Place());
      let { binding } = place;
      if (binding === undefined || binding.limit !== limit || binding.rule !== check.rule)
        binding = this.#bind(check.rule, limit);
      if (limit.cells > 0) this.#find(binding, place);
      else this.#findLedger(binding, place, check, now, cost);
      const { ruling } = place;
      ruling.delayMs = Number.NaN;
      ruling.estimate = Number.NaN;
      limit.step(place.cells, place.offset, now, cost, ruling);
      place.heldUntil = now < this.#lastHoldEnds ? this.#heldUntil(check.rule) : 0;
      if (place.heldUntil > now) ruling.allowed = false;
      if (!ruling.allowed && check.shadow !== true) passes = false;
    }
    return passes;
  }

  /** Points the place at the state of the key hashed last, or at none. */
  #find(binding: Binding, place: Place): boolean {
    const { table } = binding;
    const low = this.#hash.low ^ binding.low || 1;
    const high = this.#hash.high ^ binding.high;
    const segment = table.segmentOf(high);
    const offset = segment.find(low, high);
    place.binding = binding;
    place.low = low;
    place.high = high;
    place.cells = offset < 0 ? absent : segment.cells;
    place.offset = offset < 0 ? 0 : offset;
    place.version = offset < 0 ? -1 : table.version;
    return offset >= 0;
  }

  #findLedger(binding: Binding, place: Place, check: Check, now: number, cost: number): void {
    const { ledger: factory, id, args } = check.limit as Limit & Required<Pick<Limit, "ledger">>;
    factory.validate?.(cost, check.id);
    const ledger = this.#shelf.find(ledgerName(check.rule, id, check.key)) ?? factory.open();
    ledger.look(args, place.facts, now, cost, check.id);
    place.binding = binding;
    place.cells = place.facts;
    place.offset = 0;
  }

  /** Of the key hashed last. */
  #heldUntil(rule: string): number {
    const place = this.#held;
    return this.#find(this.#bind(rule, holds), place) ? (place.cells[place.offset] as number) : 0;
  }

  #write(check: Check, place: Place, after: Float64Array, now: number): void {
    const { table } = place.binding as Binding;
    // What was inserted for an earlier check may have moved or dropped this one.
    if (place.version !== table.version) {
      const segment = table.segmentOf(place.high);
      const offset = segment.find(place.low, place.high);
      if (offset < 0) this.#insert(place, now);
      else {
        place.cells = segment.cells;
        place.offset = offset;
      }
    }
    const { cells, offset } = place;
    for (let i = 0; i < check.limit.cells; i++) cells[offset + i] = after[i] as number;
  }

  #charge(check: Check, now: number): void {
    const name = ledgerName(check.rule, check.limit.id, check.key);
    let ledger = this.#shelf.find(name);
    if (ledger === undefined) {
      this.#makeRoom(now);
      ledger = this.#shelf.open(name, check.limit, now);
    }
    ledger.charge(check.limit.args, now, costOf(check), check.id);
  }

  /** Makes the record the place looked for. */
  #insert(place: Place, now: number): void {
    const { table, owner } = place.binding as Binding;
    this.#makeRoom(now);
    place.offset = table.insert(place.low, place.high, owner, now);
    place.cells = table.segmentOf(place.high).cells;
  }

  /** Drops the weakest of a few samples, taken anywhere, so that a kind of limit with few keys does not lose them. */
  #makeRoom(now: number): void {
    const { size } = this;
    if (size < this.#maxKeys) return;
    let weakest: Candidate | undefined;
    for (let i = 0; i < samples && weakest?.pressure !== 0; i++) {
      const candidate = this.#anyCandidate(Math.random() * size, now);
      if (weakest === undefined || candidate.pressure < weakest.pressure) weakest = candidate;
    }
    weakest?.drop();
  }

  #anyCandidate(at: number, now: number): Candidate {
    let before = 0;
    for (const table of this.#tables) {
      before += table.count;
      if (at < before) return table.weakest(now);
    }
    return this.#shelf.weakest(now);
  }

  #bind(rule: string, limit: Limit): Binding {
    let ofRule = this.#bindings.get(rule);
    if (ofRule === undefined) {
      ofRule = new Map();
      this.#bindings.set(rule, ofRule);
    }
    let binding = ofRule.get(limit.id);
    if (binding === undefined) {
      binding = this.#makeBinding(rule, limit);
      ofRule.set(limit.id, binding);
    }
    binding.limit = limit;
    return binding;
  }

  #makeBinding(rule: string, limit: Limit): Binding {
    let table = this.#tables.find((table) => table.cellsPerRecord === limit.cells && table.hasRoomForOwner);
    if (table === undefined) {
      table = new Table(limit.cells);
      this.#tables.push(table);
    }
    const salt = crypto.getRandomValues(new Int32Array(2));
    const [low, high] = salt as unknown as [number, number];
    const binding = { rule, limit, table, owner: table.owners.length, low, high };
    table.owners.push(binding);
    return binding;
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
  /** The state, and where in it; of the table's version, -1 when there is no state yet. */
  cells: Float64Array = absent;
  offset = 0;
  version = -1;
  heldUntil = 0;
}

function ledgerName(rule: string, id: string, key: string): string {
  return `${rule}\n${id}\n${key}`;
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

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
import { type Ledger, type Limit, maxCells, Reading, Ruling, rejectUnknownOptions } from "../../limit.js";
import type { Store } from "../../store.js";
import { KeyHash } from "./key-hash.js";
import { Shelf } from "./shelf.js";
import { Table } from "./table.js";

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
  rule: string;
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
  readonly #salt = new KeyHash();
  readonly #tables: Table[] = [];
  readonly #shelf = new Shelf();
  readonly #bindings: Binding[] = [];
  readonly #bindingOf = new Map<string, Map<string, Binding>>();
  /** No hold lasts longer than this: until the first one nobody looks for holds. */
  #lastHoldEnds = Number.NEGATIVE_INFINITY;
  // One place per check of a decision, reused by the next.
  readonly #places: Place[] = [];

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
    for (const table of this.#tables) if (table !== undefined) size += table.count;
    return size;
  }

  decide(checks: readonly Check[]): Verdict[] {
    const now = this.#clock();
    const passes = this.#judge(checks, now);
    const verdicts = new Array<Verdict>(checks.length);
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i] as Check;
      const place = this.#places[i] as Place;
      const { ruling } = place;
      const charged = passes && ruling.allowed;
      const after = charged ? ruling.ifAllowed : ruling.ifRefused;
      if (charged || check.limit.refusedWeight > 0) this.#write(check, place, after, now, charged);
      check.limit.read(after, 0, now, costOf(check), reading);
      verdicts[i] = verdictOf(check, ruling, reading, ruling.allowed, now, place.heldUntil);
    }
    return verdicts;
  }

  peek(checks: readonly Check[]): Verdict[] {
    const now = this.#clock();
    this.#judge(checks, now);
    return checks.map((check, i) => {
      const { ruling, heldUntil, ledger, cells, offset, facts } = this.#places[i] as Place;
      if (ledger !== undefined) check.limit.read(facts, 0, now, costOf(check), reading);
      else check.limit.read(cells, offset, now, costOf(check), reading);
      return verdictOf(check, ruling, reading, ruling.allowed, now, heldUntil);
    });
  }

  refund(charges: readonly Charge[]): void {
    const now = this.#clock();
    for (const charge of charges) {
      validateKey(charge.key);
      validateCost(costOf(charge));
      if (charge.limit.ledger !== undefined) {
        this.#shelf.find(ledgerName(charge))?.refund(now, charge);
        continue;
      }
      const binding = this.#bind(charge.rule, charge.limit);
      this.#hash.of(charge.key);
      const offset = binding.table.find(
        (this.#hash.low ^ binding.low) >>> 0,
        (this.#hash.high ^ binding.high) >>> 0,
      );
      if (offset >= 0) charge.limit.refund(binding.table.cells, offset, now, charge);
    }
  }

  hold(rule: string, key: string, forMs: number): void {
    validateKey(key);
    const now = this.#clock();
    const until = now + forMs;
    const binding = this.#bind(rule, holds);
    this.#hash.of(key);
    const offset = this.#place(
      binding,
      (this.#hash.low ^ binding.low) >>> 0,
      (this.#hash.high ^ binding.high) >>> 0,
      now,
    );
    binding.table.cells[offset] = until;
    this.#lastHoldEnds = Math.max(this.#lastHoldEnds, until);
  }

  forget(checks: readonly Check[]): void {
    for (const check of checks) {
      validateKey(check.key);
      if (check.limit.ledger !== undefined) this.#shelf.remove(ledgerName(check));
      else this.#drop(check.key, this.#bind(check.rule, check.limit));
      this.#drop(check.key, this.#bind(check.rule, holds));
    }
  }

  /** Judges every check into its place. Answers whether all that enforce allow. Changes nothing. */
  #judge(checks: readonly Check[], now: number): boolean {
    if (checks.length > 1) validateChecks(checks);
    let passes = true;
    let hashed = "";
    for (let i = 0; i < checks.length; i++) {
      const check = checks[i] as Check;
      const place = (this.#places[i] ??= new Place());
      const { limit, key } = check;
      const cost = check.cost === undefined ? 1 : check.cost;
      if (key !== hashed) {
        if (typeof key !== "string") validateKey(key);
        this.#hash.of(key);
        hashed = key;
      }
      if (key === "") validateKey(key);
      if (typeof cost !== "number" || !(cost > 0 && cost <= Number.MAX_SAFE_INTEGER)) validateCost(cost);
      const { ruling } = place;
      if (limit.cells > 0) {
        let binding = place.binding;
        if (binding === undefined || binding.rule !== check.rule || binding.limit !== limit) {
          binding = place.binding = this.#bind(check.rule, limit);
        }
        place.low = (this.#hash.low ^ binding.low) >>> 0;
        place.high = (this.#hash.high ^ binding.high) >>> 0;
        const { table } = binding;
        const offset = table.find(place.low, place.high);
        place.offset = offset < 0 ? 0 : offset;
        place.cells = offset < 0 ? absent : table.cells;
        place.version = offset < 0 ? -1 : table.version;
        place.ledger = undefined;
        limit.step(place.cells, place.offset, now, cost, ruling);
      } else {
        this.#judgeLedger(check, place, now, cost);
      }
      place.heldUntil = now < this.#lastHoldEnds ? this.#heldUntil(check.rule) : 0;
      if (place.heldUntil > now) ruling.allowed = false;
      if (!ruling.allowed && check.shadow !== true) passes = false;
    }
    return passes;
  }

  #judgeLedger(check: Check, place: Place, now: number, cost: number): void {
    const { limit } = check;
    place.ledger =
      this.#shelf.find(ledgerName(check)) ?? (limit.ledger as NonNullable<Limit["ledger"]>).open();
    place.ledger.look(place.facts, now, cost, check.id);
    limit.step(place.facts, 0, now, cost, place.ruling);
  }

  /** Of the key hashed last. */
  #heldUntil(rule: string): number {
    const binding = this.#bind(rule, holds);
    const offset = binding.table.find(
      (this.#hash.low ^ binding.low) >>> 0,
      (this.#hash.high ^ binding.high) >>> 0,
    );
    return offset < 0 ? 0 : (binding.table.cells[offset] as number);
  }

  #write(check: Check, place: Place, after: Float64Array, now: number, charged: boolean): void {
    if (place.ledger !== undefined) {
      if (!charged) return;
      const name = ledgerName(check);
      const ledger =
        this.#shelf.find(name) ?? (this.#makeRoom(now), this.#shelf.open(name, check.limit, now));
      ledger.charge(now, costOf(check), check.id);
      return;
    }
    const binding = place.binding as Binding;
    let { cells, offset } = place;
    if (place.version !== binding.table.version) {
      offset = this.#place(binding, place.low, place.high, now);
      cells = binding.table.cells;
    }
    for (let i = 0; i < check.limit.cells; i++) cells[offset + i] = after[i] as number;
  }

  /** The record's offset, which is made if it is not there. */
  #place(binding: Binding, low: number, high: number, now: number): number {
    const found = binding.table.find(low, high);
    if (found >= 0) return found;
    this.#makeRoom(now);
    return binding.table.insert(low, high, binding.owner, now);
  }

  #makeRoom(now: number): void {
    const size = this.size;
    if (size < this.#maxKeys) return;
    let at = Math.random() * size;
    for (const table of this.#tables) {
      if (table === undefined) continue;
      if (at < table.count && table.evict(now)) return;
      at -= table.count;
    }
    this.#shelf.evict(now);
  }

  #drop(key: string, { table, low, high }: Binding): void {
    this.#hash.of(key);
    table.remove((this.#hash.low ^ low) >>> 0, (this.#hash.high ^ high) >>> 0);
  }

  #bind(rule: string, limit: Limit): Binding {
    let ofRule = this.#bindingOf.get(rule);
    if (ofRule === undefined) {
      ofRule = new Map();
      this.#bindingOf.set(rule, ofRule);
    }
    let binding = ofRule.get(limit.id);
    if (binding === undefined) {
      this.#salt.of(`${rule}\n${limit.id}`);
      const table = (this.#tables[limit.cells] ??= new Table(limit.cells, this.#maxKeys, this.#bindings));
      binding = {
        rule,
        limit,
        table,
        owner: this.#bindings.length,
        low: this.#salt.low,
        high: this.#salt.high,
      };
      this.#bindings.push(binding);
      ofRule.set(limit.id, binding);
    }
    binding.limit = limit;
    return binding;
  }
}

export type { MemoryStore };

/** What is found out about one check before the decision is known. */
class Place {
  readonly ruling = new Ruling();
  readonly facts = new Float64Array(maxCells);
  binding: Binding | undefined = undefined;
  ledger: Ledger | undefined = undefined;
  cells: Float64Array = absent;
  offset = 0;
  version = -1;
  low = 0;
  high = 0;
  heldUntil = 0;
}

function ledgerName(check: Check): string {
  return `${check.rule}\n${check.limit.id}\n${check.key}`;
}

/** A hold lies in the same tables as counts do: one cell, the time it ends. It is dropped last. */
const holds: Limit = Object.freeze({
  kind: "hold",
  id: "hold",
  cells: 2,
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

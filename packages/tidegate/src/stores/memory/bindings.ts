import { levelName } from "../../check.js";
import type { Limit } from "../../limit.js";
import { Table } from "./table.js";

/** A rule's limit, as the store knows it. Two limits of one id under one rule share it, and so their counts. */
export interface Binding {
  readonly rule: string;
  /** The one in force: seen last. */
  limit: Limit;
  /** What its verdicts are called, unless the check says otherwise. */
  name: string;
  /** Where its states lie, and as whose; limits with a ledger lie on the shelf instead. */
  readonly table: Table;
  readonly owner: number;
  /** Sets its keys apart from those of other limits in the table. */
  readonly low: number;
  readonly high: number;
}

export class Bindings {
  /** One for each size of state. */
  readonly tables: Table[] = [];
  readonly #ofRule = new Map<string, Map<string, Binding>>();

  of(rule: string, limit: Limit): Binding {
    let ofRule = this.#ofRule.get(rule);
    if (ofRule === undefined) {
      ofRule = new Map();
      this.#ofRule.set(rule, ofRule);
    }
    let binding = ofRule.get(limit.id);
    if (binding === undefined) {
      binding = this.#open(rule, limit);
      ofRule.set(limit.id, binding);
    }
    if (binding.limit !== limit) {
      binding.limit = limit;
      binding.name = levelName(rule, limit);
    }
    return binding;
  }

  /** All of a rule, those of limits no longer in force included. */
  ofRule(rule: string): Iterable<Binding> {
    return this.#ofRule.get(rule)?.values() ?? [];
  }

  #open(rule: string, limit: Limit): Binding {
    let table = this.tables.find(({ cellsPerRecord, isOpen }) => cellsPerRecord === limit.cells && isOpen);
    if (table === undefined) {
      table = new Table(limit.cells);
      this.tables.push(table);
    }
    const [low, high] = crypto.getRandomValues(new Int32Array(2)) as unknown as [number, number];
    const name = levelName(rule, limit);
    const binding: Binding = { rule, limit, name, table, owner: table.owners.length, low, high };
    table.owners.push(binding);
    return binding;
  }
}

import type { Check } from "../../check.js";
import type { Limit } from "../../limit.js";
import { keyText } from "../packed/key-text.js";
import { hasId, type Plan } from "./plan.js";

export type KeyOf = (rule: string, key: string) => string;

/** A place in the call's keys, from 1, whose key stands there before. */
export interface Repeat {
  readonly place: number;
  readonly first: number;
}

/** The keys of one call, its ids, and where a rule is asked about a key again. */
export class CallKeys {
  readonly keys: string[] = [];
  readonly ids: string[] = [];
  readonly repeats: Repeat[] = [];
  readonly #keyOf: KeyOf;
  /** Where each rule was asked about each key first. Undefined: each is asked about once. */
  readonly #places: Map<string, Map<string, number>> | undefined;

  constructor(keyOf: KeyOf, isOfOne: boolean) {
    this.#keyOf = keyOf;
    this.#places = isOfOne ? undefined : new Map();
  }

  /** What one rule asks about one key. */
  addGroup(plan: Plan, first: Check): void {
    const key = this.#keyOf(first.rule, first.key);
    this.add(first.rule, first.key, key);
    if (plan.ledgers === 0) return;
    for (const limit of plan.limits) if (limit.ledger !== undefined) this.keys.push(ledgerKey(key, limit));
    if (hasId(plan, first)) this.ids.push(keyText(first.id));
  }

  /** `key` is where Redis keeps what the rule counts of `counted`. */
  add(rule: string, counted: string, key: string): void {
    const place = this.keys.push(key);
    if (this.#places === undefined) return;
    const ofRule = this.#places.get(rule);
    const first = ofRule?.get(counted);
    if (first !== undefined) this.repeats.push({ place, first });
    else if (ofRule !== undefined) ofRule.set(counted, place);
    else this.#places.set(rule, new Map([[counted, place]]));
  }
}

export function ledgerKey(key: string, limit: Limit): string {
  return `${key}:${limit.id}`;
}

import type { Charge } from "./check.js";
import { ConfigError, shown } from "./errors.js";

/**
 * One algorithm with its numbers. Pure: it knows no clock and no store, keeps its state in doubles that a store
 * lays wherever it likes, and knows both futures of a hit; the store picks one after every check has been judged.
 */
export interface Limit {
  /** Names the Lua twin, e.g. `"fixed-window"`. */
  readonly kind: string;
  /** Its place in a client's state: algorithm and window, never the number, e.g. `"fw:3600000"`. A changed number keeps the count. */
  readonly id: string;
  /** Doubles of state, at most `maxCells`; 0 when it keeps a `ledger` instead. */
  readonly cells: number;
  /** What the Lua twin gets, in the order its header names. */
  readonly args: readonly number[];
  /** What a verdict says: the most that fits into a fresh window, and the window. */
  readonly limit: number;
  readonly windowMs: number;
  /** What one refused call weighs, as a share of its cost: 0 unless refusals are counted on purpose. */
  readonly refusedWeight: number;
  /** True on a limit that refuses nobody and counts the refusals by the other limits of its rule and key. */
  readonly countsOffences?: boolean;
  /** Present on limits whose state grows with use (logs, leases). */
  readonly ledger?: LedgerFactory;

  /** Judges a hit and writes both successors. `cells` at `at` is the state (zeros when fresh), or a ledger's facts. */
  step(cells: Float64Array, at: number, now: number, cost: number, ruling: Ruling): void;
  /** Reads a state as it stands: what is left, until when. */
  read(cells: Float64Array, at: number, now: number, cost: number, reading: Reading): void;
  /** Gives a charge back, in place: never more than the window still holds of it. Limits with a ledger leave it to the ledger. */
  refund(cells: Float64Array, at: number, now: number, charge: Charge): void;
  /** 0 = fresh, 1 = at the limit. A full store drops the lowest first. */
  pressure(cells: Float64Array, at: number, now: number): number;
}

/** A limit on what happens at the same time. */
export interface LeaseLimit extends Limit {
  readonly leaseForMs: number;
}

export const maxCells = 4;

/** What `step` found. Stores reuse one for many steps: read it before the next. */
export class Ruling {
  allowed = true;
  readonly ifAllowed: Float64Array = new Float64Array(maxCells);
  readonly ifRefused: Float64Array = new Float64Array(maxCells);
  /** NaN where the algorithm has none. */
  delayMs: number = Number.NaN;
  estimate: number = Number.NaN;
  /** Limits that count offences: until when the key is held if this hit is one; 0 when it is not held. */
  holdUntil = 0;
}

/** What `read` found. */
export class Reading {
  remaining = 0;
  resetAfterMs = 0;
  /** 0 when a call of this cost would pass now; Infinity when it never will. */
  retryAfterMs = 0;
  /** From this time on the state says nothing any more and may be dropped. */
  expiresAt = 0;
}

/**
 * State that grows with use, as the memory store keeps it. Redis keeps the same in the Lua twin's own structure. It
 * outlives a change of its limit's numbers, so each call brings the `args` of the limit now in force.
 */
export interface Ledger {
  /** Writes the facts `step` and `read` take as cells. Changes nothing that can be seen. */
  look(args: readonly number[], facts: Float64Array, now: number, cost: number, id: string | undefined): void;
  charge(args: readonly number[], now: number, cost: number, id: string | undefined): void;
  refund(args: readonly number[], now: number, charge: Charge): void;
}

export interface LedgerFactory {
  /** Doubles `look` writes, at most `maxCells`. */
  readonly facts: number;
  readonly open: () => Ledger;
  /** Whether these facts are of an id charged before, so that the hit charges nothing that could be given back. */
  readonly knows?: (facts: Float64Array) => boolean;
  /** Throws a `ConfigError` for a cost or id this ledger can not keep. */
  readonly validate?: (cost: number, id: string | undefined) => void;
}

/**
 * Whether a sum is over a limit. Whole numbers are compared exactly; sums with fractions get a tolerance of
 * 1e-9 of the limit, since 0.1 + 0.2 is a hair more than 0.3. Each Lua twin has the same line.
 */
export function exceeds(sum: number, limit: number): boolean {
  return sum > limit && isClearlyMore(sum, limit);
}

/** Apart, so that `exceeds` is short enough for V8 to inline wherever it is called. */
function isClearlyMore(sum: number, limit: number): boolean {
  return Math.floor(sum) === sum || sum > limit * (1 + 1e-9);
}

/** A limit's number: 0 (refuses everything) or more. */
export function parseAmount(value: unknown, path: string, kind: "whole" | "any" = "any"): number {
  if (
    typeof value !== "number" ||
    !(value >= 0) ||
    value > Number.MAX_SAFE_INTEGER ||
    (kind === "whole" && !Number.isInteger(value))
  ) {
    const wanted = kind === "whole" ? "a whole number" : "a number";
    throw new ConfigError(
      "TG_LIMIT",
      path,
      `${shown(value)} is not a limit.`,
      `Write ${wanted} from 0 to ${Number.MAX_SAFE_INTEGER}.`,
    );
  }
  return value;
}

/** Rejects an option nobody reads, since a misspelt one would silently limit nothing. */
export function rejectUnknownOptions(options: unknown, known: readonly string[], where: string): void {
  if (typeof options !== "object" || options === null) {
    throw new ConfigError(
      "TG_OPTIONS",
      where,
      `${shown(options)} is not an options object.`,
      `Give one with ${known.join(", ")}.`,
    );
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) {
      throw new ConfigError(
        "TG_OPTION_UNKNOWN",
        `${where}.${name}`,
        "there is no such option.",
        `Known: ${known.join(", ")}.`,
      );
    }
  }
}

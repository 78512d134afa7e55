import { type Duration, parseDuration } from "../../duration.js";
import { ConfigError, shown } from "../../errors.js";
import {
  exceeds,
  type Ledger,
  type LedgerFactory,
  type Limit,
  parseAmount,
  type Reading,
  type Ruling,
  rejectUnknownOptions,
} from "../../limit.js";
import { Log } from "./log.js";

export interface SlidingLogOptions {
  /** The most in any window. Also a sum: 2000 dollars a day, each transfer with its amount as cost. */
  limit: number;
  window: Duration;
  /**
   * How Redis keeps it. `"sorted-set"` (default): any cost; an `id` is charged once however often the call is retried.
   * `"list"`: cost 1 and no id, at a sixth of the memory.
   */
  encoding?: "sorted-set" | "list";
  /** Told when the log may grow beyond 10,000 entries per client. Default: `console.warn`, once for the same numbers. */
  onWarning?: (message: string) => void;
}

/**
 * Exact: never more than `limit` in any window (t - window, t]; an entry of time e stops counting at e + window.
 * Worst-case burst: N. Memory per key grows with what passed within the window: in this process 8 to 16 bytes an entry
 * (24 to 48 with costs), in Redis about 130 bytes an entry as a sorted set, 20 as a list. Refused calls are not recorded:
 * hammering extends nothing.
 */
export function slidingLog(options: SlidingLogOptions): Limit {
  rejectUnknownOptions(options, ["limit", "window", "encoding", "onWarning"], "slidingLog");
  const isList = parseEncoding(options.encoding) === "list";
  const limit = parseAmount(options.limit, "slidingLog.limit", isList ? "whole" : "any");
  const windowMs = parseDuration(options.window, "slidingLog.window");
  if (limit > large) warnOfSize(limit, windowMs, isList, options.onWarning);

  return Object.freeze({
    kind: isList ? "sliding-log-list" : "sliding-log",
    id: `${isList ? "ll" : "sl"}:${windowMs}`,
    cells: 0,
    args: [limit, windowMs],
    limit,
    windowMs,
    refusedWeight: 0,
    ledger: isList ? listLedger : sortedSetLedger(limit),

    step(facts: Float64Array, at: number, now: number, cost: number, ruling: Ruling): void {
      const used = facts[at + Fact.used] as number;
      const isKnown = facts[at + Fact.known] === 1;
      ruling.allowed = isKnown || !exceeds(used + cost, limit);
      for (let i = 0; i < factCount; i++) ruling.ifAllowed[i] = ruling.ifRefused[i] = facts[at + i] as number;
      if (isKnown) return;
      ruling.ifAllowed[Fact.used] = used + cost;
      ruling.ifAllowed[Fact.endsAt] = Math.max(now + windowMs, facts[at + Fact.endsAt] as number);
      ruling.ifAllowed[Fact.known] = 1;
    },

    read(facts: Float64Array, at: number, now: number, _cost: number, reading: Reading): void {
      const used = facts[at + Fact.used] as number;
      const endsAt = facts[at + Fact.endsAt] as number;
      reading.remaining = used < limit ? limit - used : 0;
      reading.resetAfterMs = Math.max(0, endsAt - now);
      reading.retryAfterMs = Math.max(0, Math.ceil((facts[at + Fact.passesAt] as number) - now));
      reading.expiresAt = endsAt;
    },

    refund(): void {},

    pressure(facts: Float64Array, at: number): number {
      const used = facts[at + Fact.used] as number;
      return used === 0 ? 0 : limit === 0 ? 1 : used / limit;
    },
  });
}

/** What a log tells: the sum in the window, when its newest entry ends, when the call asked about would pass, whether its id is charged already. */
const Fact = { used: 0, endsAt: 1, passesAt: 2, known: 3 } as const;
const factCount = 4;

/** A cost below the tolerance of its limit would pass for ever, each time as an entry. */
function sortedSetLedger(limit: number): LedgerFactory {
  const least = limit * 1e-9;
  return Object.freeze({
    facts: factCount,
    open: (): Ledger => new Log(),
    knows: (facts: Float64Array): boolean => facts[Fact.known] === 1,

    validate(cost: number): void {
      if (cost >= least || Number.isInteger(cost)) return;
      throw new ConfigError(
        "TG_COST_TINY",
        "cost",
        `${shown(cost)} is too small to count against ${limit}.`,
        `Give at least ${least}, or count in larger units.`,
      );
    },
  });
}

const listLedger: LedgerFactory = Object.freeze({
  facts: factCount,
  open: (): Ledger => new Log({ wholeOnly: true }),

  validate(cost: number, id: string | undefined): void {
    if (cost === 1 && id === undefined) return;
    throw new ConfigError(
      "TG_ENCODING",
      id === undefined ? "cost" : "id",
      `a sliding log with encoding "list" counts calls of cost 1 without an id, not ${shown(id ?? cost)}.`,
      'Leave it out, or use encoding: "sorted-set".',
    );
  },
});

function parseEncoding(encoding: unknown): "sorted-set" | "list" {
  if (encoding === undefined || encoding === "sorted-set" || encoding === "list")
    return encoding ?? "sorted-set";
  throw new ConfigError(
    "TG_ENCODING",
    "slidingLog.encoding",
    `${shown(encoding)} is not an encoding.`,
    'Use "sorted-set" or "list".',
  );
}

const large = 10_000;
const told = new Set<string>();

function warnOfSize(
  limit: number,
  windowMs: number,
  isList: boolean,
  onWarning: ((message: string) => void) | undefined,
): void {
  const numbers = `${limit} per ${windowMs} ms`;
  if (onWarning === undefined && (told.has(numbers) || told.size >= 100)) return;
  if (onWarning === undefined) told.add(numbers);
  const redis = megabytes(limit * (isList ? 20 : 130));
  const process = megabytes(limit * (isList ? 16 : 48));
  (onWarning ?? console.warn)(
    `Tidegate: slidingLog.limit: a log of ${numbers} keeps every call of the window, at cost 1 up to ${redis} per client in Redis and ${process} in this process. slidingCounter keeps 24 bytes. [TG_LOG_LARGE]`,
  );
}

function megabytes(bytes: number): string {
  return `${Number((bytes / 1e6).toPrecision(2))} MB`;
}

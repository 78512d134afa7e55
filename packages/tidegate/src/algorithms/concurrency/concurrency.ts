import { type Duration, parseDuration } from "../../duration.js";
import { ConfigError, shown } from "../../errors.js";
import {
  type LeaseLimit,
  type Ledger,
  type LedgerFactory,
  parseAmount,
  type Reading,
  type Ruling,
  rejectUnknownOptions,
} from "../../limit.js";
import { Leases } from "./leases.js";

export interface ConcurrencyOptions {
  /** The most slots taken at the same time, up to 1,000,000. */
  limit: number;
  /** A slot not released comes free after so long: longer than the work takes, or renew it meanwhile. */
  leaseFor: Duration;
}

/**
 * So many at the same time. A call takes as many slots as it costs, under its id, and holds them until it is released or
 * `leaseFor` is over: a holder that dies blocks nobody for longer. The same id again renews the lease.
 * Worst-case burst: N at once, and N again as soon as those are released. Memory per key grows with the slots taken: in
 * this process about 120 bytes a lease beside its id, in Redis about 140 a slot. Refused calls do not count.
 */
export function concurrency(options: ConcurrencyOptions): LeaseLimit {
  rejectUnknownOptions(options, ["limit", "leaseFor"], "concurrency");
  const limit = parseSlots(options.limit);
  const leaseForMs = parseDuration(options.leaseFor, "concurrency.leaseFor");

  return Object.freeze({
    kind: "concurrency",
    id: "co",
    cells: 0,
    args: [limit, leaseForMs],
    limit,
    windowMs: leaseForMs,
    leaseForMs,
    refusedWeight: 0,
    ledger,

    step(facts: Float64Array, at: number, now: number, cost: number, ruling: Ruling): void {
      const used = facts[at + Fact.used] as number;
      const isKnown = facts[at + Fact.known] === 1;
      ruling.allowed = isKnown || used + cost <= limit;
      for (let i = 0; i < factCount; i++) ruling.ifAllowed[i] = ruling.ifRefused[i] = facts[at + i] as number;
      ruling.ifAllowed[Fact.used] = isKnown ? used : used + cost;
      ruling.ifAllowed[Fact.endsAt] = Math.max(now + leaseForMs, facts[at + Fact.endsAt] as number);
      ruling.ifAllowed[Fact.known] = 1;
    },

    read(facts: Float64Array, at: number, now: number, _cost: number, reading: Reading): void {
      const endsAt = facts[at + Fact.endsAt] as number;
      reading.remaining = Math.max(0, limit - (facts[at + Fact.used] as number));
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

/** What the leases tell: slots taken, the last lease's end, when the call asked about would pass, whether its id holds a lease. */
const Fact = { used: 0, endsAt: 1, passesAt: 2, known: 3 } as const;
const factCount = 4;

const ledger: LedgerFactory = Object.freeze({
  facts: factCount,
  open: (): Ledger => new Leases(),
  knows: (facts: Float64Array): boolean => facts[Fact.known] === 1,

  validate(cost: number): void {
    if (Number.isInteger(cost) && cost <= mostSlotsAtOnce) return;
    throw new ConfigError(
      "TG_SLOTS",
      "cost",
      `${shown(cost)} is not a number of slots to take at once.`,
      `Give a whole number up to ${mostSlotsAtOnce}.`,
    );
  },
});

const mostSlots = 1_000_000;
/** Each is an entry of its own, and Redis does nothing else meanwhile. */
const mostSlotsAtOnce = 1000;

function parseSlots(value: unknown): number {
  const limit = parseAmount(value, "concurrency.limit", "whole");
  if (limit <= mostSlots) return limit;
  throw new ConfigError(
    "TG_LIMIT",
    "concurrency.limit",
    `${limit} are too many slots: each is an entry of its own.`,
    `Write a whole number from 0 to ${mostSlots}.`,
  );
}

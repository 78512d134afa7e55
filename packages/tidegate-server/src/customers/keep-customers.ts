import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError, type Gate } from "tidegate";
import type { Data } from "../data.js";
import type { Log } from "../log.js";
import type { CustomerBook, CustomersStatus } from "./customer-book.js";
import { type CustomerSource, messageOf, SourceError } from "./customer-source.js";
import { ownLimits } from "./own-limits.js";
import { pull } from "./pull.js";
import { writeThrough } from "./write-through.js";

export interface KeepCustomersOptions {
  readonly source: CustomerSource;
  readonly everyMs: number;
  readonly gate: Pick<Gate, "customers" | "policy">;
  readonly data: Pick<Data, "kind" | "directory" | "pending" | "putCustomers">;
  readonly log: Log;
}

/** A start waits no longer than this for the first pull. */
const firstRoundMs = 3_000;
/** After a round that failed the next one comes at least this soon. */
const soonMs = 10_000;
/** Whoever hangs is left behind then. */
const closeMs = 2_000;
const longestId = 1024;

/**
 * Customers of a primary database, kept in the directory too: what was noted is finished, then all are pulled, round by round.
 * Requests are judged by the directory; the source may be down for as long as it likes.
 */
export async function keepCustomers(options: KeepCustomersOptions): Promise<CustomerBook> {
  const { source, everyMs, gate, data, log } = options;
  const writes = writeThrough({ source, data, log });
  const stopping = new AbortController();
  const { signal } = stopping;
  let known: ReadonlySet<string> = new Set();
  let status: CustomersStatus = {
    source: source.kind,
    pulled: 0,
    rejectedRows: 0,
    unknownTiers: 0,
    pending: 0,
  };

  async function round(): Promise<void> {
    const startedAt = Date.now();
    status = { ...status, pending: await writes.reconcile() };
    const hasTier = (tier: string): boolean => tiersOf(gate).includes(tier);
    const unsettled = () => writes.unsettled(startedAt);
    const pulled = await pull({
      source,
      directory: data.directory,
      putAll: data.putCustomers,
      before: known,
      unsettled,
      hasTier,
      signal,
    });
    const { ids, isCut, changed, removed, rejected, rejectedWhy, unknownTiers, unknownTier } = pulled;
    if (isCut) log.warn({ taken: ids.size }, "the customers' source has more rows than are taken");
    const isEmptied = ids.size === 0 && known.size > 0;
    if (isEmptied)
      log.warn({ customers: known.size }, "the customers' source has nobody any more: nobody is removed");
    if (rejected > 0 && rejected !== status.rejectedRows)
      log.warn(
        { rejected, reason: rejectedWhy },
        "rows of the customers' source say nothing and are left out",
      );
    if (unknownTiers > 0 && unknownTiers !== status.unknownTiers)
      log.warn(
        { customers: unknownTiers, tier: unknownTier },
        "customers are in tiers the policy does not have: they get the default tier",
      );
    if (changed + removed > 0) log.info({ customers: ids.size, changed, removed }, "customers pulled");
    if (!isEmptied) known = ids;
    const { failure, ...rest } = status;
    if (failure !== undefined) log.info({ customers: ids.size }, "customers are pulled again");
    status = { ...rest, pulled: ids.size, pulledAt: Date.now(), rejectedRows: rejected, unknownTiers };
  }

  async function guardedRound(): Promise<void> {
    try {
      await round();
    } catch (error) {
      if (signal.aborted) return;
      const failure = error instanceof SourceError ? error.reason : messageOf(error);
      if (failure !== status.failure)
        log.warn({ reason: failure }, "customers could not be pulled: what is known stays in force");
      status = { ...status, failure };
    }
  }

  async function rounds(first: Promise<void>): Promise<void> {
    await first;
    while (!signal.aborted) {
      const pauseMs = status.failure === undefined ? everyMs : Math.min(everyMs, soonMs);
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted) await guardedRound();
    }
  }

  const first = guardedRound();
  const running = rounds(first);
  await Promise.race([first, sleep(firstRoundMs, undefined, { signal, ref: false }).catch(() => {})]);

  async function changed(
    write: Promise<{ state: "done" | "pending" }>,
  ): Promise<{ state: "done" | "pending" }> {
    const answer = await write;
    if (answer.state !== "pending") return answer;
    // A round may have counted it while it was under way.
    const notes = await data.pending.all().catch(() => undefined);
    status = { ...status, pending: notes?.length ?? status.pending + 1 };
    return answer;
  }

  return {
    get: (id) => gate.customers.get(id),
    async setTier(id, tier) {
      validateId(id);
      if (tier !== undefined) validateTier(tier, tiersOf(gate));
      return changed(writes.write(id, { tier }));
    },
    async setLimits(id, limits) {
      validateId(id);
      return changed(writes.write(id, { limits: limits === undefined ? undefined : validLimits(limits) }));
    },
    status: () => status,
    async close() {
      stopping.abort();
      const end = running.then(() => source.close()).catch(() => {});
      await Promise.race([end, sleep(closeMs, undefined, { ref: false })]);
    },
  };
}

function tiersOf({ policy }: Pick<Gate, "policy">): string[] {
  return Object.keys(policy.tiers ?? {});
}

function validateId(id: string): void {
  if (typeof id === "string" && id !== "" && id.length <= longestId) return;
  throw new ConfigError(
    "TG_CUSTOMER_ID",
    "customers",
    "this is not a customer's id.",
    `Give a text of 1 to ${longestId} characters.`,
  );
}

function validateTier(tier: string, tiers: readonly string[]): void {
  if (tiers.includes(tier)) return;
  throw new ConfigError(
    "TG_TIER_UNKNOWN",
    "tier",
    `there is no tier ${JSON.stringify(String(tier).slice(0, 60))}.`,
    tiers.length === 0 ? "Name tiers in the policy first." : `Known: ${tiers.join(", ")}.`,
  );
}

function validLimits(limits: unknown): ReadonlyMap<number, number> {
  const own = ownLimits(limits);
  if (typeof own !== "string") return own;
  throw new ConfigError(
    "TG_OVERRIDE",
    "customers.setLimits",
    `${own}.`,
    "Write windows in whole seconds and whole limits, e.g. { 60: 100, 3600: 1000 }.",
  );
}

import { setImmediate as nextTurn } from "node:timers/promises";
import type { CustomerRecord, Directory } from "tidegate";
import type { Data } from "../data.js";
import type { CustomerSource } from "./customer-source.js";
import { idOf, readRow, type SourceCustomer } from "./read-row.js";

export interface PullOptions {
  readonly source: CustomerSource;
  readonly directory: Directory;
  /** Writes many at once. */
  readonly putAll: Data["putCustomers"];
  /** Who came with the last whole pull. */
  readonly before: ReadonlySet<string>;
  /** Asked again for every page: whom to leave alone. */
  readonly unsettled: () => Promise<ReadonlySet<string>>;
  readonly hasTier: (tier: string) => boolean;
  readonly signal: AbortSignal;
}

export interface Pulled {
  /** Everybody the source has, those with a senseless row too. */
  readonly ids: ReadonlySet<string>;
  /** There were more than are taken. */
  readonly isCut: boolean;
  readonly changed: number;
  readonly removed: number;
  readonly rejected: number;
  /** Of the first that was rejected. */
  readonly rejectedWhy?: string;
  readonly unknownTiers: number;
  /** The first of them. */
  readonly unknownTier?: string;
}

/** One more is not taken: it is reported. */
const mostRows = 1_000_000;
/** Looked up and written at once; then others have their turn. */
const atOnce = 64;

/**
 * Brings what the source says into the directory: writes only what differs, and removes who came with the last pull and is gone.
 * A source that suddenly has nobody removes nobody.
 */
export async function pull(options: PullOptions): Promise<Pulled> {
  const { source, directory, putAll, before, unsettled, hasTier, signal } = options;
  const ids = new Set<string>();
  let [rows, changed, removed, rejected, unknownTiers] = [0, 0, 0, 0, 0];
  let rejectedWhy: string | undefined;
  let unknownTier: string | undefined;
  let isCut = false;

  function take(row: unknown): SourceCustomer[] {
    const customer = readRow(row);
    const isTwice = typeof customer !== "string" && ids.has(customer.id);
    if (typeof customer === "string" || isTwice) {
      rejected++;
      rejectedWhy ??= isTwice ? "there are two rows of one id" : (customer as string);
      const id = idOf((row as { id?: unknown } | null)?.id);
      if (id !== undefined) ids.add(id);
      return [];
    }
    ids.add(customer.id);
    if (customer.tier !== undefined && !hasTier(customer.tier)) {
      unknownTiers++;
      unknownTier ??= customer.tier;
    }
    return [customer];
  }

  /** What is to be written of a customer; undefined when nothing is. */
  async function changeOf(
    { id, tier, limits }: SourceCustomer,
    leave: ReadonlySet<string>,
  ): Promise<Change | undefined> {
    if (leave.has(id)) return undefined;
    const known = await directory.customer(id);
    const record = { ...(tier !== undefined && { tier }), limits: limits ?? known?.limits ?? new Map() };
    return isSame(record, known) ? undefined : [id, record];
  }

  async function inBatches<T>(
    all: readonly T[],
    change: (one: T) => Promise<Change | undefined>,
  ): Promise<number> {
    let written = 0;
    for (let from = 0; from < all.length; from += atOnce) {
      signal.throwIfAborted();
      const changes = await Promise.all(all.slice(from, from + atOnce).map(change));
      const wanted = changes.filter((one) => one !== undefined);
      if (wanted.length > 0) await putAll(wanted);
      written += wanted.length;
      await nextTurn();
    }
    return written;
  }

  for await (const page of source.rows(signal)) {
    const leave = await unsettled();
    isCut = rows + page.length > mostRows;
    const taken = page.slice(0, mostRows - rows).flatMap(take);
    rows += page.length;
    changed += await inBatches(taken, (customer) => changeOf(customer, leave));
    if (isCut) break;
  }

  if (!isCut && ids.size > 0) {
    const leave = await unsettled();
    const gone = [...before].filter((id) => !ids.has(id) && !leave.has(id));
    removed = await inBatches(gone, async (id) => [id, {}]);
  }
  return {
    ids,
    isCut,
    changed,
    removed,
    rejected,
    unknownTiers,
    ...(rejectedWhy !== undefined && { rejectedWhy }),
    ...(unknownTier !== undefined && { unknownTier }),
  };
}

type Change = readonly [id: string, record: CustomerRecord];

function isSame(a: CustomerRecord, b: CustomerRecord | undefined): boolean {
  if (a.tier !== b?.tier || (a.limits?.size ?? 0) !== (b?.limits?.size ?? 0)) return false;
  for (const [seconds, limit] of a.limits ?? []) if (b?.limits?.get(seconds) !== limit) return false;
  return true;
}

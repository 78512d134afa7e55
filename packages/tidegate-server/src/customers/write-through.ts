import { setImmediate as nextTurn } from "node:timers/promises";
import type { CustomerRecord } from "tidegate";
import type { Data, PendingCustomer } from "../data.js";
import type { Log } from "../log.js";
import type { CustomerWrite } from "./customer-book.js";
import { type CustomerSource, messageOf, SourceError } from "./customer-source.js";

export interface WriteThroughOptions {
  readonly source: CustomerSource;
  readonly data: Pick<Data, "kind" | "directory" | "pending">;
  readonly log: Log;
}

export interface WriteThrough {
  write(id: string, part: Changes): Promise<CustomerWrite>;
  /** Finishes what a crash or a silent database left. Answers how many writes are left over. */
  reconcile(): Promise<number>;
  /** Customers a pull must leave alone: those with a write noted, and those written since the given moment. */
  unsettled(since: number): Promise<ReadonlySet<string>>;
}

export type Changes = { readonly [Name in keyof CustomerRecord]: CustomerRecord[Name] | undefined };

/** Whoever noted a write that is older than this is done with it, or dead. */
const orphanAfterMs = 30_000;
/** After so many the source is left alone until the next round. One that can not be finished does not stop the others. */
const mostFailures = 3;

/**
 * Writes to both places. First the whole new record is noted; then the primary database takes it, or refuses; then it comes into
 * force here; then the note goes. A note that is still there is repeated, and the newest of a customer replaces the older ones.
 */
export function writeThrough({ source, data, log }: WriteThroughOptions): WriteThrough {
  const { directory, pending } = data;
  const inTurn = turns();
  const underWay = new Set<number>();
  const writtenAt = new Map<string, number>();

  async function write(id: string, part: Changes): Promise<CustomerWrite> {
    const noted = (await pending.all()).filter(({ customer }) => customer === id);
    const newest = noted.at(-1);
    const known = newest === undefined ? await directory.customer(id) : recordOf(newest);
    const record = merged(known, part);
    writtenAt.set(id, Date.now());
    const entry = await pending.add({ customer: id, ...plain(record) });
    underWay.add(entry.id);
    try {
      await source.write(id, record);
    } catch (error) {
      if (!(error instanceof SourceError) || error.outcome === "unknown") return leftNoted(error);
      await pending.done(entry.id);
      throw error;
    } finally {
      underWay.delete(entry.id);
    }
    return settle(id, record, [...noted, entry]).then(() => ({ state: "done" }), leftNoted);
  }

  function leftNoted(error: unknown): CustomerWrite {
    log.warn(
      { reason: messageOf(error) },
      "a customer's change is noted and not yet known to be in both places",
    );
    return { state: "pending" };
  }

  /** Older notes go first: one that outlived the newest would undo it. */
  async function settle(
    id: string,
    record: CustomerRecord,
    notes: readonly PendingCustomer[],
  ): Promise<void> {
    writtenAt.set(id, Date.now());
    await directory.putCustomer(id, record);
    for (const note of notes) await pending.done(note.id);
  }

  function isOrphan({ id, at }: PendingCustomer): boolean {
    return !underWay.has(id) && (data.kind === "embedded" || Date.now() - at > orphanAfterMs);
  }

  /** The newest note the database takes is the one that holds. */
  async function finish(id: string): Promise<void> {
    const notes = (await pending.all()).filter((note) => note.customer === id && isOrphan(note));
    while (notes.length > 0) {
      const record = recordOf(notes.at(-1) as PendingCustomer);
      try {
        await source.write(id, record);
      } catch (error) {
        if (!(error instanceof SourceError) || error.outcome !== "refused") throw error;
        log.error(
          { customer: id, reason: error.reason },
          "a noted change was refused by the primary database: it is dropped",
        );
        await pending.done((notes.pop() as PendingCustomer).id);
        continue;
      }
      await settle(id, record, notes);
      return;
    }
  }

  return {
    write: (id, part) => inTurn(id, () => write(id, part)),
    async reconcile() {
      const orphans = (await pending.all()).filter(isOrphan);
      let failures = 0;
      for (const id of new Set(orphans.map(({ customer }) => customer))) {
        const failure = await inTurn(id, () => finish(id)).then(() => undefined, messageOf);
        if (failure !== undefined)
          log.warn({ customer: id, reason: failure }, "a noted change is still not in both places");
        if (failure !== undefined && ++failures === mostFailures) break;
        await nextTurn();
      }
      return (await pending.all()).length;
    },
    async unsettled(since) {
      for (const [id, at] of writtenAt) if (at < since) writtenAt.delete(id);
      return new Set([...(await pending.all()).map(({ customer }) => customer), ...writtenAt.keys()]);
    },
  };
}

function merged(known: CustomerRecord | undefined, part: Changes): CustomerRecord {
  const { tier, limits } = { ...known, ...part };
  return { ...(tier !== undefined && { tier }), ...(limits !== undefined && limits.size > 0 && { limits }) };
}

function plain({ tier, limits }: CustomerRecord): Pick<PendingCustomer, "tier" | "limits"> {
  return { ...(tier !== undefined && { tier }), ...(limits && { limits: Object.fromEntries(limits) }) };
}

function recordOf({ tier, limits }: PendingCustomer): CustomerRecord {
  return {
    ...(tier !== undefined && { tier }),
    ...(limits && {
      limits: new Map(Object.entries(limits).map(([seconds, limit]) => [Number(seconds), limit])),
    }),
  };
}

/** One act after another for each name. */
function turns(): <T>(name: string, act: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return (name, act) => {
    const turn = (last.get(name) ?? Promise.resolve()).then(act, act);
    last.set(name, turn);
    const leave = (): void => {
      if (last.get(name) === turn) last.delete(name);
    };
    turn.then(leave, leave);
    return turn;
  };
}

import type { Clock } from "../../clock.js";
import { Deadlines } from "../../deadlines.js";
import type { CustomerRecord, Directory } from "../../directory.js";
import { isPromise } from "../../guard.js";
import type { Answer } from "../../store.js";

/** What is on record of customers, read on first sight and kept until told to forget. */
export interface KnownCustomers {
  /** Answers at once when known. Out of reach, what was last known holds. Undefined: nothing on record, or never seen. */
  get(id: string): Answer<CustomerRecord | undefined>;
  /** This one, or all. What is being read meanwhile is not kept either. */
  forget(id?: string): void;
}

export interface KnownCustomersOptions {
  readonly now: Clock;
  /** Beyond these, those not asked for lately are forgotten. */
  readonly maxCustomers: number;
  /** How long a first sight waits. */
  readonly deadlineMs: number;
  onFailed(error: unknown): void;
  onRead(): void;
}

/** After a failed read nothing is read for so long, then one read tries for all. */
const pauseMs = 1000;
/** Nobody has a record under a longer id: it is neither read nor kept. */
const longestId = 1024;

export function knownCustomers(
  directory: Pick<Directory, "customer">,
  { now, maxCustomers, deadlineMs, onFailed, onRead }: KnownCustomersOptions,
): KnownCustomers {
  /** Null: nothing on record. Two generations: to drop the oldest of one map again and again takes V8 ever longer. */
  let young = new Map<string, CustomerRecord | null>();
  let old = new Map<string, CustomerRecord | null>();
  /** What was told to be forgotten and could not be read again yet. */
  const lastKnown = new Map<string, CustomerRecord | null>();
  const mostInEither = Math.max(1, Math.floor(maxCustomers / 2));
  const reading = new Map<string, Promise<CustomerRecord | undefined>>();
  const deadlines = new Deadlines(deadlineMs);
  let failedAt: number | undefined;

  function mayRead(): boolean {
    if (failedAt === undefined) return true;
    const elapsed = now() - failedAt;
    if (elapsed >= 0 && elapsed < pauseMs) return false;
    failedAt = now();
    return true;
  }

  function fail(error: unknown): void {
    failedAt = now();
    onFailed(error);
  }

  function keep(id: string, record: CustomerRecord | undefined): void {
    if (young.size >= mostInEither) {
      old = young;
      young = new Map();
    }
    young.set(id, record ?? null);
    lastKnown.delete(id);
  }

  function setAside(id: string, record: CustomerRecord | null): void {
    if (lastKnown.size >= maxCustomers) lastKnown.clear();
    lastKnown.set(id, record);
  }

  function recall(id: string): CustomerRecord | null | undefined {
    const record = young.get(id);
    if (record !== undefined) return record;
    const older = old.get(id);
    if (older !== undefined) keep(id, older ?? undefined);
    return older;
  }

  function succeed(): void {
    failedAt = undefined;
    onRead();
  }

  function fallback(id: string): CustomerRecord | undefined {
    return lastKnown.get(id) ?? undefined;
  }

  function read(id: string): Answer<CustomerRecord | undefined> {
    if (id.length > longestId || !mayRead()) return fallback(id);
    try {
      const answer = directory.customer(id);
      if (isPromise(answer)) return awaitRecord(id, answer);
      succeed();
      keep(id, answer);
      return answer;
    } catch (error) {
      fail(error);
      return fallback(id);
    }
  }

  /** Everyone who asks meanwhile waits for the same read, unless a change came in between. */
  function awaitRecord(
    id: string,
    answer: Promise<CustomerRecord | undefined>,
  ): Promise<CustomerRecord | undefined> {
    const isLatest = () => reading.get(id) === shared && reading.delete(id);
    const shared = deadlines.race(answer).then(
      (record) => {
        succeed();
        if (isLatest()) keep(id, record);
        return record;
      },
      (error) => {
        isLatest();
        fail(error);
        return fallback(id);
      },
    );
    reading.set(id, shared);
    return shared;
  }

  return {
    get(id) {
      const record = recall(id);
      if (record !== undefined) return record ?? undefined;
      return reading.get(id) ?? read(id);
    },
    forget(id) {
      if (id === undefined) {
        for (const records of [old, young]) for (const [each, record] of records) setAside(each, record);
        young.clear();
        old.clear();
        reading.clear();
      } else {
        const record = young.get(id) ?? old.get(id);
        if (record !== undefined) setAside(id, record);
        young.delete(id);
        old.delete(id);
        reading.delete(id);
      }
    },
  };
}

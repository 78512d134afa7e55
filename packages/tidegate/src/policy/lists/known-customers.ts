import type { Clock } from "../../clock.js";
import { Deadlines } from "../../deadlines.js";
import type { CustomerRecord, Directory } from "../../directory.js";
import { isPromise } from "../../guard.js";
import { commonHash } from "../../key-hash.js";
import type { Answer } from "../../store.js";
import { Customer } from "../customer.js";
import { Remembered } from "../remembered.js";

/** What is on record of customers, read on first sight and kept until told to forget, or until some of it ends. */
export interface KnownCustomers {
  /** Answers at once when known. Out of reach, what was last known holds. Undefined: never seen. */
  get(id: string, at: number): Answer<Customer | undefined>;
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
/** Nobody has a record under a longer id: it is neither read, nor kept, nor looked for. */
const longestId = 1024;

export function knownCustomers(
  directory: Pick<Directory, "customer">,
  { now, maxCustomers, deadlineMs, onFailed, onRead }: KnownCustomersOptions,
): KnownCustomers {
  const mostInEither = Math.max(1, Math.floor(maxCustomers / 2));
  let known = new Remembered<Customer>(mostInEither, commonHash);
  /** What was told to be forgotten and could not be read again yet. */
  const lastKnown = new Map<string, Customer>();
  const reading = new Map<string, Promise<Customer | undefined>>();
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

  function keep(customer: Customer): void {
    known.keepAs(customer.low, customer.high, customer);
    lastKnown.delete(customer.key);
  }

  function setAside(customer: Customer): void {
    customer.isCurrent = false;
    if (lastKnown.size >= maxCustomers) lastKnown.clear();
    lastKnown.set(customer.key, customer);
  }

  function succeed(): void {
    failedAt = undefined;
    onRead();
  }

  function fallback(id: string): Customer | undefined {
    return lastKnown.get(id);
  }

  function read(id: string): Answer<Customer | undefined> {
    if (!mayRead()) return fallback(id);
    try {
      const answer = directory.customer(id);
      if (isPromise(answer)) return awaitRecord(id, answer);
      succeed();
      const customer = new Customer(id, answer);
      keep(customer);
      return customer;
    } catch (error) {
      fail(error);
      return fallback(id);
    }
  }

  /** Everyone who asks meanwhile waits for the same read, unless a change came in between. */
  function awaitRecord(
    id: string,
    answer: Promise<CustomerRecord | undefined>,
  ): Promise<Customer | undefined> {
    const isLatest = () => reading.get(id) === shared && reading.delete(id);
    const shared = deadlines.race(answer).then(
      (record) => {
        succeed();
        const customer = new Customer(id, record);
        if (isLatest()) keep(customer);
        return customer;
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
    get(id, at) {
      if (id.length > longestId) return undefined;
      const customer = known.get(id);
      if (customer?.isCurrent) {
        if (at < customer.until) return customer;
        setAside(customer);
      }
      return reading.get(id) ?? read(id);
    },
    forget(id) {
      if (id === undefined) {
        for (const customer of known.values()) if (customer.isCurrent) setAside(customer);
        known = new Remembered(mostInEither, commonHash);
        reading.clear();
      } else {
        const customer = known.get(id);
        if (customer?.isCurrent) setAside(customer);
        reading.delete(id);
      }
    },
  };
}

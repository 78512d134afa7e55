import type { Answer } from "./store.js";

export type ListName = "safelist" | "blocklist";

/** One line of a list. */
export interface ListEntry {
  /** An address or a block, e.g. `203.0.113.7` or `2001:db8::/32`. */
  readonly address: string;
  readonly who?: string;
  readonly why?: string;
  /** Milliseconds since the epoch; without it the entry stays until removed. */
  readonly until?: number;
}

/** What is on record of one customer. */
export interface CustomerRecord {
  readonly tier?: string;
  /** Own limits, which replace the tier's: window in seconds to limit. Empty counts as none. */
  readonly limits?: ReadonlyMap<number, number>;
  /** When some of it ends by itself, in milliseconds since the epoch: the gate then reads it again. */
  readonly until?: number;
}

/**
 * Where lists and customers live: memory, Redis, a file, a database. It keeps and tells; what an address covers, when
 * an entry ends and what a tier means is the gate's to know. The gate mirrors it, so nothing here is asked per request.
 */
export interface Directory {
  entries(list: ListName): Answer<ListEntry[]>;
  /** Adds or replaces the entry of this address. */
  put(list: ListName, entry: ListEntry): Answer<void>;
  /** Answers whether there was one. */
  remove(list: ListName, address: string): Answer<boolean>;

  customer(id: string): Answer<CustomerRecord | undefined>;
  /** Replaces what is on record; an empty record removes it. */
  putCustomer(id: string, record: CustomerRecord): Answer<void>;

  /** Tells of every change, whoever made it, from a first `reset` of both lists on. Answers how to stop. */
  watch(watcher: DirectoryWatcher): () => void;
  close?(): Answer<void>;
}

export interface DirectoryWatcher {
  /** The list is exactly this now. */
  reset(list: ListName, entries: readonly ListEntry[]): void;
  listed(list: ListName, entry: ListEntry): void;
  /** The entry is gone that was listed in this spelling. */
  unlisted(list: ListName, address: string): void;
  /** Forget what you know of this customer, or of all when none is named. */
  customerChanged(id?: string): void;
  /** The directory can not be read for now; what is known stays in force. */
  failed(error: unknown): void;
}

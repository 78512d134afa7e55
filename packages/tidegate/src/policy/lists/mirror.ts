import type { Clock } from "../../clock.js";
import type { Directory, DirectoryWatcher, ListEntry, ListName } from "../../directory.js";
import { shown, TidegateError } from "../../errors.js";
import type { Warning } from "../../gate.js";
import type { Answer } from "../../store.js";
import type { Customer } from "../customer.js";
import type { Warner } from "../events.js";
import { type Address, parseBlock } from "../identity/address.js";
import { addressSet } from "./address-set.js";
import { knownCustomers } from "./known-customers.js";

/**
 * A directory's lists wholly, and its customers as they come, kept in this process and in step. Whoever changes the
 * directory from here may tell the mirror so at once, and needs not wait for the directory to do so.
 */
export interface Mirror extends Pick<DirectoryWatcher, "listed" | "unlisted" | "customerChanged"> {
  /** The entry in force now, or at this time of the clock. */
  find(list: ListName, address: Address, at?: number): ListEntry | undefined;
  /** Answers at once when known now, or at this time of the clock. Undefined: out of reach for now. */
  customer(id: string, at?: number): Answer<Customer | undefined>;
  /** How the directory writes what is listed of this address or block. */
  spellings(list: ListName, address: string): string[];
  /** Entries mirrored, of which some may have ended. */
  size(list: ListName): number;
  /** Grows whenever a list changes. */
  readonly version: number;
  /** Resolves when both lists are there, or the mirror is closed. */
  readonly ready: Promise<void>;
  close(): void;
}

export interface MirrorOptions extends Warner {
  readonly now: Clock;
  /** Beyond these, those not asked for lately are forgotten, and read again when they come back. Default 100,000. */
  readonly maxCustomers?: number;
  /** How long the first sight of a customer waits for the directory. Default 100. */
  readonly deadlineMs?: number;
}

export function mirrorOf(directory: Directory, options: MirrorOptions): Mirror {
  const { now, warn, warnAgain, maxCustomers = 100_000, deadlineMs = 100 } = options;
  const lists = { safelist: addressSet(), blocklist: addressSet() };
  const missing = new Set<ListName>(["safelist", "blocklist"]);
  const ofLists = outage(warnAgain, "Lists can not be read; those known stay in force.");
  const ofCustomers = outage(
    seldom(warnAgain, now),
    "Customers can not be read; new ones get the default tier for now.",
  );
  const customers = knownCustomers(directory, {
    now,
    maxCustomers,
    deadlineMs,
    onFailed: ofCustomers.begins,
    onRead: ofCustomers.ends,
  });
  let isToldOfAddress = false;
  let resolveReady: () => void;
  const ready = new Promise<void>((resolve) => {
    resolveReady = resolve;
  });

  function listed(list: ListName, entry: ListEntry): void {
    mirror.version++;
    const block = parseBlock(entry.address);
    if (block !== undefined) {
      if (block.prefix === 0) warn(listsEveryone(list, entry));
      lists[list].add(block, entry, now());
    } else if (!isToldOfAddress) {
      isToldOfAddress = true;
      warn(unreadable(list, entry));
    }
  }

  function unlisted(list: ListName, address: string): void {
    mirror.version++;
    const block = parseBlock(address);
    if (block !== undefined) lists[list].remove(block, address);
  }

  function spellings(list: ListName, address: string): string[] {
    const block = parseBlock(address);
    return block === undefined ? [] : lists[list].spellings(block);
  }

  const mirror = {
    // No getter: every request asks.
    version: 0,
    find: (list: ListName, address: Address, at = now()) => lists[list].find(address, at),
    customer: (id: string, at = now()) => customers.get(id, at),
    listed,
    unlisted,
    spellings,
    customerChanged: customers.forget,
    size: (list: ListName) => lists[list].size,
    ready,
    close() {
      stop();
      resolveReady();
    },
  };
  const stop = directory.watch({
    reset(list, entries) {
      mirror.version++;
      lists[list].clear();
      for (const entry of entries) listed(list, entry);
      ofLists.ends();
      if (missing.delete(list) && missing.size === 0) resolveReady();
    },
    listed,
    unlisted,
    customerChanged: customers.forget,
    failed(error) {
      if (error instanceof TidegateError && noOutages.has(error.code)) warn(inItsWords(error));
      else ofLists.begins(error);
    },
  });

  return mirror;
}

/** Warns when it begins, once, until it has ended. */
function outage(
  warn: (warning: Warning) => void,
  what: string,
): { begins(error: unknown): void; ends(): void } {
  let isOut = false;
  return {
    begins(error) {
      if (isOut) return;
      isOut = true;
      const why = error instanceof Error ? error.message : shown(error);
      warn({
        code: "TG_DIRECTORY_UNREACHABLE",
        message: `${what} ${why}`,
        help: "See that the directory answers; it is asked again by itself.",
      });
    },
    ends() {
      isOut = false;
    },
  };
}

/** Reads come and fail side by side, so that an outage of some may end and begin many times a second. */
function seldom(warn: (warning: Warning) => void, now: Clock): (warning: Warning) => void {
  let warnedAt: number | undefined;
  return (warning) => {
    if (warnedAt !== undefined && Math.abs(now() - warnedAt) < aMinute) return;
    warnedAt = now();
    warn(warning);
  };
}

const aMinute = 60_000;

/** What a directory tells of itself while it can be read. */
const noOutages: ReadonlySet<string> = new Set(["TG_DIRECTORY_POLLING", "TG_DIRECTORY_RECORD"]);

function inItsWords({ code, message, help }: TidegateError): Warning {
  return { code, message: message.replace(` ${help} [${code}]`, ""), help };
}

function listsEveryone(list: ListName, { address }: ListEntry): Warning {
  return {
    code: "TG_LIST_EVERYONE",
    message: `The ${list} names ${shown(address)}, which is everyone, and it holds.`,
    help: "Remove it, unless it is meant.",
  };
}

function unreadable(list: ListName, { address }: ListEntry): Warning {
  return {
    code: "TG_LIST_ADDRESS",
    message: `The ${list} names ${shown(address)}, which is not an address or a block. It is ignored, and so are others like it.`,
    help: 'Remove it, or write e.g. "203.0.113.7", "10.0.0.0/8" or "2001:db8::/32".',
  };
}

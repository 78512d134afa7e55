import type { DirectoryWatcher, ListEntry, ListName } from "../../../directory.js";
import type { Named } from "./layout.js";
import type { RecordsInRedis } from "./records-in-redis.js";
import { backOffMs, pause } from "./timing.js";

/** Looks through all keys for entries no index names, and tells what it finds as it goes. */
export type Search = (found: (names: readonly Named[]) => void, signal: AbortSignal) => Promise<void>;

export const listNames: readonly ListName[] = ["safelist", "blocklist"];

/** So long a search may take before the lists are told without it. */
const searchFirstMs = 250;
/** After one that failed. */
const searchAgainMs = 1000;
/** Changed entries read in one breath. */
const portion = 512;

/**
 * What Redis holds of the lists, kept up by reading again whatever is said to have changed, and told to a watcher.
 * There is one reader, so what is told later was read later.
 */
export class Mirror {
  readonly #records: RecordsInRedis;
  readonly #searchAll: Search;
  readonly #watcher: DirectoryWatcher;
  readonly #onWhole: () => void;
  readonly #known = { safelist: new Map<string, ListEntry>(), blocklist: new Map<string, ListEntry>() };
  readonly #changed = { safelist: new Set<string>(), blocklist: new Set<string>() };
  readonly #stopping = new AbortController();
  #searching = new AbortController();
  #search: Promise<void> | undefined;
  #isSearchWanted = false;
  #isResyncWanted = false;
  #isReading = false;
  #isFailing = false;
  #isSearched = false;
  /** Lists that were told whole. */
  readonly #isTold = new Set<ListName>();

  /** `onWhole` is called whenever all there is has been told. */
  constructor(records: RecordsInRedis, search: Search, watcher: DirectoryWatcher, onWhole: () => void) {
    this.#records = records;
    this.#searchAll = search;
    this.#watcher = watcher;
    this.#onWhole = onWhole;
  }

  /** What is known of a list, or nothing before it was first read. */
  known(list: ListName): ReadonlyMap<string, ListEntry> | undefined {
    return this.#isTold.has(list) ? this.#known[list] : undefined;
  }

  /** Everything may have changed. */
  resync(): void {
    this.#isSearchWanted = true;
    this.look();
  }

  /** Nobody tells of changes, so everything is read again. A search under way goes on: it may take longer than from one look to the next. */
  look(): void {
    this.#isResyncWanted = true;
    this.#wake();
  }

  /** These may have changed. */
  changed(names: readonly Named[]): void {
    for (const name of names) {
      if ("list" in name) this.#changed[name.list].add(name.address);
      else this.#watcher.customerChanged(name.customer);
    }
    this.#wake();
  }

  /** This process wrote it. The push that follows has it read again. */
  wrote(list: ListName, address: string, entry: ListEntry | undefined): void {
    if (this.#isTold.has(list)) this.#tell(list, address, entry);
  }

  stop(): void {
    this.#stopping.abort();
    this.#searching.abort();
  }

  #wake(): void {
    if (!this.#isReading) void this.#read();
  }

  async #read(): Promise<void> {
    const { signal } = this.#stopping;
    this.#isReading = true;
    let tries = 0;
    while (this.#isBehind() && !signal.aborted) {
      try {
        await (this.#isResyncWanted ? this.#readAll() : this.#readChanged());
        tries = 0;
        this.#isFailing = false;
      } catch (error) {
        this.#fail(error);
        await pause(backOffMs(++tries), signal);
      }
    }
    this.#isReading = false;
    if (this.#isSearched) this.#onWhole();
  }

  #isBehind(): boolean {
    return this.#isResyncWanted || listNames.some((list) => this.#changed[list].size > 0);
  }

  #fail(error: unknown): void {
    if (!this.#isFailing && !this.#stopping.signal.aborted) this.#watcher.failed(error);
    this.#isFailing = true;
  }

  /** What the index names and what was known is told first; what only a search finds follows, unless the search was quick. */
  async #readAll(): Promise<void> {
    this.#isResyncWanted = false;
    if (this.#isSearchWanted || this.#isSearched) this.#search = this.#searchAnew();
    try {
      await Promise.race([this.#search, pause(searchFirstMs, this.#stopping.signal)]);
      for (const list of listNames) await this.#readList(list);
    } catch (error) {
      this.#isResyncWanted = true;
      throw error;
    }
    if (!this.#stopping.signal.aborted) this.#watcher.customerChanged();
  }

  async #searchAnew(): Promise<void> {
    this.#searching.abort();
    this.#searching = new AbortController();
    this.#isSearchWanted = false;
    this.#isSearched = false;
    const { signal } = this.#searching;
    try {
      await this.#searchAll((names) => this.changed(names.filter((name) => this.#isNews(name))), signal);
      this.#isSearched = !signal.aborted;
      this.#wake();
    } catch (error) {
      if (signal.aborted) return;
      this.#fail(error);
      void pause(searchAgainMs, signal).then(() => !signal.aborted && this.resync());
    }
  }

  #isNews(name: Named): boolean {
    return "list" in name && !this.#known[name.list].has(name.address);
  }

  async #readList(list: ListName): Promise<void> {
    const known = this.#known[list];
    const changed = this.#take(list, Number.POSITIVE_INFINITY);
    try {
      const indexed = new Set(await this.#records.indexed(list));
      const addresses = new Set([...indexed, ...known.keys(), ...changed]);
      const read = await this.#records.entries(list, [...addresses]);
      if (this.#stopping.signal.aborted) return;
      const entries = read.filter((entry) => entry !== undefined);
      known.clear();
      for (const entry of entries) known.set(entry.address, entry);
      const missing = [...known.keys()].filter((address) => !indexed.has(address));
      const gone = [...indexed].filter((address) => !known.has(address));
      this.#mendIndex(list, missing, gone);
      // Whoever comes while the other list is still read is told of this one.
      this.#isTold.add(list);
      this.#watcher.reset(list, entries);
    } catch (error) {
      for (const address of changed) this.#changed[list].add(address);
      throw error;
    }
  }

  async #readChanged(): Promise<void> {
    for (const list of listNames) {
      const addresses = this.#take(list, portion);
      try {
        const entries = await this.#records.entries(list, addresses);
        if (this.#stopping.signal.aborted) return;
        this.#learn(list, addresses, entries);
      } catch (error) {
        for (const address of addresses) this.#changed[list].add(address);
        throw error;
      }
    }
  }

  /** Takes some of what changed; it counts as changed again only when it does so from now on. */
  #take(list: ListName, most: number): string[] {
    const changed = this.#changed[list];
    const taken: string[] = [];
    for (const address of changed) {
      if (taken.length >= most) break;
      taken.push(address);
      changed.delete(address);
    }
    return taken;
  }

  #learn(list: ListName, addresses: readonly string[], entries: readonly (ListEntry | undefined)[]): void {
    const known = this.#known[list];
    const before = addresses.map((address) => known.has(address));
    for (const [i, address] of addresses.entries()) this.#tell(list, address, entries[i]);
    const came = addresses.filter((address, i) => !before[i] && known.has(address));
    const went = addresses.filter((address, i) => before[i] && !known.has(address));
    this.#mendIndex(list, came, went);
  }

  #tell(list: ListName, address: string, entry: ListEntry | undefined): void {
    if (entry !== undefined) {
      this.#known[list].set(address, entry);
      this.#watcher.listed(list, entry);
    } else if (this.#known[list].delete(address)) {
      this.#watcher.unlisted(list, address);
    }
  }

  /** Whoever reads a list leaves its index right. It only saves time, since a search finds what it lacks: failing here harms nobody. */
  #mendIndex(list: ListName, missing: readonly string[], gone: readonly string[]): void {
    this.#records.addToIndex(list, missing).catch(() => {});
    this.#records.dropFromIndex(list, gone).catch(() => {});
  }
}

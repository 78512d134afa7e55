import type { Clock } from "tidegate";
import {
  activeVersion,
  type DictionaryState,
  dictionaryIds,
  type Items,
  readDictionary,
} from "./dictionaries.js";
import { type FastlyClient, notSetUp, unreached } from "./fastly-client.js";
import { forEach } from "./for-each.js";

/** What stands in the edge's dictionaries, as it was last read or written. */
export interface FastlyTables {
  readonly names: readonly string[];
  /** Reads these again; those in which nothing has changed cost one small question each. */
  read(names: readonly string[], signal: AbortSignal): Promise<void>;
  /** Reads those of which nothing was heard within ten seconds. */
  ensure(names: readonly string[], signal: AbortSignal): Promise<void>;
  items(name: string): Items;
  /** In the order of `names`. Others than before: the dictionaries are others. */
  ids(): readonly string[];
  /** Runs a write to one. When its end is unknown, so is what stands there. */
  writing<T>(name: string, write: (id: string) => Promise<T>): Promise<T>;
}

const locatedMs = 60_000;
const freshMs = 10_000;

export function fastlyTables(options: {
  readonly client: FastlyClient;
  readonly names: readonly string[];
  readonly clock: Clock;
}): FastlyTables {
  const { client, names, clock } = options;
  const known = new Map<string, { state: DictionaryState; readAt: number }>();
  let located: { version: number; ids: ReadonlyMap<string, string>; at: number } | undefined;

  /** Which dictionaries the version that serves has. Asked once a minute: another version may be activated. */
  async function locate(signal: AbortSignal): Promise<{ version: number; ids: ReadonlyMap<string, string> }> {
    if (located !== undefined && clock() - located.at < locatedMs) return located;
    const version = await activeVersion(client, signal);
    const found = await dictionaryIds(client, version, signal);
    const missing = names.filter((name) => !found.has(name));
    if (missing.length > 0)
      throw notSetUp(
        client.edge,
        `version ${version} of the service has no dictionary ${missing.join(", ")}.`,
      );
    for (const name of names) if (located?.ids.get(name) !== found.get(name)) known.delete(name);
    located = { version, ids: found, at: clock() };
    return located;
  }

  async function read(wanted: readonly string[], signal: AbortSignal): Promise<void> {
    try {
      const { version, ids } = await locate(signal);
      await forEach(wanted, async (name) => {
        const place = { version, id: ids.get(name) as string };
        const state = await readDictionary(client, place, known.get(name)?.state, signal);
        known.set(name, { state, readAt: clock() });
      });
    } catch (error) {
      located = undefined;
      throw error;
    }
  }

  return {
    names,
    read,
    async ensure(wanted, signal) {
      const since = clock() - freshMs;
      const stale = wanted.filter((name) => located === undefined || (known.get(name)?.readAt ?? 0) < since);
      if (stale.length > 0) await read(stale, signal);
    },
    items(name) {
      return known.get(name)?.state.items ?? new Map();
    },
    ids: () => names.map((name) => located?.ids.get(name) ?? ""),
    async writing(name, write) {
      const { state } = known.get(name) as { state: DictionaryState };
      const id = located?.ids.get(name);
      if (id === undefined) throw unreached(client.edge, "something failed meanwhile: nothing was sent.");
      // Fastly's stamp is another one after a write: it is listed again when next asked for.
      known.set(name, { state: { items: state.items, stamp: "" }, readAt: known.get(name)?.readAt ?? 0 });
      try {
        return await write(id);
      } catch (error) {
        known.delete(name);
        located = undefined;
        throw error;
      }
    },
  };
}

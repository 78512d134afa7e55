import type { Clock } from "tidegate";
import { type Edge, type EdgeMode, isEdgeKey } from "../../edge.js";
import type { MemoryEdgeSettings } from "../../settings.js";

/** What the edge itself holds; a real one holds it in another process. */
export interface MemoryTable {
  /** Ours are edge keys with an end in whole seconds, in digits. Anything else is somebody else's. */
  readonly items: Map<string, string>;
  /** Kept beside the entries, never among them. */
  mode: EdgeMode | undefined;
  /** Another one after every loss. */
  epoch: string;
}

export interface MemoryEdgeOptions extends Pick<MemoryEdgeSettings, "maxEntries"> {
  readonly name: string;
  /** Default one of its own. */
  readonly table?: MemoryTable;
}

export function memoryTable(): MemoryTable {
  return { items: new Map(), mode: undefined, epoch: String(Math.random()) };
}

/** An edge in this process, which refuses nobody: for tests, and to read before writing another one. */
export function memoryEdge(options: MemoryEdgeOptions, clock: Clock = Date.now): Edge {
  const { name, maxEntries, table = memoryTable() } = options;
  const { items } = table;

  return {
    name,
    abilities: { takes: isEdgeKey, maxEntries, maxBatch: 1_000, isListable: true, delayMs: 0 },

    async current(_asked, signal) {
      signal.throwIfAborted();
      const now = clock();
      const ours = [...items].filter(isOurs);
      const standing = ours.map(([key, end]) => [key, Number(end) * 1_000] as const);
      return {
        entries: new Map(standing.filter(([, until]) => until > now)),
        foreign: items.size - ours.length,
        epoch: table.epoch,
        ...(table.mode && { mode: table.mode }),
      };
    },

    async apply({ remove, put }, signal) {
      signal.throwIfAborted();
      for (const key of remove) if (isFree(key)) items.delete(key);
      const refused: { key: string; why: string }[] = [];
      for (const { key, until } of put) {
        if (!isEdgeKey(key)) refused.push({ key, why: "neither an address nor a digest" });
        else if (!isFree(key)) refused.push({ key, why: "somebody else's entry stands there" });
        else items.set(key, String(Math.ceil(until / 1_000)));
      }
      return { refused, left: [] };
    },

    async setMode(mode, signal) {
      signal.throwIfAborted();
      table.mode = mode;
    },

    async close() {},
  };

  /** Nothing stands there, or something of ours. */
  function isFree(key: string): boolean {
    const value = items.get(key);
    return value === undefined || isOurs([key, value]);
  }
}

function isOurs([key, value]: readonly [key: string, value: string]): boolean {
  return isEdgeKey(key) && /^\d+$/.test(value);
}

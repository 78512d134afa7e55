import type { Clock } from "tidegate";
import { type Edge, EdgeError, problemWords, type RefusedKey } from "../../edge.js";
import type { HaproxyEdgeSettings } from "../../settings.js";
import { openFileKeeper } from "./file-keeper.js";
import { openHeldMap } from "./held-map.js";
import { keepFile } from "./map-file.js";
import { isMapFolder, mapOf, mapPaths } from "./maps.js";
import { readModeMap, writeMode } from "./mode-map.js";
import { lastOf, type MapContent } from "./read-map.js";
import { openRuntimeApi, type RuntimeApi } from "./runtime-api.js";

export interface HaproxyEdgeOptions extends HaproxyEdgeSettings {
  readonly name: string;
}

/** A file is written within this, or later. */
const keepWithinMs = 5_000;

const heldMaps = ["digests", "addresses"] as const;

/** HAProxy's maps, over its runtime API. A value is the second at which an entry ends. */
export function haproxyEdge(options: HaproxyEdgeOptions, clock: Clock = Date.now): Edge {
  const { name: edge, socket, maps, keepsFiles, maxEntries } = options;
  if (!isMapFolder(maps)) throw notAFolder(edge, maps);
  const paths = mapPaths(maps);
  const digests = openHeldMap({ edge, path: paths.digests, clock });
  const addresses = openHeldMap({ edge, path: paths.addresses, clock });
  const held = { digests, addresses };
  let turn: Promise<unknown> = Promise.resolve();
  const files = keepsFiles
    ? openFileKeeper({ keep: () => changing(AbortSignal.timeout(keepWithinMs), keepFiles) })
    : undefined;

  return {
    name: edge,
    abilities: {
      takes: (key) => mapOf(key) !== undefined,
      maxEntries,
      maxBatch: 10_000,
      isListable: true,
      delayMs: 0,
    },

    current: (_asked, signal) =>
      connected(signal, async (api) => {
        files?.retry();
        const contents = [await digests.read(api), await addresses.read(api)] as const;
        const { epoch, mode } = await readModeMap({ api, edge, path: paths.mode });
        if (addresses.hidesBlocks(contents[1])) {
          await changing(signal, addresses.sweep);
          files?.changed();
        }
        return {
          entries: new Map(contents.flatMap((content) => [...standing(content)])),
          foreign: contents.reduce((sum, { foreign }) => sum + foreign.length, 0),
          epoch,
          ...(mode && { mode }),
        };
      }),

    apply: ({ remove, put }, signal) =>
      changing(signal, async (api) => {
        const refused: RefusedKey[] = put
          .filter(({ key }) => mapOf(key) === undefined)
          .map(({ key }) => ({ key, why: "neither an address nor a digest" }));
        for (const map of heldMaps) {
          const changes = {
            remove: remove.filter((key) => mapOf(key) === map),
            put: put.filter(({ key }) => mapOf(key) === map),
          };
          if (changes.remove.length + changes.put.length > 0)
            refused.push(...(await held[map].apply(api, changes)));
        }
        files?.changed();
        return { refused, left: [] };
      }),

    setMode: (mode, signal) =>
      changing(signal, async (api) => {
        await writeMode({ api, edge, path: paths.mode }, mode);
        files?.changed();
      }),

    problem() {
      const found = files?.problem();
      // HAProxy itself is looked at by whoever reads it.
      return found instanceof EdgeError && found.code === "TG_EDGE_FILE"
        ? problemWords(found, edge)
        : undefined;
    },

    async close() {
      await files?.close();
      await turn;
    },
  };

  async function keepFiles(api: RuntimeApi): Promise<void> {
    for (const map of heldMaps) await held[map].keepFile(api);
    const { mode: path } = paths;
    const { mode } = await readModeMap({ api, edge, path });
    const isOurs = ({ key }: { readonly key: string }) => key === "mode";
    await keepFile({ edge, path, isOurs, lines: mode === undefined ? [] : [["mode", mode]] });
  }

  /** A key that stands there twice is told as about to end: so it is put again or removed, and then stands there once or not at all. */
  function* standing({ ours }: MapContent): Generator<[string, number]> {
    const now = clock();
    for (const [key, ends] of ours) {
      const until = lastOf(ends) * 1_000;
      if (until > now) yield [key, ends.length === 1 ? until : now + 1];
    }
  }

  async function connected<Result>(
    signal: AbortSignal,
    work: (api: RuntimeApi) => Promise<Result>,
  ): Promise<Result> {
    const api = await openRuntimeApi({ edge, socket }, signal);
    try {
      return await work(api);
    } finally {
      api.close();
    }
  }

  /** What changes a map looks at it first: never two at once. */
  function changing<Result>(
    signal: AbortSignal,
    work: (api: RuntimeApi) => Promise<Result>,
  ): Promise<Result> {
    const mine = turn.then(() => connected(signal, work));
    turn = mine.catch(() => {});
    return mine;
  }
}

function notAFolder(edge: string, maps: string): EdgeError {
  return new EdgeError(
    "TG_EDGE_SETUP",
    edge,
    `${JSON.stringify(maps)} is not a folder of maps.`,
    "Write it whole, as HAProxy's configuration names it: /etc/haproxy/tidegate.",
    false,
  );
}

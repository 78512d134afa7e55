import type { Clock } from "tidegate";
import type { EdgeChanges, RefusedKey } from "../../edge.js";
import { changeFew } from "./change-few.js";
import { changeMap, type MapPlace } from "./change-map.js";
import { keepFile } from "./map-file.js";
import { isOurs, lastOf, type MapContent, readLines, sortLines } from "./read-map.js";
import type { RuntimeApi } from "./runtime-api.js";

/** One map of who is held. */
export interface HeldMap {
  read(api: RuntimeApi): Promise<MapContent>;
  /** Whether an entry that has ended may hide a wider block: HAProxy finds the smallest. */
  hidesBlocks(content: MapContent): boolean;
  /** Removes ours that have ended. Never called at once with another, or `apply`. */
  sweep(api: RuntimeApi): Promise<void>;
  /** All keys are such as this map knows clients by. Never called twice at once. */
  apply(api: RuntimeApi, changes: EdgeChanges): Promise<RefusedKey[]>;
  /** Writes the map's file as the map is now. */
  keepFile(api: RuntimeApi): Promise<void>;
}

export interface HeldMapOptions {
  readonly edge: string;
  readonly path: string;
  readonly clock: Clock;
}

/** Up to so many changes are made key by key: reading ten thousand entries takes longer. */
const mostFew = 400;
/** Entries that have ended and hide nothing harm nobody: so many may stay until they are swept away together. */
const mostEnded = 500;

export function openHeldMap({ edge, path, clock }: HeldMapOptions): HeldMap {
  /** When the whole map was last read; undefined: never. */
  let last: { readonly doubled: ReadonlySet<string>; readonly ended: number } | undefined;

  return {
    read,
    apply,
    hidesBlocks({ ours, foreignKeys }) {
      const entries = [...ours].map(([key, ends]): [string, number] => [key, lastOf(ends)]);
      const hasBlock =
        [...foreignKeys].some(isBlock) || entries.some((each) => isBlock(each[0]) && isToCome(each));
      return hasBlock && !entries.every(isToCome);
    },
    async sweep(api) {
      await changeAll({ api, edge, path }, [], new Map());
    },
    keepFile: async (api) => keepFile({ edge, path, isOurs, lines: standing(await read(api)) }),
  };

  async function read(api: RuntimeApi): Promise<MapContent> {
    const content = sortLines(await readLines(api, edge, path));
    const doubled = new Set<string>();
    let ended = 0;
    for (const [key, ends] of content.ours) {
      if (ends.length > 1) doubled.add(key);
      if (!isToCome([key, lastOf(ends)])) ended++;
    }
    last = { doubled, ended };
    return content;
  }

  async function apply(api: RuntimeApi, { remove, put }: EdgeChanges): Promise<RefusedKey[]> {
    const ends = new Map(put.map(({ key, until }) => [key, Math.ceil(until / 1_000)]));
    const come = new Map([...ends].filter(isToCome));
    const gone = [...remove, ...ends.keys()].filter((key) => !come.has(key));
    const place = { api, edge, path };
    const few = isForFew([...gone, ...come.keys()]) && (await changeFew(place, { remove: gone, put: come }));
    const foreign = few || (await changeAll(place, gone, come));
    return [...foreign].map((key) => ({ key, why: "somebody else's entry stands there" }));
  }

  /** Answers which of those to come are others'. */
  async function changeAll(
    place: MapPlace,
    gone: readonly string[],
    come: ReadonlyMap<string, number>,
  ): Promise<Set<string>> {
    const content = await read(place.api);
    const foreign = new Set([...come.keys()].filter((key) => content.foreignKeys.has(key)));
    const wished = standing(content);
    for (const key of gone) wished.delete(key);
    for (const [key, end] of come) if (!foreign.has(key)) wished.set(key, end);
    await changeMap({ ...place, content, wished });
    last = { doubled: new Set(), ended: 0 };
    return foreign;
  }

  function isForFew(keys: readonly string[]): boolean {
    if (last === undefined || last.ended > mostEnded || keys.length > mostFew) return false;
    const { doubled } = last;
    return !keys.some((key) => isBlock(key) || doubled.has(key));
  }

  function isBlock(key: string): boolean {
    return key.includes("/");
  }

  /** Ours that have not ended; of a key that stands there twice the longest. */
  function standing({ ours }: MapContent): Map<string, number> {
    const found = new Map<string, number>();
    for (const [key, ends] of ours) if (isToCome([key, lastOf(ends)])) found.set(key, lastOf(ends));
    return found;
  }

  function isToCome([, end]: readonly [string, number]): boolean {
    return end * 1_000 > clock();
  }
}

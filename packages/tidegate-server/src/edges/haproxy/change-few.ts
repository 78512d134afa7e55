import { forget, type MapPlace } from "./change-map.js";
import { isOurs, type MapLine } from "./read-map.js";

export interface FewChanges {
  readonly remove: readonly string[];
  /** Key to its end in seconds. */
  readonly put: ReadonlyMap<string, number>;
}

/**
 * Changes a few keys without reading the whole map. A block can not be asked for by itself, and of a key that stands there twice only one is
 * seen: those are for `changeMap`. Answers keys of others, which stay as they are.
 */
export async function changeFew(place: MapPlace, { remove, put }: FewChanges): Promise<Set<string>> {
  const { api, path } = place;
  const foreign = new Set<string>();
  for (const key of remove) {
    const found = await find(place, key);
    if (found && isOurs(found)) await forget(key, place);
  }
  for (const [key, end] of put) {
    const found = await find(place, key);
    if (found === undefined) await api.tell(`add map ${path} ${key} ${end}`);
    else if (!isOurs(found)) foreign.add(key);
    else if (found.value !== String(end)) await api.tell(`set map ${path} ${key} ${end}`);
  }
  return foreign;
}

/** The line of this very key. HAProxy finds the smallest block that holds an address: the address itself before all others. */
async function find({ api, path }: MapPlace, key: string): Promise<MapLine | undefined> {
  const answer = await api.ask(`get map ${path} ${key}`);
  const [, found, value] = / key="(.*?)", value="(.*)", type="/.exec(answer) ?? [];
  return found === key && value !== undefined ? { key, value } : undefined;
}

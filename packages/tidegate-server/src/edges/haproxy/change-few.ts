import { type MapPlace, mostSingly } from "./change-map.js";
import { isOurs, type MapLine } from "./read-map.js";
import { refused } from "./runtime-api.js";

export interface FewChanges {
  readonly remove: readonly string[];
  /** Key to its end in seconds. */
  readonly put: ReadonlyMap<string, number>;
}

/**
 * Changes a few keys without reading the whole map. A block can not be asked for by itself, and of a key that stands there twice only one is
 * seen: those are for `changeMap`, and so are many keys that stand there already. Answers keys of others, which stay as they are; or undefined,
 * and nothing was changed.
 */
export async function changeFew(
  place: MapPlace,
  { remove, put }: FewChanges,
): Promise<Set<string> | undefined> {
  const { api, edge, path } = place;
  const keys = [...new Set([...remove, ...put.keys()])];
  const answers = await api.askAll(keys.map((key) => `get map ${path} ${key}`));
  const found = new Map(keys.map((key, i) => [key, lineIn(answers[i] ?? "", key)]));
  const foreign = new Set<string>();
  const commands: string[] = [];
  for (const key of remove) {
    const line = found.get(key);
    if (line && isOurs(line) && !put.has(key)) commands.push(`del map ${path} ${key}`);
  }
  for (const [key, end] of put) {
    const line = found.get(key);
    if (line === undefined) commands.push(`add map ${path} ${key} ${end}`);
    else if (!isOurs(line)) foreign.add(key);
    else if (line.value !== String(end)) commands.push(`set map ${path} ${key} ${end}`);
  }
  if (commands.filter((command) => !command.startsWith("add ")).length > mostSingly) return undefined;
  const said = await api.askAll(commands);
  // Somebody may have been quicker to delete.
  const wrong = said.findIndex((answer) => !/^(?:Key not found\.)?\s*$/.test(answer));
  if (wrong >= 0) throw refused(edge, commands[wrong] as string, said[wrong] as string);
  return foreign;
}

/** The line of this very key. HAProxy finds the smallest block that holds an address: the address itself before all others. */
function lineIn(answer: string, key: string): MapLine | undefined {
  const [, found, value] = / key="(.*?)", value="(.*)", type="/.exec(answer) ?? [];
  return found === key && value !== undefined ? { key, value } : undefined;
}

import { type MapContent, parseLines, sortLines } from "./read-map.js";
import { type RuntimeApi, refused } from "./runtime-api.js";

/** Below HAProxy's `tune.bufsize` (16 kB), beyond which it breaks the connection. */
const chunkBytes = 11_500;
/** HAProxy looks through the whole map for each: for more it is quicker to hand it over anew. */
export const mostSingly = 128;

/** Key to its end in seconds: what is to stand there of ours, and nothing else of ours. */
export type Wished = ReadonlyMap<string, number>;

export interface MapPlace {
  readonly api: RuntimeApi;
  readonly edge: string;
  readonly path: string;
}

export interface ChangeMapOptions extends MapPlace {
  readonly content: MapContent;
  readonly wished: Wished;
}

/** Makes what stands there of ours what is wished, each key once. What others put there stays. */
export async function changeMap(options: ChangeMapOptions): Promise<void> {
  const { api, path, content, wished } = options;
  const { ours, foreign } = content;
  const gone = [...ours.keys()].filter((key) => !wished.has(key));
  const doubled = [...ours.keys()].filter((key) => wished.has(key) && ours.get(key)?.length !== 1);
  const moved = [...wished].filter(([key, end]) => ours.get(key)?.length === 1 && ours.get(key)?.[0] !== end);
  const added = [...wished].filter(([key]) => !ours.has(key));

  const isMuch = doubled.length > 0 || gone.length + moved.length > mostSingly;
  if (isMuch && foreign.every(canBeCarried)) return replaceMap(options);

  for (const key of [...gone, ...doubled]) await forget(key, options);
  for (const [key, end] of moved) await api.tell(`set map ${path} ${key} ${end}`);
  const again = doubled.map((key): [string, number] => [key, wished.get(key) as number]);
  await addLines(api, path, [...added, ...again].map(lineOf));
}

/** A new version beside the old one, then one for the other: no request meets a map half filled. */
async function replaceMap({ api, edge, path, content, wished }: ChangeMapOptions): Promise<void> {
  const { foreign } = content;
  const prepared = await api.ask(`prepare map ${path}`);
  const version = /^New version created: (\d+)/.exec(prepared)?.[1];
  if (version === undefined) throw refused(edge, `prepare map ${path}`, prepared);
  await addLines(api, `@${version} ${path}`, [...foreign, ...[...wished].map(lineOf)]);

  const commit = `commit map @${version} ${path}`;
  const [last = "", answer = ""] = await api.askAll([`show map ${path}`, commit]);
  if (answer !== "") throw refused(edge, commit, answer);
  await catchUp(sortLines(parseLines(last, edge, path)).foreign);

  /** What others wrote while the new version was being filled went to the old one. */
  async function catchUp(meant: readonly string[]): Promise<void> {
    const carried = byKey(foreign);
    const wanted = byKey(meant.filter(canBeCarried));
    for (const key of new Set([...carried.keys(), ...wanted.keys()])) {
      const lines = wanted.get(key) ?? [];
      if (isSame(lines, carried.get(key) ?? [])) continue;
      await forget(key, { api, edge, path });
      await addLines(api, path, lines);
    }
  }
}

/** Somebody may have been quicker. */
async function forget(key: string, { api, edge, path }: MapPlace): Promise<void> {
  const command = `del map ${path} ${key}`;
  const answer = await api.ask(command);
  if (!/^(?:Key not found\.)?\s*$/.test(answer)) throw refused(edge, command, answer);
}

async function addLines(api: RuntimeApi, map: string, lines: readonly string[]): Promise<void> {
  let chunk: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    if (bytes + line.length + 1 > chunkBytes) {
      await api.tell(`add map ${map}`, chunk);
      chunk = [];
      bytes = 0;
    }
    chunk.push(line);
    bytes += line.length + 1;
  }
  if (chunk.length > 0) await api.tell(`add map ${map}`, chunk);
}

function lineOf([key, end]: readonly [string, number]): string {
  return `${key} ${end}`;
}

/** Two plain words read the same when they are handed over again; of anything else that is not known. */
function canBeCarried(line: string): boolean {
  return /^[\w.:/@%+=-]{1,1000} [^\s\\;<]{1,1000}$/.test(line);
}

function byKey(lines: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of lines) {
    const key = line.slice(0, line.indexOf(" "));
    found.set(key, [...(found.get(key) ?? []), line]);
  }
  return found;
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((line, i) => line === others[i]);
}

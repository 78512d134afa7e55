import { isAddressKey, isDigestKey } from "../../edge.js";
import { type RuntimeApi, refused } from "./runtime-api.js";

/** What stands in one map. */
export interface MapContent {
  /** Key to its end in seconds; of a key that stands there more than once, all of them. */
  readonly ours: ReadonlyMap<string, readonly number[]>;
  /** Lines of somebody else's, `<key> <value>`: whatever stands under such a key is not ours. */
  readonly foreign: readonly string[];
  readonly foreignKeys: ReadonlySet<string>;
}

export interface MapLine {
  readonly key: string;
  readonly value: string;
}

/** All lines of a map, in the order HAProxy keeps them. */
export async function readLines(api: RuntimeApi, edge: string, path: string): Promise<MapLine[]> {
  return parseLines(await api.ask(`show map ${path}`), edge, path);
}

/** What `show map` answers. */
export function parseLines(answer: string, edge: string, path: string): MapLine[] {
  const lines: MapLine[] = [];
  for (const line of answer.split("\n")) {
    if (line === "") continue;
    const start = line.indexOf(" ") + 1;
    if (start < 3 || !line.startsWith("0x")) throw refused(edge, `show map ${path}`, line);
    const end = line.indexOf(" ", start);
    lines.push(
      end < 0
        ? { key: line.slice(start), value: "" }
        : { key: line.slice(start, end), value: line.slice(end + 1) },
    );
  }
  return lines;
}

/** Ours are edge keys with an end in digits. */
export function isOurs({ key, value }: MapLine): boolean {
  return /^\d{1,12}$/.test(value) && (isDigestKey(key) || isAddressKey(key));
}

export function sortLines(lines: readonly MapLine[]): MapContent {
  const foreignKeys = new Set(lines.filter((line) => !isOurs(line)).map(({ key }) => key));
  const ours = new Map<string, number[]>();
  const foreign: string[] = [];
  for (const { key, value } of lines) {
    if (foreignKeys.has(key)) foreign.push(`${key} ${value}`);
    else if (!ours.has(key)) ours.set(key, [Number(value)]);
    else ours.get(key)?.push(Number(value));
  }
  return { ours, foreign, foreignKeys };
}

/** Of a key that stands there more than once, its longest end. */
export function lastOf(ends: readonly number[]): number {
  return ends.length === 1 ? (ends[0] as number) : Math.max(...ends);
}

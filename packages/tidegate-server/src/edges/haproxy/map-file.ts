import { chmod, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { EdgeError } from "../../edge.js";
import type { MapLine } from "./read-map.js";

export interface KeepFileOptions {
  readonly edge: string;
  readonly path: string;
  /** Which lines of the file are ours: they are replaced by these. */
  isOurs(line: MapLine): boolean;
  readonly lines: Iterable<readonly [key: string, value: string | number]>;
}

/** Writes what HAProxy reads when it starts. Lines of others stay as they are, and no reader meets half a file. */
export async function keepFile({ edge, path, isOurs, lines }: KeepFileOptions): Promise<void> {
  const fresh = `${path}.${process.pid}.new`;
  try {
    const found = (await readFile(path, "latin1")).split("\n").filter((line) => line !== "");
    const foreignKeys = new Set(found.map(parse).map((line) => line && !isOurs(line) && line.key));
    const kept = found.filter((line) => foreignKeys.has(parse(line)?.key));
    const ours = [...lines].filter(([key]) => !foreignKeys.has(key));
    const text = [...kept, ...ours.map(([key, value]) => `${key} ${value}`), ""].join("\n");
    const { mode } = await stat(path);
    await writeFile(fresh, text, { encoding: "latin1" });
    await chmod(fresh, mode);
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => {});
    throw new EdgeError(
      "TG_EDGE_FILE",
      edge,
      `${path} can not be kept: ${(error as Error).message}.`,
      "HAProxy knows of the change and will forget it when it is reloaded. Let Tidegate write to the folder of the maps and the files in it, or set `keepsFiles: false`.",
      true,
    );
  }
}

/** As HAProxy reads it; undefined of comments. */
function parse(line: string): MapLine | undefined {
  const [, key, value] = /^\s*([^\s#]\S*)\s*(.*?)\s*$/.exec(line) ?? [];
  return key === undefined || value === undefined ? undefined : { key, value };
}

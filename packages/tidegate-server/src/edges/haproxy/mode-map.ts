import { randomBytes } from "node:crypto";
import { type EdgeMode, edgeModes } from "../../edge.js";
import { readLines } from "./read-map.js";
import type { RuntimeApi } from "./runtime-api.js";

export interface ModeMapOptions {
  readonly api: RuntimeApi;
  readonly edge: string;
  readonly path: string;
}

/** What the edge knows of itself. */
export interface ModeContent {
  readonly mode?: EdgeMode;
  readonly epoch: string;
}

/**
 * The mode, and a mark that lives as long as this HAProxy process and stands in no file. Whoever finds none puts one there; of two put at
 * once the first holds for all.
 */
export async function readModeMap(options: ModeMapOptions): Promise<ModeContent> {
  const { api, edge, path } = options;
  let lines = await readLines(api, edge, path);
  if (!lines.some(({ key }) => key === "epoch")) {
    await api.tell(`add map ${path} epoch ${randomBytes(8).toString("hex")}`);
    lines = await readLines(api, edge, path);
  }
  const mark = lines.find(({ key }) => key === "epoch")?.value;
  const said = lines.find(({ key }) => key === "mode")?.value;
  const mode = edgeModes.find((each) => each === said);
  // Should somebody have saved the maps by himself, the process is still another one.
  const pid = /^Pid: (\d+)$/m.exec(await api.ask("show info"))?.[1];
  return { epoch: `${pid}-${mark}`, ...(mode && { mode }) };
}

export async function writeMode(options: ModeMapOptions, mode: EdgeMode): Promise<void> {
  const { api, edge, path } = options;
  const lines = await readLines(api, edge, path);
  const isThere = lines.some(({ key }) => key === "mode");
  await api.tell(`${isThere ? "set" : "add"} map ${path} mode ${mode}`);
}

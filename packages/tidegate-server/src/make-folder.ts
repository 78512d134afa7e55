import { existsSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** With the folders above it. Node's own way to do that never ends where a folder can hold none, as in /proc. */
export function makeFolder(path: string, mode?: number): void {
  const folder = resolve(path);
  if (existsSync(folder)) return;
  makeFolder(dirname(folder), mode);
  unlessThere(() => mkdirSync(folder, { mode }));
}

/** Another may have made it in the meantime. */
export function unlessThere(make: () => void): void {
  try {
    make();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

import { open, readFile, rename, rm, stat } from "node:fs/promises";

/** One character per byte, so that nothing is lost on the way back. Undefined: there is no such file. */
export async function readWhole(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "latin1");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Whoever reads sees the old file or the new one, never a part, even after the machine fails. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const mode = await stat(path).then(
    (found) => found.mode & 0o777,
    () => 0o644,
  );
  const fresh = `${path}.${process.pid}.tmp`;
  try {
    const file = await open(fresh, "w", mode);
    try {
      await file.chmod(mode);
      await file.writeFile(text, "latin1");
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

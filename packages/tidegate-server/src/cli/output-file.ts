import { access, constants, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { CliError, type ExitCode, exit } from "./exit.js";

/** Where a file is to be written. Looked at before the work: nobody wants to learn afterwards that it can not be. */
export async function outputFile(cwd: string, file: string): Promise<string> {
  const path = resolve(cwd, file);
  try {
    const there = await stat(path).catch(() => undefined);
    if (there?.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    await access(there === undefined ? dirname(path) : path, constants.W_OK);
    if (!(await stat(dirname(path))).isDirectory()) throw Object.assign(new Error(), { code: "ENOTDIR" });
  } catch (error) {
    throw notWritten(exit.usage, file, error);
  }
  return path;
}

/** Should it fail in spite of all, the act failed. */
export async function writeOutput(path: string, content: string | Uint8Array): Promise<void> {
  await writeFile(path, content).catch((error) => {
    throw notWritten(exit.no, path, error);
  });
}

export function notWritten(code: ExitCode, file: string, error: unknown): CliError {
  const reason = (error as NodeJS.ErrnoException).code ?? "unknown";
  return new CliError(
    code,
    `${file} can not be written (${reason}).`,
    "Name a file in a folder that is there and may be written to.",
  );
}

import { TidegateError } from "tidegate";

export function lockedError(dir: string): TidegateError {
  return new TidegateError(
    "TG_DATA_LOCKED",
    `The data directory ${dir} is in use by another process.`,
    "Stop that one, or give this one a directory of its own with --data (data: in tidegate.yaml); several processes share their data in Redis (--redis, or store: redis).",
  );
}

export function directoryError(dir: string, cause: unknown): TidegateError {
  return new TidegateError(
    "TG_DATA_DIR",
    `The data directory ${dir} can not be used: ${reasonOf(cause)}.`,
    "It has to be a directory in which this user may create and write files; name another one with --data (data: in tidegate.yaml).",
    { cause },
  );
}

/** `what` is a file, or a key in Redis. */
export function corruptError(what: string, cause: unknown): TidegateError {
  return new TidegateError(
    "TG_DATA_CORRUPT",
    `${what} is damaged or was not written by Tidegate: ${reasonOf(cause)}.`,
    "It is left as it is. Put a backup in its place, or move it away to start with no data.",
    { cause },
  );
}

export function newerError(file: string, version: number, known: number): TidegateError {
  return new TidegateError(
    "TG_DATA_NEWER",
    `${file} was written by a newer Tidegate (layout ${version}, and this one knows up to ${known}).`,
    "It is left as it is. Run that newer Tidegate again, or give this one another directory.",
  );
}

export function writeError(file: string, cause: unknown): TidegateError {
  return new TidegateError(
    "TG_DATA_WRITE",
    `${file} can not be read or written: ${reasonOf(cause)}.`,
    "Nothing of this change was kept. See that the disk is neither full nor read-only, and try again.",
    { cause },
  );
}

export function closedError(): TidegateError {
  return new TidegateError("TG_DATA_CLOSED", "The data is closed.", "Ask before closing it.");
}

export function unreachableError(cause: unknown): TidegateError {
  return new TidegateError(
    "TG_DATA_UNREACHABLE",
    `The data in Redis can not be read or written: ${reasonOf(cause)}.`,
    "See that Redis answers and accepts writes. If this was a change, look whether it was made before trying again.",
    { cause },
  );
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

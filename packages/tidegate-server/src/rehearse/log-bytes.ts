import { type FileHandle, open } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { LogError } from "./log-error.js";

/** A log's bytes, unpacked, chunk by chunk. A chunk is to be used up before the next is asked for. */
export interface LogBytes {
  /** As they are stored; undefined where nobody knows, as of a pipe. */
  readonly size: number | undefined;
  /** Of those read so far. */
  read(): number;
  /** Undefined at the end. */
  next(): Promise<Uint8Array | undefined>;
  /** Why it ended too soon, in words. */
  broken(): string | undefined;
  close(): Promise<void>;
}

export interface LogBytesOptions {
  /** A path, already resolved, or the bytes themselves. */
  readonly from: string | AsyncIterable<Uint8Array>;
  /** As it is called in messages. */
  readonly name: string;
  readonly chunkBytes: number;
}

/** Opens a log, packed by gzip or not: its first two bytes tell, whatever it is called. Throws a `LogError` when it can not be read. */
export async function openLogBytes({ from, name, chunkBytes }: LogBytesOptions): Promise<LogBytes> {
  const file = typeof from === "string" ? await opened(from, name) : undefined;
  const stored = file?.chunks(chunkBytes) ?? (from as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  let count = 0;
  const step = async (): Promise<Uint8Array | undefined> => {
    const { value, done } = await stored.next();
    if (done === true) return undefined;
    count += value.byteLength;
    return value;
  };

  const first = await begun(step);
  const isPacked = first !== undefined && first[0] === 0x1f && first[1] === 0x8b;
  const rest = isPacked ? unpacked(first, step) : undefined;
  let held = isPacked ? undefined : first;
  let problem: string | undefined;
  return {
    size: file?.size,
    read: () => count,
    async next() {
      if (rest === undefined) {
        const chunk = held ?? (await step());
        held = undefined;
        return chunk;
      }
      try {
        const { value, done } = await rest.next();
        return done === true ? undefined : value;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (!/^Z_/.test(code ?? "")) throw error;
        problem = code === "Z_BUF_ERROR" ? "its gzip data end in the middle" : "its gzip data are damaged";
        return undefined;
      }
    },
    broken: () => problem,
    async close() {
      await rest?.return(undefined);
      await file?.close();
    },
  };
}

/** Enough to tell what it is: a pipe may give a byte at a time. */
async function begun(step: () => Promise<Uint8Array | undefined>): Promise<Uint8Array | undefined> {
  let first: Uint8Array | undefined;
  while ((first?.byteLength ?? 0) < 2) {
    const more = await step();
    if (more === undefined) return first;
    first = first === undefined ? more : Buffer.concat([first, more]);
  }
  return first;
}

/** A little at a time: what is unpacked waits here, and may be a thousand times as much. */
const packedBytes = 16_384;
/** So much before a damaged place may be lost. */
const unpackedBytes = 65_536;

/** By hand and not by a pipe, for that would lose what was unpacked just before the place that is damaged. */
async function* unpacked(
  first: Uint8Array,
  step: () => Promise<Uint8Array | undefined>,
): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: unpackedBytes });
  const ready: Uint8Array[] = [];
  let failure: { readonly error: unknown } | undefined;
  gunzip.on("data", (chunk: Uint8Array) => ready.push(chunk));
  gunzip.on("error", (error) => {
    failure ??= { error };
    goOn();
  });
  // After an error nobody calls back.
  let goOn = (): void => {};
  const wait = (begin: (done: () => void) => void) =>
    new Promise<void>((resolve) => {
      goOn = resolve;
      begin(resolve);
    });
  try {
    for (let chunk: Uint8Array | undefined = first; chunk !== undefined; chunk = await step()) {
      for (let at = 0; at < chunk.byteLength && failure === undefined; at += packedBytes) {
        const part = chunk.subarray(at, at + packedBytes);
        await wait((done) => gunzip.write(part, () => done()));
        yield* ready.splice(0);
      }
      if (failure !== undefined) break;
    }
    if (failure === undefined) await wait((done) => gunzip.once("end", done).end());
    yield* ready.splice(0);
    if (failure !== undefined) throw failure.error;
  } finally {
    gunzip.destroy();
  }
}

interface OpenFile {
  readonly size: number | undefined;
  chunks(bytes: number): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

async function opened(path: string, name: string): Promise<OpenFile> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, "r");
    const stat = await handle.stat();
    if (stat.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    return fileOf(handle, stat.isFile() ? stat.size : undefined);
  } catch (error) {
    await handle?.close();
    throw unreadable(name, (error as NodeJS.ErrnoException).code ?? "unknown");
  }
}

function fileOf(handle: FileHandle, size: number | undefined): OpenFile {
  return {
    size,
    async *chunks(bytes) {
      const buffer = Buffer.allocUnsafe(bytes);
      for (;;) {
        const { bytesRead } = await handle.read(buffer, 0, bytes, null);
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
      }
    },
    close: () => handle.close(),
  };
}

function unreadable(name: string, reason: string): LogError {
  const help =
    reason === "EISDIR"
      ? "It is a folder: name the files in it, e.g. logs/*.log."
      : reason === "ENOENT"
        ? "There is no such file: look at the path, as it is seen from this folder."
        : "Look at the path and at who may read it.";
  return new LogError("TG_LOG_READ", `${name} can not be read (${reason}).`, help);
}

import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "../make-folder.js";

/** A file that lines are added to, beside everybody's way. It never throws: what can not be written is dropped and counted. */
export interface LineFile {
  /** A whole line with its end. */
  add(line: string): void;
  readonly written: number;
  readonly dropped: number;
  /** Writes what is left. */
  close(): Promise<void>;
}

export interface LineFileOptions {
  readonly file: string;
  /** Beyond it the next line begins a new file. */
  readonly maxBytes: number;
  /** Full files kept: `<file>.1` is the youngest. */
  readonly files: number;
  /** Told once, until it can be written again. */
  readonly onProblem: (error: unknown) => void;
  readonly onRecovered: () => void;
  /** Bytes that may wait to be written. Default 8 MiB. */
  readonly mostWaiting?: number;
}

const flushMs = 500;
/** So much is written at once when it has gathered sooner. */
const chunkBytes = 64 * 1024;

interface Waiting {
  readonly text: string;
  readonly bytes: number;
}

interface Open {
  readonly handle: FileHandle;
  readonly inode: bigint;
  size: number;
}

export function lineFile(options: LineFileOptions): LineFile {
  const { file, maxBytes, files, onProblem, onRecovered, mostWaiting = 8 * 1024 * 1024 } = options;
  let waiting: Waiting[] = [];
  let waitingBytes = 0;
  let written = 0;
  let dropped = 0;
  let isFailing = false;
  let current: Open | undefined;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const lines = waiting;
      waiting = [];
      waitingBytes = 0;
      let done = 0;
      try {
        await seeThatItIsThere();
        while (done < lines.length) done += await writeSome(lines, done);
        if (isFailing) onRecovered();
        isFailing = false;
      } catch (error) {
        dropped += lines.length - done;
        await leave();
        if (!isFailing) onProblem(error);
        isFailing = true;
      }
      written += done;
    }
  }

  /** As many lines as the file has room for, at least one if it is empty. */
  async function writeSome(lines: readonly Waiting[], from: number): Promise<number> {
    let { handle, size } = current ?? (await reopen());
    if (size > 0 && size + (lines[from] as Waiting).bytes > maxBytes) ({ handle, size } = await rotate());
    let text = "";
    let to = from;
    let bytes = 0;
    for (; to < lines.length && bytes < chunkBytes; to++) {
      const next = lines[to] as Waiting;
      if (to > from && size + bytes + next.bytes > maxBytes) break;
      text += next.text;
      bytes += next.bytes;
    }
    await handle.appendFile(text);
    (current as Open).size += bytes;
    return to - from;
  }

  /** Whoever moved or removed the file, or its folder, gets a new one in its place. */
  async function seeThatItIsThere(): Promise<void> {
    if (current === undefined) return;
    const found = await stat(file, { bigint: true }).catch(() => undefined);
    if (found?.ino !== current.inode) await leave();
  }

  async function reopen(): Promise<Open> {
    makeFolder(dirname(file), 0o700);
    const handle = await open(file, "a+", 0o600);
    try {
      const { size, ino } = await handle.stat({ bigint: true });
      current = { handle, inode: ino, size: Number(size) };
      await endLine(current);
      return current;
    } catch (error) {
      current = undefined;
      await handle.close().catch(() => {});
      throw error;
    }
  }

  /** A line that was cut short, by a full disk or a sudden end, is not to spoil the next. */
  async function endLine(opened: Open): Promise<void> {
    if (opened.size === 0) return;
    const { buffer } = await opened.handle.read(Buffer.alloc(1), 0, 1, opened.size - 1);
    if (buffer[0] === 0x0a) return;
    await opened.handle.appendFile("\n");
    opened.size++;
  }

  async function rotate(): Promise<Open> {
    await leave();
    if (files === 0) await rm(file, { force: true });
    for (let i = files; i > 0; i--) await renameIfThere(i === 1 ? file : `${file}.${i - 1}`, `${file}.${i}`);
    return reopen();
  }

  async function leave(): Promise<void> {
    const left = current;
    current = undefined;
    await left?.handle.close().catch(() => {});
  }

  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeAll().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  return {
    add(text) {
      const bytes = Buffer.byteLength(text);
      if (waitingBytes + bytes > mostWaiting) {
        dropped++;
        return;
      }
      waiting.push({ text, bytes });
      waitingBytes += bytes;
      if (waitingBytes >= chunkBytes) void write();
      else timer ??= setTimeout(() => void write(), flushMs).unref();
    },
    get written() {
      return written;
    },
    get dropped() {
      return dropped;
    },
    async close() {
      await write();
      await write();
      await leave();
    },
  };
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}

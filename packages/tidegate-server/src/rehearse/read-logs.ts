import { resolve } from "node:path";
import { formats } from "./formats/index.js";
import { template } from "./formats/template.js";
import { inOrder } from "./in-order.js";
import type { InputFacts } from "./input-facts.js";
import type { LogFormat, ParserTerms } from "./line-parser.js";
import { openLogBytes } from "./log-bytes.js";
import { type LogCursor, openLogCursor } from "./log-cursor.js";
import { LogError } from "./log-error.js";
import type { LoggedRequest } from "./logged-request.js";
import { merged } from "./merged.js";

export interface ReadLogsOptions extends ParserTerms {
  /** Paths; `-` is `input`. */
  readonly logs: readonly string[];
  readonly cwd: string;
  readonly input?: (() => AsyncIterable<Uint8Array>) | undefined;
  /** One of `formats`, by its name. Default: what the first lines of each look like. */
  readonly format?: string | undefined;
  /** How lines are written, as nginx's `log_format`. */
  readonly template?: string | undefined;
  /** How much out of order lines may be. Default 10 s. */
  readonly windowMs?: number | undefined;
  /** Told after every chunk. */
  readonly onProgress?: ((progress: ReadProgress) => void) | undefined;
  /** Nothing of a line is told in an error. Default false. */
  readonly isHidden?: boolean | undefined;
  /** Stops reading; what was read holds. */
  readonly signal?: AbortSignal | undefined;
}

export interface ReadProgress {
  readonly bytes: number;
  /** Undefined where one of the logs has no known size. */
  readonly totalBytes: number | undefined;
  readonly requests: number;
}

export interface LogsRead {
  readonly input: InputFacts;
  readonly notes: readonly string[];
}

const stopped = "Stopped before the end: what is told here is of the part that was read.";
const mostWaiting = 100_000;
const mostSamples = 5;
const chunkBytes = { most: 1_048_576, least: 16_384, together: 33_554_432 };

/** Tells every request of these logs in the order of time. Throws a `LogError` for a log that can not be read at all. */
export async function readLogs(
  options: ReadLogsOptions,
  tell: (request: LoggedRequest) => void | Promise<void>,
): Promise<LogsRead> {
  const { windowMs = 10_000, onProgress, signal } = options;
  const cursors = await openCursors(options);
  try {
    const requests = merged(cursors);
    const waiting = inOrder({ windowMs, most: mostWaiting });
    let count = 0;
    while (signal?.aborted !== true && (await requests.fill())) {
      for (let next = requests.next(); next !== undefined; next = requests.next()) {
        waiting.push(next);
        for (let due = waiting.shift(false); due !== undefined; due = waiting.shift(false)) {
          const told = tell(due);
          if (told !== undefined) await told;
          count++;
        }
      }
      onProgress?.(progressOf(cursors, count));
    }
    for (let due = waiting.shift(true); due !== undefined; due = waiting.shift(true)) await tell(due);
    const read = readOf(cursors);
    return signal?.aborted !== true ? read : { ...read, notes: [stopped, ...read.notes] };
  } finally {
    await Promise.all(cursors.map((cursor) => cursor.close()));
  }
}

async function openCursors(options: ReadLogsOptions): Promise<LogCursor[]> {
  const { logs, cwd, input, clientOf, isHidden } = options;
  const format = formatOf(options);
  const each = Math.floor(chunkBytes.together / logs.length);
  const cursors: LogCursor[] = [];
  try {
    for (const name of logs) {
      const isInput = name === "-" && input !== undefined;
      const bytes = await openLogBytes({
        from: isInput ? input() : resolve(cwd, name),
        name: isInput ? "stdin" : name,
        chunkBytes: Math.max(chunkBytes.least, Math.min(chunkBytes.most, each)),
      });
      const shown = isInput ? "stdin" : name;
      cursors.push(openLogCursor({ name: shown, bytes, format, terms: { clientOf }, isHidden }));
    }
  } catch (error) {
    await Promise.all(cursors.map((cursor) => cursor.close()));
    throw error;
  }
  return cursors;
}

function formatOf({ format, template: written }: ReadLogsOptions): LogFormat | undefined {
  if (written !== undefined) return template(written);
  if (format === undefined) return undefined;
  const found = formats.find(({ name }) => name === format);
  if (found !== undefined) return found;
  throw new LogError(
    "TG_LOG_FORMAT",
    `${JSON.stringify(format)} is no format that is known.`,
    `Take one of ${formats.map(({ name }) => name).join(", ")}, or write a --template.`,
  );
}

function progressOf(cursors: readonly LogCursor[], requests: number): ReadProgress {
  let bytes = 0;
  let totalBytes: number | undefined = 0;
  for (const cursor of cursors) {
    const { size, read } = cursor.bytes();
    bytes += read();
    totalBytes = size === undefined || totalBytes === undefined ? undefined : totalBytes + size;
  }
  return { bytes, totalBytes, requests };
}

function readOf(cursors: readonly LogCursor[]): LogsRead {
  const files = cursors.map((cursor) => cursor.facts());
  const sum = (of: "lines" | "malformed" | "skipped") => files.reduce((all, file) => all + file[of], 0);
  const input: InputFacts = {
    files,
    lines: sum("lines"),
    malformed: sum("malformed"),
    skipped: sum("skipped"),
    samples: cursors.flatMap(({ samples }) => samples).slice(0, mostSamples),
  };
  if (files.every(({ requests }) => requests === 0))
    throw new LogError(
      "TG_LOG_EMPTY",
      `There is no request in ${files.map(({ name, problem }) => name + (problem === undefined ? "" : ` (${problem})`)).join(", ")}.`,
      "Name logs that have some.",
    );
  return { input, notes: notesOf(cursors, input) };
}

function notesOf(cursors: readonly LogCursor[], { files }: InputFacts): string[] {
  const used = new Set(cursors.flatMap((cursor) => cursor.format() ?? []));
  const notes = [...used].flatMap(({ notes: own = [] }) => own);
  if ([...used].some(({ isCoarse }) => isCoarse === true))
    notes.push(
      "The log's times are whole seconds: all requests of a second are judged at its begin, in the order of their lines.",
    );
  for (const { name, problem } of files)
    if (problem !== undefined) notes.push(`${name} was not read to its end: ${problem}.`);
  return notes;
}

import { detectFormat } from "./detect-format.js";
import type { FileFacts, MalformedLine } from "./input-facts.js";
import { standalone } from "./interned.js";
import type { LineParser, LogFormat, Parsed, ParserTerms } from "./line-parser.js";
import { linePieces } from "./line-pieces.js";
import type { LogBytes } from "./log-bytes.js";
import { LogError } from "./log-error.js";
import type { LoggedRequest } from "./logged-request.js";

/** One log, read on and on. */
export interface LogCursor {
  /** The next request in what is at hand; undefined: `fill` brings more, or says that there is none. */
  next(): LoggedRequest | undefined;
  /** False at the end. */
  fill(): Promise<boolean>;
  facts(): FileFacts;
  readonly samples: readonly MalformedLine[];
  format(): LogFormat | undefined;
  bytes(): LogBytes;
  close(): Promise<void>;
}

export interface LogCursorOptions {
  readonly name: string;
  readonly bytes: LogBytes;
  /** Default: what its first lines look like. */
  readonly format?: LogFormat | undefined;
  readonly terms: ParserTerms;
  /** No line is quoted in an error. Default false. */
  readonly isHidden?: boolean | undefined;
}

const mostSamples = 5;
const sampleLength = 200;

export function openLogCursor(options: LogCursorOptions): LogCursor {
  const { name, bytes, terms, isHidden = false } = options;
  let { format } = options;
  let parse: LineParser | undefined = format?.open(terms);
  const pieces = linePieces(bytes, (start) => {
    counts.lines++;
    malformed(start);
  });
  let text = "";
  let view: DataView = nothing;
  let at = 0;
  const counts = { lines: 0, requests: 0, malformed: 0, skipped: 0 };
  const samples: MalformedLine[] = [];

  function taken(from: number, end: number): LoggedRequest | undefined {
    const to = end > from && text.charCodeAt(end - 1) === 13 ? end - 1 : end;
    counts.lines++;
    const parsed = to === from ? "skipped" : parsedOf(from, to);
    if (parsed === undefined) malformed(text.substring(from, Math.min(to, from + sampleLength)));
    else if (parsed === "skipped") counts.skipped++;
    else {
      counts.requests++;
      return parsed;
    }
    return undefined;
  }

  /** A line may be made to break a parser: it is malformed like others, and so is one of another age. */
  function parsedOf(from: number, to: number): Parsed {
    try {
      const parsed = (parse as LineParser)(text, from, to, view);
      return typeof parsed !== "object" || parsed.at < latest ? parsed : undefined;
    } catch {
      return undefined;
    }
  }

  function malformed(start: string): void {
    counts.malformed++;
    if (samples.length < mostSamples)
      samples.push({ file: name, line: counts.lines, text: standalone(start.slice(0, sampleLength)) });
  }

  return {
    next() {
      while (at < text.length) {
        const end = text.indexOf("\n", at);
        const from = at;
        at = end + 1;
        const request = taken(from, end);
        if (request !== undefined) return request;
      }
      return undefined;
    },
    async fill() {
      const piece = await pieces.next();
      text = piece?.text ?? "";
      view = piece?.view ?? nothing;
      at = counts.lines === 0 && text.startsWith(byteOrderMark) ? byteOrderMark.length : 0;
      if (piece !== undefined && parse === undefined) {
        format = detectFormat(text.slice(at));
        if (format === undefined && text.trim() === "") throw nothingThere(name);
        if (format === undefined) throw unknownFormat(name, isHidden ? undefined : text);
        parse = format.open(terms);
      }
      const isUnread = counts.requests === 0 && counts.malformed > 0;
      if (piece === undefined && isUnread) throw nothingReadable(name, format?.name, isHidden ? [] : samples);
      return piece !== undefined;
    },
    facts() {
      const problem = bytes.broken();
      return {
        name,
        format: format?.name ?? "empty",
        bytes: bytes.read(),
        ...counts,
        ...(problem !== undefined && { problem }),
      };
    },
    samples,
    format: () => format,
    bytes: () => bytes,
    close: () => bytes.close(),
  };
}

/** The year 2200. */
const latest = Date.UTC(2200, 0);
const nothing: DataView = new DataView(new ArrayBuffer(0));
/** Of UTF-8, a character a byte. */
const byteOrderMark = "\u00ef\u00bb\u00bf";

const formatHelp =
  "Say what it is with --format, or with --template how its lines are written; `tidegate replay --help` has the formats.";

function nothingThere(name: string): LogError {
  return new LogError(
    "TG_LOG_FORMAT",
    `There are only empty lines in ${name}.`,
    "Name logs that have requests.",
  );
}

function unknownFormat(name: string, text: string | undefined): LogError {
  const [first = ""] = (text ?? "").split("\n", 1);
  const begin =
    text === undefined ? "" : ` Its first line begins with ${JSON.stringify(first.slice(0, 80))}.`;
  return new LogError("TG_LOG_FORMAT", `${name} looks like no log that is known.${begin}`, formatHelp);
}

function nothingReadable(
  name: string,
  format: string | undefined,
  [sample]: readonly MalformedLine[],
): LogError {
  const first = sample === undefined ? "" : ` One begins with ${JSON.stringify(sample.text.slice(0, 80))}.`;
  return new LogError(
    "TG_LOG_FORMAT",
    `No line of ${name} can be read${format === undefined ? "" : ` as ${format}`}.${first}`,
    formatHelp,
  );
}

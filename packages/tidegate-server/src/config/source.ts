import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { LineCounter } from "yaml";
import { ConfigFileError } from "./config-file-error.js";

/** A text with a name and lines. */
export interface Source {
  /** A file's path, or what else to call it in messages. */
  readonly name: string;
  /** Lines end with `\n`, whatever they ended with. */
  readonly text: string;
  placeOf(offset: number): { readonly line: number; readonly column: number };
}

export const mostBytes = 1_048_576;

/** Throws a `ConfigFileError` for what can not be text of a sensible size. */
export function sourceOf(name: string, given: string | Uint8Array): Source {
  const bytes = typeof given === "string" ? Buffer.byteLength(given) : given.byteLength;
  if (bytes > mostBytes) {
    throw refused(
      name,
      "TG_CONFIG_LARGE",
      `It has more than ${mostBytes} bytes.`,
      "Keep it below a megabyte; long lists of addresses belong into the safelist and blocklist of the running server.",
    );
  }
  const text = (typeof given === "string" ? given : decoded(name, given))
    .replace(/^\u{feff}/u, "")
    .replace(/\r\n?/g, "\n");
  const counter = new LineCounter();
  counter.addNewLine(0);
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) counter.addNewLine(at + 1);
  const source: Source = {
    name,
    text,
    placeOf(offset) {
      const { line, col } = counter.linePos(Math.max(0, Math.min(offset, text.length)));
      return { line: Math.max(1, line), column: Math.max(1, col) };
    },
  };
  refuseControls(source);
  return source;
}

/** Reads a file: a regular one, for a pipe or a device might never end. `orElse` is what to do when it is not there. */
export function readSource(file: string, orElse = "name one as it is seen from this folder."): Source {
  let bytes: Uint8Array | undefined;
  try {
    bytes = bytesOf(file);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? "unknown";
    throw refused(
      file,
      "TG_CONFIG_READ",
      `It can not be read (${reason}).`,
      reason === "ENOENT" ? `There is no such file: ${orElse}` : "Look at the path and at who may read it.",
    );
  }
  if (bytes === undefined) {
    throw refused(
      file,
      "TG_CONFIG_READ",
      "It is not a file.",
      "Name a regular file, not a folder or a pipe.",
    );
  }
  return sourceOf(file, bytes);
}

function bytesOf(file: string): Uint8Array | undefined {
  const opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(opened).isFile()) return undefined;
    const buffer = Buffer.alloc(mostBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      read = readSync(opened, buffer, length, buffer.length - length, null);
    }
    return buffer.subarray(0, length);
  } finally {
    closeSync(opened);
  }
}

function decoded(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
    throw refused(
      name,
      "TG_CONFIG_ENCODING",
      isUtf16 ? "It is written in UTF-16." : "It is not valid UTF-8.",
      "Save it as UTF-8.",
    );
  }
}

function refuseControls(source: Source): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  const at = source.text.search(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\p{Cs}/u);
  if (at < 0) return;
  const { line, column } = source.placeOf(at);
  const code = source.text.charCodeAt(at).toString(16).padStart(4, "0");
  const words = {
    code: "TG_CONFIG_ENCODING",
    message: `There is a character no text has, U+${code.toUpperCase()}.`,
    help: "Delete it; a text that needs one writes it as an escape in double quotes.",
  };
  throw new ConfigFileError(source.name, [{ ...words, line, column, path: "" }], source.text);
}

function refused(name: string, code: string, message: string, help: string): ConfigFileError {
  return new ConfigFileError(name, [{ code, path: "", message, help }]);
}

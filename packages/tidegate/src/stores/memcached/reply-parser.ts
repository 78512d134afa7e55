/** One reply of memcached's meta protocol. */
export interface Reply {
  /** `HD`, `VA`, `EN`, `NS`, `EX`, `NF`, `MN`, or `SERVER_ERROR` and its like. */
  readonly code: string;
  /** What follows it on the line: flags such as `c12 O7`, or an error's text. */
  readonly rest: string;
  /** Only behind `VA`. */
  readonly value: Buffer | undefined;
}

/** The server said what memcached never says. */
export class ProtocolError extends Error {}

const maxLineBytes = 2048;
/** memcached's own default for the largest item. */
const maxValueBytes = 1024 * 1024;
const codes = new Set(["HD", "VA", "EN", "NS", "EX", "NF", "MN", "ERROR", "CLIENT_ERROR", "SERVER_ERROR"]);

const lineFeed = 10;
const carriageReturn = 13;

/** Cuts a stream of bytes into replies, wherever the network cut it before. */
export class ReplyParser {
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Fewer bytes than this complete nothing. */
  #neededBytes = 1;

  /** Throws a `ProtocolError` at the first byte that can not be memcached's, after handing on the replies before it. */
  push(chunk: Buffer, onReply: (reply: Reply) => void): void {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes < this.#neededBytes) return;
    const bytes = this.#held.length === 1 ? chunk : Buffer.concat(this.#held);
    let at = 0;
    this.#neededBytes = 1;
    while (at < bytes.length) {
      const lineEnd = bytes.indexOf(lineFeed, at);
      if ((lineEnd < 0 ? bytes.length : lineEnd) - at > maxLineBytes)
        throw new ProtocolError("a line without end");
      if (lineEnd < 0) break;
      if (bytes[lineEnd - 1] !== carriageReturn || lineEnd === at)
        throw new ProtocolError("a line that ends in no line end");
      const line = bytes.toString("latin1", at, lineEnd - 1);
      const valueEnd = line.startsWith("VA ") ? lineEnd + 1 + sizeIn(line) : -1;
      if (valueEnd + 2 > bytes.length) {
        this.#neededBytes = valueEnd + 2 - at;
        break;
      }
      onReply(replyOf(line, valueEnd < 0 ? undefined : valueIn(bytes, lineEnd + 1, valueEnd)));
      at = valueEnd < 0 ? lineEnd + 1 : valueEnd + 2;
    }
    this.#held = at === bytes.length ? [] : [bytes.subarray(at)];
    this.#heldBytes = bytes.length - at;
  }
}

function replyOf(line: string, value: Buffer | undefined): Reply {
  const space = line.indexOf(" ");
  const code = space < 0 ? line : line.slice(0, space);
  if (!codes.has(code) || (code === "VA" && value === undefined))
    throw new ProtocolError(`the line ${JSON.stringify(line.slice(0, 60))}`);
  return { code, rest: space < 0 ? "" : line.slice(space + 1), value };
}

/** `VA 36 c12 O7` announces 36 bytes. */
function sizeIn(line: string): number {
  const size = /^VA (\d{1,8})(?: |$)/.exec(line)?.[1];
  if (size === undefined || Number(size) > maxValueBytes)
    throw new ProtocolError(`a value announced as ${JSON.stringify(line.slice(0, 60))}`);
  return Number(size);
}

function valueIn(bytes: Buffer, from: number, to: number): Buffer {
  if (bytes[to] !== carriageReturn || bytes[to + 1] !== lineFeed)
    throw new ProtocolError("a value of another length than announced");
  return bytes.subarray(from, to);
}

/** The token of a flag: of `c12 O7`, that of `O` is `7`. */
export function flagOf(reply: Reply, flag: string): string | undefined {
  for (const token of reply.rest.split(" ")) if (token.startsWith(flag)) return token.slice(1);
  return undefined;
}

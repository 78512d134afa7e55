/** The head of an origin's answer, read strictly: what is odd in it is refused, never guessed at. */
export interface AnswerHead {
  readonly status: number;
  readonly isHttp10: boolean;
  /** Name, value, name, value, as they came. */
  readonly headers: string[];
  /** -1: not said. */
  readonly contentLength: number;
  readonly isChunked: boolean;
  /** What Connection says, in lower case. */
  readonly connection: string;
  /** What Keep-Alive says. */
  readonly keepAlive: string;
}

/** Why an answer can not be passed on. */
export class Malformed extends Error {
  readonly code = "ANSWER_MALFORMED";
}

const statusLine = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const minorAt = "HTTP/1.".length;
const statusAt = "HTTP/1.1 ".length;
const token = /^[\w!#$%&'*+.^`|~-]+$/;
const odd = /[^\t\x20-\x7e\x80-\xff]/;
const digits = /^\d+$/;

/** `text` is a head without the empty line that ends it, a character for each byte. */
export function parseAnswerHead(text: string): AnswerHead {
  let end = endOfLine(text, 0);
  if (!statusLine.test(text.slice(0, end))) throw new Malformed("Its first line is not that of an answer.");
  const isHttp10 = text[minorAt] === "0";
  const headers: string[] = [];
  let contentLength = -1;
  let isChunked = false;
  let connection = "";
  let keepAlive = "";
  while (end < text.length) {
    const at = end + 2;
    end = endOfLine(text, at);
    const colon = text.indexOf(":", at);
    if (colon < 0 || colon >= end) throw new Malformed("A line of its head is no header.");
    const name = nameOf(text.slice(at, colon));
    const value = trimmed(text, colon + 1, end);
    if (odd.test(value)) throw new Malformed(`Its ${name.text} has a character that no header has.`);
    headers.push(name.text, value);
    switch (name.kind) {
      case "content-length":
        if (contentLength >= 0 || isChunked || !digits.test(value) || text.slice(colon, end).includes("\t"))
          throw new Malformed("How long it is is in doubt.");
        contentLength = Number(value);
        break;
      case "transfer-encoding":
        if (contentLength >= 0 || isChunked || isHttp10 || value.toLowerCase() !== "chunked")
          throw new Malformed("How it is encoded is in doubt.");
        isChunked = true;
        break;
      case "connection":
        connection = `${connection},${value.toLowerCase()}`;
        break;
      case "keep-alive":
        keepAlive = value;
        break;
    }
  }
  const status = Number(text.slice(statusAt, statusAt + 3));
  return { status, isHttp10, headers, contentLength, isChunked, connection, keepAlive };
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\r\n", at);
  return end < 0 ? text.length : end;
}

function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

interface Name {
  readonly text: string;
  /** In lower case. */
  readonly kind: string;
}

const mostNames = 512;
const names = new Map<string, Name>();

/** Most answers have the same few names, found to be in order once. A name cut out of a head would keep the whole head alive. */
function nameOf(cut: string): Name {
  const known = names.get(cut);
  if (known !== undefined) return known;
  if (!token.test(cut)) throw new Malformed("A header of it has no name.");
  const text = Buffer.from(cut, "latin1").toString("latin1");
  const name = { text, kind: text.toLowerCase() };
  if (names.size < mostNames) names.set(text, name);
  return name;
}

import { Malformed } from "./answer-head.js";

type Place = "size" | "extension" | "size-end" | "data" | "data-return" | "data-end" | Trailer | "over";
type Trailer = "trailer" | "trailer-line" | "trailer-end" | "last-end";

const RETURN = 0x0d;
const NEWLINE = 0x0a;
const SEMICOLON = 0x3b;
const name = "[\\w!#$%&'*+.^`|~-]+";
const extension = `${name}(?:=(?:${name}|"[\\t !#-[\\]-~]*"))?`;
const extensions = new RegExp(`^${extension}(?:;${extension})*$`);
const trailer = new RegExp(`^(?!content-length:|transfer-encoding:)${name}:[\\t -~\\x80-\\xff]*$`, "i");
/** Of a size: 64 TB. */
const mostDigits = 12;

/** A chunked body, as it comes. Extensions and trailers are read over. */
export class Chunks {
  readonly #mostAside: number;
  #place: Place = "size";
  #size = 0;
  #digits = 0;
  /** Bytes of a chunk's extensions, and of the trailers. */
  #aside = 0;
  /** The extension or trailer that is being read. */
  #line = "";

  /** `mostAside`: of a chunk's extensions, and of the trailers, in bytes. */
  constructor(mostAside: number) {
    this.#mostAside = mostAside;
  }

  get isOver(): boolean {
    return this.#place === "over";
  }

  /**
   * Reads `bytes` from `at`, and moves what is data to the front of what was read, in place: `at` to `to`. `next` is where the
   * body ended, or the end of `bytes`.
   */
  read(bytes: Buffer, at: number): { readonly to: number; readonly next: number } {
    let to = at;
    let i = at;
    while (i < bytes.length && this.#place !== "over") {
      if (this.#place !== "data") {
        this.#step(bytes[i++] as number);
        continue;
      }
      const end = Math.min(bytes.length, i + this.#size);
      if (to !== i) bytes.copyWithin(to, i, end);
      to += end - i;
      this.#size -= end - i;
      i = end;
      if (this.#size === 0) this.#place = "data-return";
    }
    return { to, next: i };
  }

  #step(byte: number): void {
    switch (this.#place) {
      case "size":
        this.#readSize(byte);
        break;
      case "extension":
        this.#readAside(byte, extensions, "size-end");
        break;
      case "size-end":
        this.#expect(byte, NEWLINE, this.#size === 0 ? "trailer" : "data");
        this.#digits = 0;
        break;
      case "data-return":
        this.#expect(byte, RETURN, "data-end");
        break;
      case "data-end":
        this.#expect(byte, NEWLINE, "size");
        break;
      case "trailer":
        if (byte === RETURN) this.#place = "last-end";
        else {
          this.#place = "trailer-line";
          this.#readAside(byte, trailer, "trailer-end");
        }
        break;
      case "trailer-line":
        this.#readAside(byte, trailer, "trailer-end");
        break;
      case "trailer-end":
        this.#expect(byte, NEWLINE, "trailer");
        break;
      case "last-end":
        this.#expect(byte, NEWLINE, "over");
        break;
    }
  }

  #readSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0 && this.#digits < mostDigits) {
      this.#size = this.#size * 16 + digit;
      this.#digits++;
    } else if (this.#digits === 0) throw new Malformed("A chunk does not say how long it is.");
    else if (byte === SEMICOLON) {
      this.#place = "extension";
      this.#aside = 0;
    } else this.#expect(byte, RETURN, "size-end");
  }

  /** What is not passed on has to be in order all the same. */
  #readAside(byte: number, form: RegExp, end: Place): void {
    if (byte !== RETURN) {
      if (++this.#aside > this.#mostAside) throw new Malformed("Its chunks have too much beside them.");
      this.#line += String.fromCharCode(byte);
      return;
    }
    if (!form.test(this.#line)) throw new Malformed("What stands beside a chunk is odd.");
    this.#line = "";
    this.#place = end;
  }

  #expect(byte: number, expected: number, next: Place): void {
    if (byte !== expected) throw new Malformed("A chunk does not end where it should.");
    this.#place = next;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

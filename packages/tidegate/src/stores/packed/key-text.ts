import { createHash } from "node:crypto";

/** Longer keys are replaced by their SHA-256. */
const longest = 256;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const unsafe = /[%{}\x00-\x1f\x7f]/g;
const plain = /^[\x20-\x24\x26-\x7a\x7c\x7e]+$/;

/**
 * A key or rule as it stands in a store's key: `%`, `{`, `}` and control characters percent-encoded, so that it can
 * neither forge a hash tag nor another key; more than 256 bytes, or half of a surrogate pair, as a digest. No two differ only before.
 */
export function keyText(text: string): string {
  if (text.length <= longest && plain.test(text)) return text;
  if (Buffer.byteLength(text) > longest || !isWellFormed(text)) {
    return `%h${createHash("sha256").update(text, "utf16le").digest("hex")}`;
  }
  return text.replace(unsafe, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

function isWellFormed(text: string): boolean {
  return !/[\ud800-\udfff]/u.test(text);
}

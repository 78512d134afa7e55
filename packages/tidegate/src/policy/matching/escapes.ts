/** Anything that may not stand in a path as it is, and `%` with what follows it. */
const odd = /%(?:[0-9A-Fa-f]{2})?|[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]+/g;
const notAByte = /[^\0-\xff]/;
const notAscii = /[^\0-\x7f]/;

/**
 * One spelling for every path: escapes of unreserved characters decoded (once), all others in upper case, what
 * may not stand there unescaped (backslash, NUL, spaces, other alphabets) escaped as UTF-8, a `%` that escapes nothing as `%25`.
 */
export function oneSpelling(path: string): string {
  return asText(path).replace(odd, (found) => spelled.get(found) ?? escaped(found));
}

/** Node hands over raw bytes as characters of one byte each: if they are UTF-8, that is what was meant. */
function asText(path: string): string {
  if (!notAscii.test(path) || notAByte.test(path)) return path;
  try {
    return strictUtf8.decode(bytesOf(path));
  } catch {
    return path;
  }
}

function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const utf8 = new TextEncoder();

function escaped(text: string): string {
  let escapes = "";
  for (const byte of utf8.encode(text)) escapes += escapeOf[byte];
  return escapes;
}

const escapeOf = Array.from(
  { length: 256 },
  (_, byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`,
);

/** How each escape is spelled, however its digits were written, and each character of one byte that needs one. */
const spelled: ReadonlyMap<string, string> = new Map([
  ...escapeOf.slice(0, 128).map((upper, byte) => [String.fromCharCode(byte), upper] as const),
  ...escapeOf.flatMap((upper, byte) => {
    const character = String.fromCharCode(byte);
    const spelling = /[A-Za-z0-9\-._~]/.test(character) ? character : upper;
    return writtenWays(upper).map((way) => [way, spelling] as const);
  }),
]);

function writtenWays(upper: string): string[] {
  const lower = upper.toLowerCase();
  return [upper, lower, upper.slice(0, 2) + lower.slice(2), lower.slice(0, 2) + upper.slice(2)];
}

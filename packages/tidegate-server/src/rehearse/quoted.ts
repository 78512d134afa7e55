const backslash = 92;

/** Where the quote is that closes a text begun at `from`, not one that is escaped; -1 when there is none before `to`. */
export function closingQuote(text: string, from: number, to: number): number {
  for (let at = text.indexOf('"', from); at >= 0 && at < to; at = text.indexOf('"', at + 1)) {
    if (text.charCodeAt(at - 1) !== backslash) return at;
    let before = at;
    while (before > from && text.charCodeAt(before - 1) === backslash) before--;
    if ((at - before) % 2 === 0) return at;
  }
  return -1;
}

const letters: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", v: "\v", b: "\b", f: "\f" };

/** As it was before nginx (`\x22`) or Apache (`\"`, `\t`) wrote it into a log. */
export function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\(?:x([0-9a-fA-F]{2})|(.))/gs, (_, hex: string | undefined, one: string) =>
    hex === undefined ? (letters[one] ?? one) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** A dash stands for nothing. */
export function told(text: string): string | undefined {
  return text === "-" || text === "" ? undefined : text;
}

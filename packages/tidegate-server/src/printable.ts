/** Control and format characters, line and paragraph separators, halves of surrogate pairs: all that can forge or garble a line. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A text of unknown origin as it may stand in a log or on a terminal: one line, every character visible. */
export function printable(text: unknown): string {
  return String(text).replace(unprintable, escaped);
}

/** The same of at most so many characters; one that was longer says how long. */
export function printableStart(text: unknown, most: number): string {
  const whole = String(text);
  if (whole.length <= most) return printable(whole);
  return `${printable(whole.slice(0, most))}… (${whole.length})`;
}

/** The same for several lines. */
export function printableLines(text: string): string {
  return text.replace(unprintable, (character) =>
    character === "\n" || character === "\t" ? character : escaped(character),
  );
}

/** The same for JSON, where it changes no value; its own line breaks stay. */
export function printableJson(json: string): string {
  return json.replace(unprintable, (character) => (character === "\n" ? character : inJson(character)));
}

function escaped(character: string): string {
  const code = character.codePointAt(0) as number;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

function inJson(character: string): string {
  return Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`,
  ).join("");
}

/** How a value looks in a message: short, on one line, and never the whole of a hostile one. */
export function shown(value: unknown): string {
  if (typeof value === "string") return printable(JSON.stringify(shortened(value)));
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "a map";
  return String(value);
}

/** Nothing that moves a terminal's cursor or turns the direction of writing. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "\u{fffd}");
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

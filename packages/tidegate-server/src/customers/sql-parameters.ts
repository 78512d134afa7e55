const quotedOrParameter = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\d+)/g;

/** How many of $1, $2, $3 a statement takes: the highest one named outside of quotes and comments. */
export function parameterCount(statement: string): number {
  let highest = 0;
  for (const [, number] of statement.matchAll(quotedOrParameter))
    highest = Math.max(highest, Number(number ?? 0));
  return highest;
}

/** SQLite takes `$1` for a name and `?1` for a place. */
export function asPlaces(statement: string): string {
  return statement.replace(quotedOrParameter, (text, number?: string) =>
    number === undefined ? text : `?${number}`,
  );
}

const quotedOrParameter = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\d+)/g;

/** How many of $1, $2, $3 a statement takes: the highest one named outside of quotes and comments. */
export function parameterCount(statement: string): number {
  return Math.max(0, ...parametersOf(statement));
}

/** Whether it can change one customer: it takes $1, the id, and beside it at most $2 and $3, the tier and the limits. */
export function takesCustomer(statement: string): boolean {
  const parameters = parametersOf(statement);
  return parameters.includes(1) && parameters.every((number) => number >= 1 && number <= 3);
}

function parametersOf(statement: string): number[] {
  return [...statement.matchAll(quotedOrParameter)].flatMap(([, number]) =>
    number === undefined ? [] : [Number(number)],
  );
}

/** SQLite takes `$1` for a name and `?1` for a place. */
export function asPlaces(statement: string): string {
  return statement.replace(quotedOrParameter, (text, number?: string) =>
    number === undefined ? text : `?${number}`,
  );
}

/** One thing wrong in a text, in a line, as a compiler would say it. Printable it is only if what it is made of is. */
export function problemText(problem: unknown): string {
  if (typeof problem !== "object" || problem === null) return String(problem);
  const { line, column, path, message, help, code } = problem as Record<string, unknown>;
  const place = line === undefined ? "" : `line ${line}${column === undefined ? "" : `:${column}`}`;
  const where = [place, path].filter((part) => part !== undefined && part !== "").join(" ");
  const words = [message, help].filter((part) => part !== undefined && part !== "").join(" ");
  return `${where === "" ? "" : `${where}: `}${words}${code === undefined ? "" : ` [${code}]`}`;
}

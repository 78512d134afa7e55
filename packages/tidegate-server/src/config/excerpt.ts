import { printable } from "./shown.js";

const width = 100;

/** A source line with a caret under the column. Written-out secrets in it are starred. */
export function excerpt(line: string, number: number, column: number): string {
  const start = Math.max(0, Math.min(column - 1 - width / 2, line.length - width));
  const shownLine = printable(
    starred(line.slice(0, start + width))
      .slice(start)
      .replaceAll("\t", " "),
  );
  const margin = `${number}`.padStart(6);
  return `${margin} | ${shownLine}\n${" ".repeat(6)} | ${" ".repeat(column - 1 - start)}^`;
}

/** As long as what they hide, so that the caret stays where it is. `${NAME}` hides nothing. */
function starred(line: string): string {
  return line
    .replace(/(\/\/)([^@/\s]+)(?=@)/g, (whole, before: string, secret: string) =>
      secret.includes("${") ? whole : before + stars(secret),
    )
    .replace(
      /(\b(?:token|password|secret)["']?\s*:\s*)("[^"]*"?|'[^']*'?|[^\s,}#]+)/gi,
      (whole, before: string, secret: string) => (secret.includes("${") ? whole : before + stars(secret)),
    );
}

function stars(secret: string): string {
  return "*".repeat(secret.length);
}

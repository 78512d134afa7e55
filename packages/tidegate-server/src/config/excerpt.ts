import { isInSecretSection } from "./secret-sections.js";
import { printable } from "./shown.js";

const width = 100;

/** A line, by its number from 1, with a caret under the column. Written-out secrets in it are starred; where they are at home, no line is shown. */
export function excerpt(lines: readonly string[], number: number, column: number): string | undefined {
  const line = lines[number - 1] ?? "";
  if (line.trim() === "" || isInSecretSection(lines, number)) return undefined;
  const start = Math.max(0, Math.min(column - 1 - width / 2, line.length - width));
  const shownLine = printable(
    starred(line.slice(0, start + width))
      .slice(start)
      .replaceAll("\t", " "),
  );
  const margin = `${number}`.padStart(6);
  return `${margin} | ${shownLine}\n${" ".repeat(6)} | ${" ".repeat(column - 1 - start)}^`;
}

/** In a query, or behind a name that says so. */
const named = [
  /([?&][\w.-]+=)([^&\s"']+)/g,
  /(\b(?:token|password|secret)["']?\s*:\s*)("[^"]*"?|'[^']*'?|[^\s,}#]+)/gi,
];

/** Stars are as many as what they hide is long, so that the caret stays where it is. `${NAME}` hides nothing. */
function starred(line: string): string {
  const withoutLogins = line.replace(/[^\s"']+/g, (word) => {
    const login = word.slice(0, word.lastIndexOf("@") + 1);
    return login === "" || login.includes("${") ? word : `${stars(login)}${word.slice(login.length)}`;
  });
  return named.reduce(
    (text, form) =>
      text.replace(form, (whole, before: string, secret: string) =>
        secret.includes("${") ? whole : before + stars(secret),
      ),
    withoutLogins,
  );
}

function stars(secret: string): string {
  return "*".repeat(secret.length);
}

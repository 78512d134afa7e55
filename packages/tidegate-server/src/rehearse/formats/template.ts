import { standalone } from "../interned.js";
import type { LineParser, LogFormat, ParserTerms } from "../line-parser.js";
import { LogError } from "../log-error.js";
import { closingQuote, unescaped } from "../quoted.js";
import { requestOf } from "../request-of.js";

interface Field {
  readonly name: string;
  /** What stands behind it. */
  readonly end: string;
  /** In quotes: it ends at one that is not escaped. */
  readonly isQuoted: boolean;
  /** May hold what ends it, as a user's name may: it ends at the last such before the next field's end. */
  readonly isLoose: boolean;
}

/** A format written as nginx writes its own: `$remote_addr - $remote_user [$time_local] "$request" $status`. */
export function template(text: string): LogFormat {
  const { begin, fields } = compiled(text);
  return {
    name: "template",
    isLike: () => true,
    open: (terms) => templateParser(begin, fields, terms),
    isCoarse: !fields.some(({ name }) => name === "msec"),
  };
}

function templateParser(begin: string, fields: readonly Field[], terms: ParserTerms): LineParser {
  return (text, from, to) => {
    if (!text.startsWith(begin, from)) return undefined;
    const facts: Record<string, string> = Object.create(null);
    let at = from + begin.length;
    for (const [i, field] of fields.entries()) {
      const end = endOf(text, at, to, field, fields[i + 1]);
      if (end < 0 || end > to) return undefined;
      facts[field.name] = unescaped(standalone(text.substring(at, end)));
      at = end + field.end.length;
    }
    return requestOf(facts, terms);
  };
}

function endOf(text: string, at: number, to: number, field: Field, next: Field | undefined): number {
  if (field.end === "") return to;
  if (field.isQuoted) {
    const end = closingQuote(text, at, to);
    return end >= 0 && text.startsWith(field.end, end) ? end : -1;
  }
  if (!field.isLoose || next === undefined || next.end === "") return text.indexOf(field.end, at);
  const nextEnd = text.indexOf(next.end, at + field.end.length);
  const end = nextEnd < 0 ? -1 : text.lastIndexOf(field.end, nextEnd - 1);
  return end < at ? -1 : end;
}

const variable = /\$(?:\{(\w+)\}|(\w+))/g;

function compiled(text: string): { readonly begin: string; readonly fields: readonly Field[] } {
  const found = [...text.matchAll(variable)];
  const fields = found.map((match, i): Field => {
    const name = (match[1] ?? match[2]) as string;
    const from = match.index + match[0].length;
    const end = text.slice(from, found[i + 1]?.index ?? text.length);
    if (end === "" && i < found.length - 1)
      throw wrongTemplate(
        `Nothing stands between $${name} and what follows, so nobody can tell where it ends.`,
      );
    const isQuoted = text[match.index - 1] === '"' && end.startsWith('"');
    return { name, end, isQuoted, isLoose: name === "remote_user" };
  });
  for (const wanted of [
    ["remote_addr", "client", "client_ip"],
    ["time_local", "time_iso8601", "msec", "time"],
  ])
    if (!fields.some(({ name }) => wanted.includes(name)))
      throw wrongTemplate(`It has none of ${wanted.map((name) => `$${name}`).join(", ")}.`);
  if (!fields.some(({ name }) => ["request", "request_uri", "uri"].includes(name)))
    throw wrongTemplate("It has none of $request, $request_uri, $uri.");
  return { begin: text.slice(0, found[0]?.index ?? text.length), fields };
}

function wrongTemplate(message: string): LogError {
  return new LogError(
    "TG_LOG_TEMPLATE",
    `The template can not be used. ${message}`,
    `Write it as nginx's log_format, e.g. '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"'.`,
  );
}

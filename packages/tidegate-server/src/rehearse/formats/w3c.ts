import { standalone } from "../interned.js";
import type { LineParser, LogFormat, ParserTerms } from "../line-parser.js";
import { requestOf } from "../request-of.js";

/** W3C extended logs, as CloudFront and IIS write them: a line `#Fields:` says what stands where. */
export const w3c: LogFormat = {
  name: "w3c",
  isLike: (line) => line.startsWith("#Fields: "),
  open: w3cParser,
  isCoarse: true,
};

/** What nginx calls the same. */
const known: Readonly<Record<string, string>> = {
  "c-ip": "remote_addr",
  "cs-method": "request_method",
  "cs-uri-stem": "uri",
  "cs-uri-query": "args",
  "cs-username": "remote_user",
  "sc-status": "status",
  // At CloudFront cs(Host) is the distribution's own name.
  "x-host-header": "http_host",
  "cs(host)": "host",
  "cs-host": "host",
  "x-forwarded-for": "http_x_forwarded_for",
};

function w3cParser(terms: ParserTerms): LineParser {
  let fields: readonly string[] = [];
  return (text, from, to) => {
    if (text.charCodeAt(from) === 35) {
      if (text.startsWith("#Fields:", from))
        fields = text
          .substring(from + 8, to)
          .trim()
          .split(/\s+/)
          .map(nameOf);
      return "skipped";
    }
    const line = standalone(text.substring(from, to));
    const values = line.includes("\t") ? line.split("\t") : line.split(" ");
    if (fields.length === 0 || values.length < fields.length) return undefined;
    const facts: Record<string, string> = Object.create(null);
    for (const [i, name] of fields.entries()) facts[name] = plain(values[i] as string, name);
    return requestOf({ ...facts, time_iso8601: `${facts.date}T${facts.time}Z` }, terms);
  };
}

function nameOf(field: string): string {
  const name = field.toLowerCase();
  const [, header] = /^cs\((.+)\)$/.exec(name) ?? [];
  if (Object.hasOwn(known, name)) return known[name] as string;
  return header === undefined ? name : `http_${header.replaceAll("-", "_")}`;
}

/** Headers are written with what would break the line as %20, or + for a space; the path stays as it was sent. */
function plain(value: string, name: string): string {
  if (!name.startsWith("http_") || value === "-") return value;
  return value
    .replaceAll("+", value.includes("%20") ? "+" : " ")
    .replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

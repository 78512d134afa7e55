import { ConfigError, shown } from "../../errors.js";
import type { Subject } from "../../subject.js";
import type { Match } from "../rule-options.js";
import { type PathPattern, parsePathPattern } from "./path-pattern.js";

/** Requests that meet all that is given here. A match names some of these, any of which will do. */
export interface Named {
  /** In upper case; HEAD is among them where GET is, since apps answer it with what they do for GET. */
  readonly methods?: readonly string[] | undefined;
  /** In lower case, `*.` before a whole domain. */
  readonly hosts?: readonly string[] | undefined;
  readonly paths?: readonly PathPattern[] | undefined;
  readonly ask?: ((subject: Subject) => unknown) | undefined;
}

const help =
  'Write a path such as "/api", a method and a path such as "POST /login", { method, path, host }, a function of the subject, or a list of these.';
const pathHelp =
  'Write it from the first slash and as it should be read, e.g. "/api/v1", which covers all below it. "*" or ":name" stands for one whole segment; no query, no "//", "..", backslash or encoded slash.';
const hostHelp =
  'Write a host without scheme or port, e.g. "example.com", or "*.example.com" for all below it.';

/** What a match names. Throws `TG_MATCH` when it names nothing that can be understood. */
export function parseMatch(match: Match, where: string): readonly Named[] {
  if (typeof match === "function") return [{ ask: match }];
  if (typeof match === "string") return [parseText(match, where)];
  if (Array.isArray(match))
    return listed(match, where).flatMap((each, i) => parseMatch(each, `${where}[${i}]`));
  if (typeof match !== "object" || match === null) throw misfit(match, where, help);
  return [parseFields(match as Fields, where)];
}

type Fields = Exclude<Match, string | readonly Match[] | ((subject: Subject) => boolean)>;

/** `"/login"`, or `"POST /login"`. */
function parseText(text: string, where: string): Named {
  const space = text.indexOf(" ");
  if (space < 0 || text.startsWith("/")) return { paths: [pathPattern(text, where)] };
  return {
    methods: withHead([methodName(text.slice(0, space), where)]),
    paths: [pathPattern(text.slice(space + 1), where)],
  };
}

function parseFields(fields: Fields, where: string): Named {
  const unknown = Object.keys(fields).find((key) => key !== "method" && key !== "path" && key !== "host");
  if (unknown !== undefined) throw misfit(unknown, where, help);
  const named: Named = {
    methods: withHead(each(fields.method, `${where}.method`, methodName)),
    hosts: each(fields.host, `${where}.host`, hostPattern),
    paths: each(fields.path, `${where}.path`, pathPattern),
  };
  if (!named.methods && !named.hosts && !named.paths) throw misfit(fields, where, help);
  return named;
}

function each<T>(
  given: string | readonly string[] | undefined,
  where: string,
  parse: (text: string, where: string) => T,
): readonly T[] | undefined {
  if (given === undefined) return undefined;
  if (!Array.isArray(given)) return [parse(given as string, where)];
  return listed(given, where).map((text, i) => parse(text, `${where}[${i}]`));
}

function listed<T>(list: readonly T[], where: string): readonly T[] {
  if (list.length > 0) return list;
  throw new ConfigError(
    "TG_MATCH",
    where,
    "an empty list names no request.",
    "Name at least one, or leave it out.",
  );
}

/** Those node:http takes: another would match nothing, and most likely is a slip. */
const methods = new Set(
  (
    "ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY OPTIONS PATCH POST " +
    "PROPFIND PROPPATCH PURGE PUT QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE"
  ).split(" "),
);

function methodName(text: string, where: string): string {
  const method = typeof text === "string" ? text.toUpperCase() : "";
  if (methods.has(method)) return method;
  throw misfit(
    text,
    where,
    'Write a method of HTTP such as "POST"; for one of your own use a function of the subject.',
  );
}

function withHead<Methods extends readonly string[] | undefined>(names: Methods): Methods | string[] {
  return names?.includes("GET") && !names.includes("HEAD") ? [...names, "HEAD"] : names;
}

function pathPattern(text: string, where: string): PathPattern {
  const pattern = typeof text === "string" ? parsePathPattern(text) : undefined;
  if (pattern === undefined) throw misfit(text, where, pathHelp);
  return pattern;
}

function hostPattern(text: string, where: string): string {
  const lower = typeof text === "string" ? text.toLowerCase() : "";
  if (/^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$|^\[[0-9a-f:.]+\]$/.test(lower)) return lower;
  throw misfit(text, where, hostHelp);
}

function misfit(value: unknown, where: string, way: string): ConfigError {
  return new ConfigError("TG_MATCH", where, `${shown(value)} does not say which requests are meant.`, way);
}

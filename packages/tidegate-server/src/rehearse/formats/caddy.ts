import { addressText } from "../address-text.js";
import type { LogFormat, Parsed, ParserTerms } from "../line-parser.js";
import { anyTime } from "../log-time.js";
import { LoggedRequest, outcomeOf } from "../logged-request.js";
import { isMethod, takeTarget } from "../request-line.js";
import { jsonObject } from "./json-object.js";

/** Caddy's access log: the request is an object in the object. */
export const caddy: LogFormat = {
  name: "caddy",
  isLike: (line) => {
    const entry = jsonObject(line);
    return entry !== undefined && requestIn(entry)?.remote_ip !== undefined;
  },
  open: (terms) => (text, from, to) => {
    const entry = jsonObject(text.substring(from, to));
    return entry && parsed(entry, terms);
  },
};

function parsed(entry: Record<string, unknown>, { clientOf }: ParserTerms): Parsed {
  const told = requestIn(entry);
  // Caddy writes whatever else happens into the same file, if told so.
  if (told === undefined) return typeof entry.level === "string" ? "skipped" : undefined;
  const moment = anyTime(entry.ts);
  const peer = addressText(String(told.client_ip ?? told.remote_ip ?? ""));
  const { method, uri, host } = told;
  if (moment === undefined || peer === "" || typeof uri !== "string" || typeof method !== "string")
    return undefined;
  if (!isMethod(method)) return "skipped";
  const request = new LoggedRequest();
  request.tookMs = durationOf(entry.duration);
  request.at = moment.isCoarse ? moment.ms : moment.ms - request.tookMs;
  if (!(request.at >= 0)) return undefined;
  request.method = method;
  request.host = typeof host === "string" ? host : "";
  takeTarget(uri, request);
  request.outcome = outcomeOf(Number(entry.status ?? 0));
  request.headers = headersOf(told.headers);
  request.userAgent = request.headers["user-agent"];
  request.referer = request.headers.referer;
  request.account = typeof entry.user_id === "string" && entry.user_id !== "" ? entry.user_id : undefined;
  request.ip = clientOf === undefined ? peer : clientOf(peer, (name) => request.header(name));
  return request;
}

function requestIn({ request }: Record<string, unknown>): Record<string, unknown> | undefined {
  return typeof request === "object" && request !== null ? (request as Record<string, unknown>) : undefined;
}

/** Seconds as a number, or as `duration_format` has it: `1.5ms`. The log is written when a request ends. */
function durationOf(duration: unknown): number {
  if (typeof duration === "number") return duration > 0 && duration < 86_400 ? duration * 1000 : 0;
  const [, count, unit] = /^([\d.]+)(µs|Âµs|us|ms|s)$/.exec(String(duration)) ?? [];
  const each = unit === "s" ? 1000 : unit === "ms" ? 1 : 0.001;
  return count === undefined ? 0 : Number(count) * each;
}

/** Caddy leaves out what is secret (cookies, authorization) unless told otherwise. */
function headersOf(told: unknown): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  if (typeof told !== "object" || told === null) return headers;
  for (const [name, values] of Object.entries(told)) {
    const text = Array.isArray(values) ? values.join(", ") : String(values);
    if (text !== "REDACTED" && text !== "") headers[name.toLowerCase()] = text;
  }
  return headers;
}

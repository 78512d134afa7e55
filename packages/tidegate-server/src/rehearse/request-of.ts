import { addressText } from "./address-text.js";
import type { Parsed, ParserTerms } from "./line-parser.js";
import { anyTime, type Moment } from "./log-time.js";
import { LoggedRequest, outcomeOf } from "./logged-request.js";
import { isMethod, takeRequestLine, takeTarget } from "./request-line.js";

/** What a log says of one request, by nginx's names for it; others' names for the same are known too. */
export type Facts = Readonly<Record<string, unknown>>;

const names = {
  time: ["msec", "time_iso8601", "time_local", "time", "timestamp", "@timestamp", "ts", "datetime", "date"],
  ip: ["remote_addr", "client_ip", "remote_ip", "clientip", "client", "ip", "c-ip"],
  method: ["request_method", "method", "http_method", "verb"],
  target: ["request_uri", "uri", "url", "path"],
  host: ["http_host", "host", "server_name", "vhost"],
  agent: ["http_user_agent", "user_agent", "useragent", "userAgent", "agent"],
  referer: ["http_referer", "referer", "referrer", "http_referrer"],
  status: ["status", "status_code", "response_status", "code"],
  account: ["account", "remote_user"],
  forwarded: ["http_x_forwarded_for", "x_forwarded_for", "xff"],
} as const;

/** Undefined when time, client or request is missing: then the line can not be read. */
export function requestOf(facts: Facts, { clientOf }: ParserTerms): Parsed {
  const moment = timeOf(facts);
  const peer = addressText(textOf(facts, names.ip) ?? "");
  if (moment === undefined || peer === "") return undefined;
  const request = new LoggedRequest();
  request.tookMs = durationOf(facts);
  request.at = moment.isCoarse ? moment.ms : moment.ms - request.tookMs;
  if (!(request.at >= 0)) return undefined;
  request.host = textOf(facts, names.host) ?? "";
  const taken = takeRequest(facts, request);
  if (taken !== true) return taken;
  request.userAgent = textOf(facts, names.agent);
  request.referer = textOf(facts, names.referer);
  request.account = textOf(facts, names.account);
  request.user = textOf(facts, ["user"]);
  request.customer = textOf(facts, ["customer"]);
  request.outcome = outcomeOf(Number(textOf(facts, names.status) ?? 0));
  request.headers = headersOf(facts);
  request.ip = clientOf === undefined ? peer : clientOf(peer, (name) => request.header(name));
  return request;
}

function takeRequest(facts: Facts, request: LoggedRequest): Parsed | true {
  const method = textOf(facts, names.method);
  const target = textOf(facts, names.target);
  if (method !== undefined && target !== undefined) {
    if (!isMethod(method)) return "skipped";
    const query = facts.request_uri === undefined ? textOf(facts, ["args", "query_string"]) : undefined;
    request.method = method;
    takeTarget(query === undefined ? target : `${target}?${query}`, request);
    return true;
  }
  if (typeof facts.request !== "string") return undefined;
  return takeRequestLine(facts.request, request) ? true : "skipped";
}

/** The first of these that says something. */
function textOf(facts: Facts, known: readonly string[]): string | undefined {
  for (const name of known) {
    const value = facts[name];
    if (typeof value === "number") return String(value);
    if (typeof value === "string" && value !== "" && value !== "-") return value;
  }
  return undefined;
}

function timeOf(facts: Facts): Moment | undefined {
  for (const name of names.time) {
    const value = facts[name];
    const moment = value === undefined ? undefined : anyTime(value);
    if (moment !== undefined) return moment;
  }
  return undefined;
}

/** Logs are written when a request ends; the gate sees it when it begins. Milliseconds. */
function durationOf(facts: Facts): number {
  const seconds = Number(facts.request_time ?? 0);
  return seconds > 0 && seconds < 86_400 ? seconds * 1000 : 0;
}

/** `http_x_id` is the header x-id, `cookie_session` a cookie. */
function headersOf(facts: Facts): Record<string, string> | undefined {
  let headers: Record<string, string> | undefined;
  const forwarded = textOf(facts, names.forwarded);
  if (forwarded !== undefined) headers = { "x-forwarded-for": forwarded };
  for (const name in facts) {
    const isHeader = name.startsWith("http_");
    if (!isHeader && !name.startsWith("cookie_")) continue;
    const value = textOf(facts, [name]);
    if (value === undefined) continue;
    headers ??= {};
    if (isHeader) headers[name.slice(5).replaceAll("_", "-").toLowerCase()] = value;
    else
      headers.cookie = `${headers.cookie === undefined ? "" : `${headers.cookie}; `}${name.slice(7)}=${value}`;
  }
  return headers;
}

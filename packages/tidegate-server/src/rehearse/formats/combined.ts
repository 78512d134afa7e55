import { addressText } from "../address-text.js";
import { interned } from "../interned.js";
import type { LineParser, LogFormat, ParserTerms } from "../line-parser.js";
import { clfClock } from "../log-time.js";
import { LoggedRequest, outcomeOf } from "../logged-request.js";
import { closingQuote, told, unescaped } from "../quoted.js";
import { isMethod, takeRequestLine } from "../request-line.js";
import { template } from "./template.js";

const head = String.raw`\S+ \S+ .*\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "(?:[^"\\]|\\.)*" (?:\d{3}|-) (?:\d+|-)`;
const commonLine = new RegExp(`^${head}\\s*$`);
const combinedLine = new RegExp(`^${head} "(?:[^"\\\\]|\\\\.)*" "(?:[^"\\\\]|\\\\.)*"`);

/** `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i"`, and whatever stands behind it. */
export const combined: LogFormat = {
  name: "combined",
  isLike: (line) => combinedLine.test(line),
  open: combinedParser,
  notes: ["A combined log does not tell the host: rules for one host are judged as if none was named."],
  isCoarse: true,
};

/** The same without referer and user agent. */
export const common: LogFormat = {
  name: "common",
  isLike: (line) => commonLine.test(line),
  open: combinedParser,
  notes: ["A common log tells neither the host nor the user agent: fingerprints are made without them."],
  isCoarse: true,
};

/** As nginx's own example goes on, `main`: where the client is told by a proxy, that is where. */
const withForwarded = template(
  '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" "$http_x_forwarded_for"',
);

const space = 32;
const dash = 45;
const slash = 47;
const quote = 34;
const bracket = 91;

/** By hand, for this is the format of which there are gigabytes: every `indexOf` is one that ends soon. */
function combinedParser(terms: ParserTerms): LineParser {
  if (terms.clientOf !== undefined) return withForwarded.open(terms);
  const timeAt = clfClock();
  const address = interned({ slots: 65_536, longest: 48, make: addressText });
  const referer = interned({ slots: 4_096, longest: 128, make: unescaped });
  const agent = interned({ slots: 4_096, longest: 256, make: unescaped });
  const method = interned({ slots: 64, longest: 32, make: (raw) => (isMethod(raw) ? raw : "") });

  return (text, from, to, view) => {
    const addressEnd = text.indexOf(" ", from);
    // A user name may hold anything but a bare quote, so the time is what stands before the first `] "`.
    const timeEnd = text.indexOf('] "', addressEnd);
    if (addressEnd < 0 || timeEnd < 0 || timeEnd >= to || text.charCodeAt(timeEnd - 27) !== bracket)
      return undefined;
    const at = timeAt(text, timeEnd - 26);
    const ip = address(text, view, from, addressEnd);
    const begin = timeEnd + 3;
    const end = closingQuote(text, begin, to);
    if (!(at >= 0) || ip === "" || end < 0) return undefined;
    const status = statusAt(text, end + 2, to);
    if (status < 0) return undefined;

    const request = new LoggedRequest();
    request.at = at;
    request.ip = ip;
    request.outcome = outcomeOf(status);
    const methodEnd = text.indexOf(" ", begin);
    const targetEnd = text.lastIndexOf(" ", end - 1);
    if (text.charCodeAt(methodEnd + 1) === slash && methodEnd < targetEnd && isVersion(text, targetEnd + 1)) {
      request.method = method(text, view, begin, methodEnd);
      // Of paths there are too many to remember them; whoever keeps one makes a copy.
      request.path = unescaped(text.substring(methodEnd + 1, targetEnd));
      if (request.method === "") return "skipped";
    } else if (!takeRequestLine(unescaped(text.substring(begin, end)), request)) return "skipped";

    if (timeEnd - addressEnd !== 32 || text.charCodeAt(timeEnd - 29) !== dash)
      request.account = userOf(text.substring(addressEnd + 1, timeEnd - 28));
    const refererAt = text.indexOf('"', end + 6);
    if (refererAt < 0 || refererAt >= to) return request;
    const refererEnd = closingQuote(text, refererAt + 1, to);
    if (refererEnd < 0) return undefined;
    if (refererEnd - refererAt > 2) request.referer = told(referer(text, view, refererAt + 1, refererEnd));
    if (text.charCodeAt(refererEnd + 2) !== quote || refererEnd + 2 >= to) return request;
    const agentEnd = closingQuote(text, refererEnd + 3, to);
    if (agentEnd < 0) return undefined;
    request.userAgent = told(agent(text, view, refererEnd + 3, agentEnd));
    return request;
  };
}

function isVersion(text: string, at: number): boolean {
  return text.startsWith("HTTP/", at);
}

/** Three digits, or 0 for a dash; -1 for anything else. */
function statusAt(text: string, at: number, to: number): number {
  if (at + 3 > to) return text.charCodeAt(at) === dash ? 0 : -1;
  const status =
    (text.charCodeAt(at) - 48) * 100 + (text.charCodeAt(at + 1) - 48) * 10 + text.charCodeAt(at + 2) - 48;
  const isWhole = at + 3 === to || text.charCodeAt(at + 3) === space;
  if (status >= 0 && status <= 999 && isWhole) return status;
  return text.startsWith("- ", at) ? 0 : -1;
}

/** What stands between the address and the time: identity and user. */
function userOf(text: string): string | undefined {
  const user = text.slice(text.indexOf(" ") + 1);
  return user === '""' ? undefined : told(unescaped(user));
}

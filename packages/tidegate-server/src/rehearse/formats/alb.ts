import { standalone } from "../interned.js";
import type { LineParser, LogFormat, ParserTerms } from "../line-parser.js";
import { closingQuote, unescaped } from "../quoted.js";
import { requestOf } from "../request-of.js";

/** Of an application load balancer of AWS: fields between spaces, some in quotes. */
export const alb: LogFormat = {
  name: "alb",
  isLike: (line) => /^(?:https?|h2|grpcs|wss?) \d{4}-\d\d-\d\dT\S+Z \S+ \S+:\d+ .*"[^"]*" "/.test(line),
  open: albParser,
};

const names = [
  "type",
  "time",
  "elb",
  "client",
  "target",
  "request_processing_time",
  "target_processing_time",
  "response_processing_time",
  "status",
  "target_status_code",
  "received_bytes",
  "sent_bytes",
  "request",
  "user_agent",
  "ssl_cipher",
  "ssl_protocol",
  "target_group_arn",
  "trace_id",
  "domain_name",
  "chosen_cert_arn",
  "matched_rule_priority",
  "request_creation_time",
];
const needed = names.indexOf("user_agent");

function albParser(terms: ParserTerms): LineParser {
  return (text, from, to) => {
    const facts: Record<string, unknown> = {};
    let at = from;
    let count = 0;
    for (; count < names.length && at < to; count++) {
      const isQuoted = text.charCodeAt(at) === 34;
      const end = isQuoted ? closingQuote(text, at + 1, to) : text.indexOf(" ", at);
      if (isQuoted && end < 0) return undefined;
      const last = end < 0 || end > to ? to : end;
      facts[names[count] as string] = unescaped(standalone(text.substring(isQuoted ? at + 1 : at, last)));
      at = last + (isQuoted ? 2 : 1);
    }
    if (count <= needed) return undefined;
    // When it came in, and not when it was answered, where that is told.
    const came = facts.request_creation_time;
    return requestOf(
      { ...facts, ...(typeof came === "string" && came.endsWith("Z") && { time: came }) },
      terms,
    );
  };
}

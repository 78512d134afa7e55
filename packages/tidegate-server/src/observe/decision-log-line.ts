import { createHash } from "node:crypto";
import type { Decision, Subject, Verdict } from "tidegate";
import { type FingerprintForm, fingerprintsOf } from "tidegate/http";
import type { Offender } from "../offenders.js";
import { printableJson } from "../printable.js";
import { loggable } from "./loggable.js";

const longestPath = 1_000;
const longestFact = 200;

/** One decision as one line of JSON. Of headers only the user agent, of the path nothing behind the `?`, and no address as it is. */
export function decisionLine(
  subject: Subject,
  decision: Decision,
  terms: { readonly at: number; readonly form: FingerprintForm },
): string {
  const { id, allowed, reason, verdict, source, delayedMs, listed } = decision;
  const { standard, address } = fingerprintsOf(subject, terms.form);
  const userAgent = subject.header("user-agent");
  return line({
    at: timeText(terms.at),
    kind: "decision",
    id,
    allowed,
    reason,
    client: standard,
    ...(address !== "unknown" && { address: addressDigest(address) }),
    ...(verdict && countsOf(verdict)),
    ...(source !== "store" && { source }),
    ...(listed && { listed: cut(listed.address, longestFact) }),
    ...(delayedMs > 0 && { delayedMs }),
    method: cut(subject.method, longestFact),
    host: cut(subject.host, longestFact),
    path: cut(subject.path.split("?", 1)[0] as string, longestPath),
    ...(userAgent !== undefined && { userAgent: cut(userAgent, longestFact) }),
  });
}

/** A client that is held for the edges. `client` is the key they know it by: a digest, or, of rules by address, the address itself. */
export function heldLine(
  { key, rule, crossedAt, until, score, leaked, edges, about }: Offender,
  at: number,
): string {
  return line({
    at: timeText(at),
    kind: "control",
    event: "held",
    client: key,
    ...(about.ip !== undefined && { address: addressDigest(about.ip) }),
    rule,
    crossedAt: timeText(crossedAt),
    heldUntil: timeText(until),
    score,
    leaked,
    ...(edges.length > 0 && { edges }),
  });
}

/** Something control did, as one line of JSON. Secrets that can be told for such are left out. */
export function controlLine(event: Readonly<Record<string, unknown>>, at: number): string {
  return line({ ...loggable(event), at: timeText(at), kind: "control" });
}

function countsOf({ rule, name, tier, limit, windowMs, remaining, estimate, ...rest }: Verdict) {
  const { retryAfterMs, heldUntil, crossed } = rest;
  return {
    rule,
    level: name,
    ...(tier !== undefined && { tier: cut(tier, longestFact) }),
    counts: {
      limit,
      windowMs,
      remaining,
      ...(estimate !== undefined && { estimate }),
      // Infinity is null in JSON: never.
      retryAfterMs,
    },
    ...(heldUntil !== undefined && { heldUntil: timeText(heldUntil) }),
    ...(crossed && { crossed }),
  };
}

/** Of the whole address in its one spelling. */
function addressDigest(address: string): string {
  return createHash("sha256").update(address).digest("hex");
}

function line(fields: Readonly<Record<string, unknown>>): string {
  return `${printableJson(JSON.stringify(fields)).replaceAll("\n", "\\n")}\n`;
}

function cut(text: string, most: number): string {
  return text.slice(0, most);
}

function timeText(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : "never";
}

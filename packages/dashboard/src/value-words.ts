import { span, timeText } from "./words.ts";

const kinds: Readonly<Record<string, string>> = {
  "blocklist.add": "put on the blocklist",
  "blocklist.remove": "taken off the blocklist",
  "safelist.add": "put on the safelist",
  "safelist.remove": "taken off the safelist",
  "customer.tier": "tier set",
  "customer.limits": "own limits set",
  "policy.api": "policy edited",
  "policy.rollback": "policy rolled back",
  "policy.file": "policy taken from its file",
  "policy.demo": "policy of the demo",
  "edge.mode": "edge switched",
  "edge.sync": "edge set right",
  "client.clear": "client cleared",
  "token.create": "token created",
  "token.revoke": "token revoked",
  "token.login-code": "login link made",
};

/** What the audit calls `policy.api`, for people. */
export function deed(what: string): string {
  return kinds[what] ?? what;
}

const sources: Readonly<Record<string, string>> = {
  api: "edited",
  rollback: "rolled back",
  file: "from its file",
  demo: "of the demo",
};

/** Where a version of the policy came from. */
export function sourceWords(source: string): string {
  return sources[source] ?? source;
}

/** A value of the audit, before or after a change of this kind. */
export function valueWords(what: string, value: unknown): string {
  if (what === "customer.tier" && value === null) return "the default tier";
  if (what === "customer.limits")
    return value === null ? "those of the tier" : limitsWords(value as Readonly<Record<string, number>>);
  if (value === undefined || value === null) return "–";
  if (what.startsWith("policy.")) return `version ${isMap(value) ? value.id : value}`;
  return plainWords(value);
}

function limitsWords(limits: Readonly<Record<string, number>> | undefined): string {
  return Object.entries(limits ?? {})
    .map(([seconds, limit]) => `${limit} in ${span(Number(seconds) * 1000)}`)
    .join(", ");
}

/** Of no use to people. */
const leftOut = new Set(["id", "digest", "etag"]);

const names: Readonly<Record<string, string>> = {
  who: "by",
  why: "why:",
  createdBy: "made by",
  createdAt: "made",
  lastUsedAt: "last used",
  userAgent: "user agent",
  holdOffUntil: "held off until",
};

function plainWords(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(plainWords).join("; ");
  if (!isMap(value)) return String(value);
  const parts = Object.entries(value)
    .filter(([name, each]) => !leftOut.has(name) && each !== undefined && each !== null)
    .map(([name, each]) => {
      const isTime = /^(?:at|since|until)$|At$|Until$/.test(name) && typeof each === "number";
      return name === "address"
        ? String(each)
        : `${names[name] ?? name} ${isTime ? timeText(moments, each) : plainWords(each)}`;
    });
  const isEntry = "address" in value && !("until" in value);
  return [...parts, ...(isEntry ? ["permanent"] : [])].join(", ");
}

/** With its zone: an audit is read in more than one. */
const moments = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

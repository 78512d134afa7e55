import type { IncomingMessage } from "node:http";
import type { Gate, Policy, Subject } from "tidegate";
import { compileMatch, pathReadings, type RequestMatch } from "tidegate/http";
import type { Problem } from "./problem.js";
import type { Settings } from "./settings.js";

type Head = Pick<IncomingMessage, "rawHeaders" | "headers">;

/** The rules that count by a header or cookie. */
interface Counting {
  readonly rules: RequestMatch[];
  /** How a header may be spelt: as these rules name it. */
  readonly spellings: Set<string>;
}

interface Counted {
  /** By names as apps read them. */
  readonly headers: ReadonlyMap<string, Counting>;
  readonly cookies: ReadonlyMap<string, Counting>;
}

export interface SaidOnceOptions {
  readonly gate: Pick<Gate, "policy">;
  readonly identify: Settings["identify"];
}

const saidTwice: Problem = {
  status: 400,
  code: "TG_REQUEST_REPEATED",
  title: "Bad Request",
  detail:
    "A header or cookie by which requests are counted came more than once, or as X_Name for X-Name. Send it once.",
};

/**
 * Answers the function that finds what a rule counts this request by, and the request says several times or in another spelling:
 * the app may read another one than was counted, and each request could add a new one.
 */
export function saidOnce({
  gate,
  identify,
}: SaidOnceOptions): <Request extends Head>(
  req: Request,
  subjectOf: (req: Request) => Subject,
) => Problem | undefined {
  const account = typeof identify.account === "string" ? identify.account : undefined;
  let seen: Policy | undefined;
  let counted: Counted = { headers: new Map(), cookies: new Map() };
  return (req, subjectOf) => {
    const { rawHeaders } = req;
    const { cookie } = req.headers;
    const { policy } = gate;
    if (policy !== seen) {
      seen = policy;
      counted = countedBy(policy, account);
    }
    const { headers, cookies } = counted;
    for (const [name, counting] of headers)
      if (isInDoubt(rawHeaders, name, counting.spellings) && isCounted(counting, subjectOf(req)))
        return saidTwice;
    if (cookie !== undefined)
      for (const [name, counting] of cookies)
        if (isContradicted(cookie, name) && isCounted(counting, subjectOf(req))) return saidTwice;
    return undefined;
  };
}

/** What rules only watch they refuse nobody for. */
function countedBy({ mode: policyMode = "enforce", rules }: Policy, account: string | undefined): Counted {
  const headers = new Map<string, Counting>();
  const cookies = new Map<string, Counting>();
  if (policyMode !== "enforce") return { headers, cookies };
  for (const rule of rules) {
    const { by, trust, hold, mode = "enforce" } = rule;
    if (mode !== "enforce") continue;
    // Who is held everywhere is looked for on every path.
    const match = hold?.everywhere === true ? () => true : compileMatch(rule, rule.name);
    const add = (all: Map<string, Counting>, name: string): Counting => {
      const counting = all.get(name) ?? { rules: [], spellings: new Set() };
      all.set(name, counting);
      counting.rules.push(match);
      return counting;
    };
    const addHeader = (name: string): void => {
      const spelling = name.toLowerCase();
      add(headers, asRead(spelling)).spellings.add(spelling);
    };
    for (const fact of [by, trust?.by ?? []].flat()) {
      if (typeof fact !== "string") continue;
      if (fact === "apiKey") ["X-API-Key", "Authorization"].forEach(addHeader);
      else if (fact === "account") ["Authorization", account ?? []].flat().forEach(addHeader);
      else if (fact.startsWith("header:")) addHeader(fact.slice("header:".length));
      else if (fact.startsWith("cookie:")) add(cookies, fact.slice("cookie:".length));
    }
  }
  return { headers, cookies };
}

function isCounted({ rules }: Counting, subject: Subject): boolean {
  const readings = pathReadings(subject.path);
  return rules.some((match) => match(subject, readings));
}

function isInDoubt(rawHeaders: readonly string[], name: string, spellings: ReadonlySet<string>): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const each = rawHeaders[i] as string;
    if (each.length !== name.length) continue;
    const spelling = each.toLowerCase();
    if (asRead(spelling) !== name) continue;
    if (++count > 1 || !spellings.has(spelling)) return true;
  }
  return false;
}

/** Browsers repeat a cookie that is kept for two paths. What counts is whether its values differ. */
function isContradicted(cookies: string, name: string): boolean {
  let value: string | undefined;
  for (const pair of cookies.split(";")) {
    const at = pair.indexOf("=");
    if (at < 0 || pair.slice(0, at).trim() !== name) continue;
    const other = pair.slice(at + 1).trim();
    if (value !== undefined && value !== other) return true;
    value = other;
  }
  return false;
}

/** Many apps read `X_Api_Key` as `X-Api-Key`. */
function asRead(lower: string): string {
  return lower.replaceAll("_", "-");
}

import type { IncomingMessage } from "node:http";
import type { Gate, Policy, RuleOptions } from "tidegate";
import type { Problem } from "../problem.js";
import { problems } from "./problems.js";

type Head = Pick<IncomingMessage, "rawHeaders" | "headers">;

interface Counted {
  /** Names of headers, spelt as apps read them. */
  readonly headers: readonly string[];
  readonly cookies: readonly string[];
}

/**
 * Answers the function that finds what a rule in force counts by, and a request says several times: the app may read another
 * one than was counted, and each request could add a new one.
 */
export function saidOnce(gate: Pick<Gate, "policy">): (req: Head) => Problem | undefined {
  let seen: Policy | undefined;
  let counted: Counted = { headers: [], cookies: [] };
  return ({ rawHeaders, headers: { cookie } }) => {
    const { policy } = gate;
    if (policy !== seen) {
      seen = policy;
      counted = countedBy(policy.rules);
    }
    const { headers, cookies } = counted;
    for (const name of headers) if (isRepeated(rawHeaders, name)) return problems.saidTwice;
    if (cookie !== undefined)
      for (const name of cookies) if (isContradicted(cookie, name)) return problems.saidTwice;
    return undefined;
  };
}

function countedBy(rules: readonly RuleOptions[]): Counted {
  const headers = new Set<string>();
  const cookies = new Set<string>();
  for (const { by, trust, mode } of rules) {
    if (mode === "off") continue;
    for (const fact of [by, trust?.by ?? []].flat()) {
      if (typeof fact !== "string") continue;
      if (fact === "apiKey") headers.add("x-api-key").add("authorization");
      else if (fact.startsWith("header:")) headers.add(asRead(fact.slice("header:".length)));
      else if (fact.startsWith("cookie:")) cookies.add(fact.slice("cookie:".length));
    }
  }
  return { headers: [...headers], cookies: [...cookies] };
}

function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const each = rawHeaders[i] as string;
    if (each.length === name.length && asRead(each) === name) count++;
  }
  return count > 1;
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
function asRead(name: string): string {
  return name.toLowerCase().replaceAll("_", "-");
}

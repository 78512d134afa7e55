import type { RuleOptions } from "tidegate";
import { type Path, pathText } from "./path.js";
import type { LimitReader } from "./read-limits.js";
import type { ReadPolicy } from "./read-policy.js";

/** Whom a proxy knows only when it is told where to look. */
export type ToldFact = "user" | "customer" | "account";

/** Tells of rules in force that count somebody of whom nothing tells the proxy; of each place in the file once. */
export function warnOfUntold(
  { policy, writtenAt }: ReadPolicy,
  base: Path,
  untold: readonly ToldFact[],
  { warn }: Pick<LimitReader, "warn">,
): void {
  if (policy.mode === "off" || policy.mode === "shadow") return;
  const places = new Set<string>();
  for (const [i, rule] of policy.rules.entries()) {
    const fact = rule.mode === undefined || rule.mode === "enforce" ? untoldOf(rule, untold) : undefined;
    const path = [...base, ...writtenAt(["rules", i])];
    if (fact === undefined || places.has(pathText(path))) continue;
    places.add(pathText(path));
    const [message, help] = fact === "account" ? accountWords(rule) : headerWords(rule, fact);
    warn({ code: "TG_IDENTIFY_MISSING", message, help }, path);
  }
}

function untoldOf({ by }: RuleOptions, untold: readonly ToldFact[]): ToldFact | undefined {
  const facts: readonly unknown[] = [by].flat();
  return untold.find((fact) => facts.includes(fact));
}

type Told = [message: string, help: string];

function accountWords({ name, by }: RuleOptions): Told {
  return [
    `Rule ${JSON.stringify(name)} counts by account, and of accounts the proxy knows only names in basic auth: all other logins ${
      Array.isArray(by) ? "from one place are counted as one" : "pass it by"
    }.`,
    "Say where the name is, beside policy: identify: { account: { field: email } } for a field of the login form, or identify: { account: X-Login-Name } for a header.",
  ];
}

function headerWords({ name, by }: RuleOptions, fact: ToldFact): Told {
  const header = fact === "user" ? "X-User-Id" : "X-Customer-Id";
  return [
    `Rule ${JSON.stringify(name)} counts by ${fact}, and nothing tells the proxy who that is, so ${
      Array.isArray(by) ? "all are counted as one" : "it applies to nobody there"
    }.`,
    `Name the header in which a trusted proxy says it, beside policy: identify: { ${fact}: ${header} }, and that proxy in trustedProxies; or set listen.proxy: false if only decisions are asked for.`,
  ];
}

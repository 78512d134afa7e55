import { concurrency, loginRules, type Policy, type RuleOptions } from "tidegate";
import { describe, expect, it } from "vitest";
import type { Settings } from "../settings.js";
import { validateForDecide } from "./validate-for-decide.js";

const base = { name: "login", by: "ip", limits: "5 per 1m" } as const;
const slots = concurrency({ limit: 2, leaseFor: "1m" });

function settings(canFinish: boolean, isServed = true): Pick<Settings, "listen" | "decide"> {
  const listen = isServed ? { decide: { host: "127.0.0.1", port: 0 } } : {};
  return { listen, decide: { peers: ["loopback"], canFinish, hosts: [] } };
}

const needing: [option: string, rule: RuleOptions, policy?: Partial<Policy>][] = [
  ["count", { ...base, count: "failures" }],
  ["count", { ...base, count: () => true }],
  ["count", { ...base, count: "successes", mode: "shadow" }],
  ["clearOnSuccess", { ...base, clearOnSuccess: true }],
  ["trust", { ...base, trust: { by: "ip", for: "1d" } }],
  ["limits", { ...base, limits: slots }],
  ["limits", { ...base, limits: ["5 per 1m", slots] }],
  ["limits", { ...base, limits: "tier" }, { tiers: { free: [slots] } }],
];

describe("a rule that has to hear how a request ended", () => {
  it.each(needing)("is refused by its %s, with the fix", (option, rule, policy) => {
    const whole = { ...policy, rules: [{ ...base, name: "first" }, rule] };
    const load = () => validateForDecide(whole, settings(false));
    expect(load).toThrow(
      expect.objectContaining({ code: "TG_RULE_FINISH", path: `rules[1] ("login").${option}` }),
    );
    expect(load).toThrow(/decide\.canFinish: true.*listen\.decide: false/);
    expect(() => validateForDecide(whole, settings(true))).not.toThrow();
    expect(() => validateForDecide(whole, settings(false, false))).not.toThrow();
  });

  it("is let be where nobody is declared: strangers are judged as themselves", () => {
    const { listen, decide } = settings(false);
    const rules: RuleOptions[] = [{ ...base, count: "failures" }];
    expect(() => validateForDecide({ rules }, { listen, decide: { ...decide, peers: [] } })).not.toThrow();
  });

  it("is let be while it is switched off", () => {
    const rule: RuleOptions = { ...base, count: "failures" };
    expect(() => validateForDecide({ rules: [{ ...rule, mode: "off" }] }, settings(false))).not.toThrow();
    expect(() => validateForDecide({ rules: [rule], mode: "off" }, settings(false))).not.toThrow();
  });

  it("is found in the library's own login rules", () => {
    expect(() => validateForDecide({ rules: loginRules({ only: "POST /login" }) }, settings(false))).toThrow(
      /TG_RULE_FINISH/,
    );
  });

  it("others pass", () => {
    const rules: RuleOptions[] = [base, { ...base, name: "b", count: "all", hold: { for: "1m" } }];
    expect(() => validateForDecide({ rules }, settings(false))).not.toThrow();
  });
});

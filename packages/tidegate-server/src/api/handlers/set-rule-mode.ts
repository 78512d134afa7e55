import { TidegateError } from "tidegate";
import { type RuleMode, withRuleMode } from "../../config/rule-mode.js";
import type { PolicyVersion } from "../../data.js";
import { notFound } from "../api-problem.js";
import { changePolicy } from "../conflict/policy-standing.js";
import { policyTag } from "../conflict/tags.js";
import type { AdminParts, Answer, Ask, Handler } from "../handler.js";
import { parseAs, ruleModeBody } from "../shapes.js";
import type { PolicyVersionAnswer } from "../types.js";

/** Somebody else's version may come between looking and writing; as often one looks again. */
const mostTries = 5;

/** The newest policy's text with nothing changed but this. The keeper leaves the audit entry. */
export const setRuleMode: Handler<PolicyVersionAnswer> = async (parts, ask) => {
  const { mode, why } = parseAs(ruleModeBody, await ask.body(), "body");
  const change = { rule: ask.param("rule"), mode, why, who: ask.who() };
  for (let tries = 1; ; tries++)
    try {
      return await parts.turn("policy rule", () => setOnce(parts, ask, change));
    } catch (error) {
      const isLate = error instanceof TidegateError && error.code === "TG_POLICY_CONFLICT";
      if (!isLate || tries === mostTries) throw error;
    }
};

async function setOnce(
  parts: AdminParts,
  { req }: Ask,
  change: { rule: string; mode: RuleMode; why: string | undefined; who: string },
): Promise<Answer<PolicyVersionAnswer>> {
  const { rule, mode, why, who } = change;
  const newest = await parts.data.policies.newest();
  const text = newest && withRuleMode(newest.text, rule, mode);
  if (newest === undefined || text === undefined) throw noSuchRule(parts, newest);
  const isSame = text === newest.text;
  const version = await changePolicy(parts, req, newest, async () =>
    isSame
      ? newest
      : parts.keeper.takeIn(text, { who, source: "api", why: said(rule, mode, why), after: newest.id }),
  );
  return {
    status: isSame ? 200 : 201,
    body: { version, ...(!isSame && { before: newest.id }) },
    etag: policyTag(version.id),
  };
}

/** The audit has versions; which rule it was is worth saying. */
function said(rule: string, mode: RuleMode, why: string | undefined): string {
  return `rule ${rule}: ${mode}${why === undefined || why === "" ? "" : ` (${why})`}`;
}

function noSuchRule({ gate }: AdminParts, newest: PolicyVersion | undefined) {
  const names = gate.policy.rules.map(({ name }) => name);
  return notFound(
    newest === undefined ? "No policy is stored yet." : "The newest policy has no such rule.",
    names.length === 0 ? "It has none at all." : `There are ${names.slice(0, 20).join(", ")}.`,
  );
}

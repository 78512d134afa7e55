import { ConfigError, type Policy } from "tidegate";
import { hasSilentCallers, type Settings } from "../settings.js";
import { finishRules } from "./finish-rules.js";

const reasons = {
  count: "it counts by how a request ended",
  clearOnSuccess: "it forgets a client when a request succeeded",
  trust: "it trusts a client when a request succeeded",
  limits: "it limits what happens at the same time, and has to hear when a request ended",
} as const;

/**
 * Throws for a rule the decision service can not keep. Every rule in force reaches its callers: `only` and `except` tell
 * requests apart, not the way they came. Where nobody is declared, strangers are judged as themselves, and that is all right.
 */
export function validateForDecide(policy: Policy, settings: Pick<Settings, "listen" | "decide">): void {
  if (!hasSilentCallers(settings)) return;
  const [first] = finishRules(policy);
  if (first === undefined) return;
  const { at, rule, option } = first;
  throw new ConfigError(
    "TG_RULE_FINISH",
    `rules[${at}] (${JSON.stringify(rule.name)}).${option}`,
    `${reasons[option]}, and callers of the decision service do not say how one ended.`,
    "Set decide.canFinish: true if they will send /v1/finish, or listen.decide: false if there are none; or drop the option.",
  );
}

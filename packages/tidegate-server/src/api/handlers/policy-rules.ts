import { policyTag } from "../conflict/tags.js";
import type { Handler } from "../handler.js";
import type { PolicyRulesAnswer } from "../types.js";

export const policyRules: Handler<PolicyRulesAnswer> = ({ gate, keeper }) => {
  const { version } = keeper.status();
  const { mode = "enforce", rules, tiers = {} } = gate.policy;
  return {
    body: {
      version,
      mode,
      rules: rules.map(({ name, mode: own = "enforce", only, except }) => ({
        name,
        mode: own,
        ...((only !== undefined || except !== undefined) && { isPartial: true as const }),
      })),
      tiers: Object.keys(tiers),
    },
    etag: policyTag(version),
  };
};

import type { Handler } from "../handler.js";
import type { PolicyAnswer } from "../types.js";

export const policy: Handler<PolicyAnswer> = async ({ keeper, data }) => {
  const status = keeper.status();
  const version = status.version === 0 ? undefined : await data.policies.get(status.version);
  return { body: { status, version: version ?? null } };
};

import type { Handler } from "../handler.js";
import { parseAs, rollbackBody } from "../shapes.js";
import type { PolicyVersionAnswer } from "../types.js";

/** The keeper leaves the audit entry. */
export const rollbackPolicy: Handler<PolicyVersionAnswer> = async ({ keeper }, ask) => {
  const { to, why } = parseAs(rollbackBody, await ask.body(), "body");
  const version = await keeper.rollback({
    who: ask.who(),
    ...(to !== undefined && { to }),
    ...(why !== undefined && { why }),
  });
  return { status: 201, body: { version } };
};

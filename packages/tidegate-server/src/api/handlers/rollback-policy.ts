import { changePolicy } from "../conflict/policy-standing.js";
import { policyTag } from "../conflict/tags.js";
import type { Handler } from "../handler.js";
import { parseAs, rollbackBody } from "../shapes.js";
import type { PolicyVersionAnswer } from "../types.js";

/** The keeper leaves the audit entry. */
export const rollbackPolicy: Handler<PolicyVersionAnswer> = async (parts, ask) => {
  const { to, why } = parseAs(rollbackBody, await ask.body(), "body");
  const who = ask.who();
  const newest = await parts.data.policies.newest();
  const version = await changePolicy(parts, ask.req, newest, (after) =>
    parts.keeper.rollback({
      who,
      ...(to !== undefined && { to }),
      ...(why !== undefined && { why }),
      ...(after !== undefined && { after }),
    }),
  );
  const isNew = version.id !== newest?.id;
  return {
    status: 201,
    body: { version, ...(isNew && version.id > 1 && { before: version.id - 1 }) },
    etag: policyTag(version.id),
  };
};

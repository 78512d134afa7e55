import { policyDigest } from "../../data.js";
import { changePolicy } from "../conflict/policy-standing.js";
import { policyTag } from "../conflict/tags.js";
import type { Handler } from "../handler.js";
import { parseAs, policyBody } from "../shapes.js";
import type { PolicyVersionAnswer } from "../types.js";

/** The keeper leaves the audit entry. A text that rules already stays the version it is. */
export const putPolicy: Handler<PolicyVersionAnswer> = async (parts, ask) => {
  const { keeper, data } = parts;
  const { text, after, why } = parseAs(policyBody, await ask.body(), "body");
  const who = ask.who();
  const newest = await data.policies.newest();
  const rules = newest !== undefined && keeper.status().version === newest.id;
  const isSame = rules && newest.digest === policyDigest(text) && (after ?? newest.id) === newest.id;
  const version = await changePolicy(parts, ask.req, newest, async (seen) => {
    if (isSame) return newest;
    const last = after ?? seen;
    return keeper.takeIn(text, {
      who,
      source: "api",
      ...(why !== undefined && { why }),
      ...(last !== undefined && { after: last }),
    });
  });
  return {
    status: isSame ? 200 : 201,
    body: { version, ...(!isSame && version.id > 1 && { before: version.id - 1 }) },
    etag: policyTag(version.id),
  };
};

import type { Handler } from "../handler.js";
import { parseAs, policyBody } from "../shapes.js";
import type { PolicyVersionAnswer } from "../types.js";

/** The keeper leaves the audit entry. */
export const putPolicy: Handler<PolicyVersionAnswer> = async ({ keeper }, ask) => {
  const { text, after, why } = parseAs(policyBody, await ask.body(), "body");
  const version = await keeper.takeIn(text, {
    who: ask.who(),
    source: "api",
    ...(why !== undefined && { why }),
    ...(after !== undefined && { after }),
  });
  return { status: 201, body: { version } };
};

import type { RefusalFacts } from "../../refusal.js";
import { notFound } from "../api-problem.js";
import { explained } from "../explained.js";
import type { AdminParts, Handler } from "../handler.js";
import { requestOf } from "../remembered.js";
import type { DecisionAnswer } from "../types.js";

/** Of decisions only those that refused are remembered, by the process that made them. */
export const decision: Handler<DecisionAnswer> = async (parts, ask) => {
  if (parts.refusal === undefined)
    throw notFound(
      "Nothing here meets traffic, so no decision is remembered.",
      "Ask the server that refused the request.",
    );
  const refusal = await parts.refusal(ask.param("id"));
  if (refusal === undefined)
    throw notFound(
      "No refused decision of this id is remembered here.",
      "Only the newest 10,000 refusals are, by the server that made them, until it ends; allowed ones never. The decision log has more (decisionLog). Or ask about the client: POST /v1/explain.",
    );
  return { body: { decision: refusal, now: await now(parts, refusal.about) } };
};

/** Null when it can not be told: what was decided then is worth telling all the same. */
async function now(parts: AdminParts, about: RefusalFacts): Promise<DecisionAnswer["now"]> {
  try {
    return await explained(parts, requestOf(about));
  } catch (error) {
    parts.log.warn({ err: error }, "what would be decided now can not be told");
    return null;
  }
}

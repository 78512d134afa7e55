import { notFound } from "../api-problem.js";
import { customerTag } from "../conflict/tags.js";
import { customerAnswer, customerId } from "../customer-answer.js";
import type { Handler } from "../handler.js";
import type { CustomerAnswer } from "../types.js";

export const customer: Handler<CustomerAnswer> = async ({ customers, gate }, { param }) => {
  const id = customerId(param("id"));
  const record = await customers.get(id);
  if (record === undefined) {
    const { tiers = {}, defaultTier = Object.keys(tiers)[0] } = gate.policy;
    throw notFound(
      "Nothing is on record of this customer.",
      defaultTier === undefined ? "The policy has no tiers." : `It is in the default tier, ${defaultTier}.`,
    );
  }
  return { body: customerAnswer(id, record), etag: customerTag(record) };
};

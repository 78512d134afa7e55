import { customerAnswer, customerId } from "../customer-answer.js";
import type { Handler } from "../handler.js";
import { note } from "../note.js";
import { parseAs, tierBody } from "../shapes.js";
import type { CustomerAnswer } from "../types.js";

export const putCustomerTier: Handler<CustomerAnswer> = async (parts, ask) => {
  const { customers } = parts;
  const id = customerId(ask.param("id"));
  const { tier } = parseAs(tierBody, await ask.body(), "body");
  const who = ask.who();
  const before = (await customers.get(id))?.tier ?? null;
  const write = await customers.setTier(id, tier ?? undefined);
  await note(parts, { who, what: "customer.tier", target: id, before, after: tier });
  return { body: customerAnswer(id, await customers.get(id), write?.state) };
};

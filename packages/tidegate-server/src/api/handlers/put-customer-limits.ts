import { customerAnswer, customerId } from "../customer-answer.js";
import type { Handler } from "../handler.js";
import { note } from "../note.js";
import { limitsBody, parseAs } from "../shapes.js";
import type { CustomerAnswer } from "../types.js";

export const putCustomerLimits: Handler<CustomerAnswer> = async (parts, ask) => {
  const { customers } = parts;
  const id = customerId(ask.param("id"));
  const { limits } = parseAs(limitsBody, await ask.body(), "body");
  const who = ask.who();
  const before = customerAnswer(id, await customers.get(id)).limits;
  const write = await customers.setLimits(id, limits ?? undefined);
  await note(parts, { who, what: "customer.limits", target: id, before, after: limits });
  return { body: customerAnswer(id, await customers.get(id), write?.state) };
};

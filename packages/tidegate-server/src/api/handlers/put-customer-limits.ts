import { setCustomer } from "../acts/customer-acts.js";
import { checkUnchanged } from "../conflict/unchanged.js";
import { customerId } from "../customer-answer.js";
import type { Handler } from "../handler.js";
import { limitsBody, parseAs } from "../shapes.js";
import type { CustomerAnswer } from "../types.js";

export const putCustomerLimits: Handler<CustomerAnswer> = async (parts, ask) => {
  const id = customerId(ask.param("id"));
  const { limits } = parseAs(limitsBody, await ask.body(), "body");
  const { answer, tag } = await setCustomer(
    parts,
    id,
    { limits },
    { who: ask.who(), check: (standing) => checkUnchanged(ask.req, standing) },
  );
  return { body: answer, etag: tag };
};

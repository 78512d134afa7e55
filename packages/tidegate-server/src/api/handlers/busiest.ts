import type { Handler } from "../handler.js";
import { mostQuery, parseAs } from "../shapes.js";
import type { BusiestAnswer } from "../types.js";

export const busiest: Handler<BusiestAnswer> = async ({ busiest }, { query }) => {
  const { most = 20 } = parseAs(mostQuery, query, "query");
  return { body: { clients: await busiest(most) } };
};

import { canonicalBlock } from "tidegate/http";
import { badRequest } from "../api-problem.js";
import { clientLines } from "../client-lines.js";
import type { Handler } from "../handler.js";
import { clientsQuery, parseAs } from "../shapes.js";
import type { ClientsAnswer } from "../types.js";

export const clients: Handler<ClientsAnswer> = async (parts, { query }) => {
  const { within, key, most = 100 } = parseAs(clientsQuery, query, "query");
  const block = within === undefined ? undefined : canonicalBlock(within);
  if (within !== undefined && block === undefined)
    throw badRequest(
      "query.within",
      "This is not an address or a block.",
      "Give one such as 203.0.113.0/24.",
    );
  const isEveryone = block === undefined || block.endsWith("/0");
  const seen = await parts.seen({
    ...(!isEveryone && { within: [block] }),
    ...(key !== undefined && { key }),
  });
  return { body: await clientLines(parts, seen, most) };
};

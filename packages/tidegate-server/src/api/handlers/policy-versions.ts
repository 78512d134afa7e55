import type { Handler } from "../handler.js";
import { pageQuery, parseAs } from "../shapes.js";
import type { PolicyVersionsAnswer } from "../types.js";

export const policyVersions: Handler<PolicyVersionsAnswer> = async ({ data }, { query }) => {
  const { most = 100, before } = parseAs(pageQuery, query, "query");
  const found = await data.policies.list({ most, ...(before !== undefined && { before }) });
  const last = found.at(-1);
  return {
    body: {
      versions: found.map(({ text: _, ...line }) => line),
      ...(found.length === most && last && { next: last.id }),
    },
  };
};

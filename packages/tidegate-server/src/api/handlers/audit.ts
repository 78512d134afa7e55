import type { Handler } from "../handler.js";
import { pageQuery, parseAs } from "../shapes.js";
import type { AuditAnswer } from "../types.js";

export const audit: Handler<AuditAnswer> = async ({ data }, { query }) => {
  const { most = 100, before } = parseAs(pageQuery, query, "query");
  const entries = await data.audit.list({ most, ...(before !== undefined && { before }) });
  const last = entries.at(-1);
  return { body: { entries, ...(entries.length === most && last && { next: last.id }) } };
};

import type { AuditEntry } from "../data.js";
import { ApiProblem } from "./api-problem.js";
import type { AdminParts } from "./handler.js";

/** Leaves the entry of a change that was made. Where that fails the caller is told, and the log has the entry. */
export async function note(
  { data, log }: AdminParts,
  entry: Omit<AuditEntry, "id" | "at">,
): Promise<AuditEntry> {
  try {
    return await data.audit.add(entry);
  } catch (error) {
    log.error({ err: error, entry }, "audit entry could not be kept");
    throw new ApiProblem({
      status: 500,
      code: "TG_AUDIT",
      detail:
        "The change was made, but the audit could not take its entry: it is in the log instead. See that the data can be written.",
    });
  }
}

import type { Subject } from "tidegate";
import { heldClients } from "./edge-desk.js";
import type { AdminParts } from "./handler.js";
import type { ExplainAnswer } from "./types.js";

/** What a request would get now, and how its client stands with the edges. */
export async function explained(parts: AdminParts, subject: Partial<Subject>): Promise<ExplainAnswer> {
  return { ...(await parts.gate.explain(subject)), ...(await atEdges(parts, subject)) };
}

/** Null when it can not be told: what the gate says is worth telling all the same. */
async function atEdges(
  { desk, log }: AdminParts,
  subject: Partial<Subject>,
): Promise<Pick<ExplainAnswer, "offenders" | "cleared">> {
  if (desk === undefined) return {};
  try {
    const [held, cleared] = await Promise.all([desk.find(subject), desk.clears(subject)]);
    return { offenders: await heldClients(desk, held), cleared };
  } catch (error) {
    log.warn({ err: error }, "who is held at the edges can not be told");
    return { offenders: null, cleared: null };
  }
}

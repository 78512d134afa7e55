import type { Subject } from "tidegate";
import { heldClients, refusedAt } from "./edge-desk.js";
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
): Promise<Pick<ExplainAnswer, "offenders" | "refusedAt" | "cleared">> {
  if (desk === undefined) return {};
  try {
    const [held, cleared] = await Promise.all([desk.find(subject), desk.clears(subject)]);
    const offenders = await heldClients(desk, held);
    const met = new Set(desk.meets(subject, held).map(({ key }) => key));
    return { offenders, refusedAt: refusedAt(offenders.filter(({ key }) => met.has(key))), cleared };
  } catch (error) {
    log.warn({ err: error }, "who is held at the edges can not be told");
    return { offenders: null, refusedAt: null, cleared: null };
  }
}

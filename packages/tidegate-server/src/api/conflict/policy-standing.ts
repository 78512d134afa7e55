import type { IncomingMessage } from "node:http";
import { TidegateError } from "tidegate";
import type { PolicyVersion } from "../../data.js";
import type { AdminParts } from "../handler.js";
import { policyTag } from "./tags.js";
import { changedMeanwhile, checkUnchanged, type Standing } from "./unchanged.js";

/** The newest version as those are told of it who came too late. */
export function policyStanding(newest: PolicyVersion | undefined): Standing {
  if (newest === undefined) return { tag: undefined, now: null };
  const { text: _, ...line } = newest;
  return { tag: policyTag(newest.id), now: line };
}

/**
 * Changes the policy if whoever asks has seen the newest version, or has not said what they have seen. `change` is told after
 * which version it must come, if that matters.
 */
export async function changePolicy(
  { data }: AdminParts,
  req: Pick<IncomingMessage, "headers">,
  newest: PolicyVersion | undefined,
  change: (after: number | undefined) => Promise<PolicyVersion>,
): Promise<PolicyVersion> {
  const isConditional = checkUnchanged(req, policyStanding(newest));
  try {
    return await change(isConditional ? newest?.id : undefined);
  } catch (error) {
    const isLate = error instanceof TidegateError && error.code === "TG_POLICY_CONFLICT";
    if (!isLate || !isConditional) throw error;
    throw changedMeanwhile(policyStanding(await data.policies.newest()));
  }
}

import { TidegateError } from "tidegate";
import type { PolicyVersion } from "../../data.js";
import { policyTag } from "../conflict/tags.js";
import type { AdminParts, Handler } from "../handler.js";
import type { PolicyAnswer } from "../types.js";

export const policy: Handler<PolicyAnswer> = async ({ keeper, data }) => {
  const status = keeper.status();
  const stored = await storedVersion(data, status.version);
  const etag = policyTag(status.version);
  if (typeof stored !== "string") return { body: { status, version: stored }, etag };
  const problem = status.problem === undefined ? stored : `${stored} ${status.problem}`;
  return { body: { status: { ...status, problem }, version: null }, etag };
};

/** The version, or why there is none to show: what rules does so all the same. */
async function storedVersion({ policies }: AdminParts["data"], id: number): Promise<PolicyVersion | string> {
  if (id === 0) return "In force is the policy this server was started with; it is not stored.";
  try {
    return (await policies.get(id)) ?? `In force is version ${id}, which is not stored any more.`;
  } catch (error) {
    if (!(error instanceof TidegateError)) throw error;
    return `In force is version ${id}, which can not be read now. ${error.message}`;
  }
}

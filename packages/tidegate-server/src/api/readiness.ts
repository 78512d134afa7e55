import type { ReportedStatus } from "./handler.js";
import type { ReadyAnswer } from "./types.js";

/** Ready, or everything that keeps it from being so. */
export function readiness({ isReady, notReady = [], isDraining }: ReportedStatus): ReadyAnswer {
  const unsaid = isReady || notReady.length > 0 ? [] : ["It can not take requests."];
  const reasons = [...notReady, ...unsaid, ...(isDraining === true ? ["The server is ending."] : [])];
  return { status: reasons.length === 0 ? "ready" : "not ready", reasons };
}

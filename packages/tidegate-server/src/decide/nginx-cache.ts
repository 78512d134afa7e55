import type { Decision, RuleOptions, Verdict } from "tidegate";
import type { PolicyNotes } from "./policy-notes.js";

/** So long at most: whoever is taken off the blocklist, or cleared, waits no longer than this. */
const mostSeconds = 5;

/**
 * For how long nginx may repeat a refusal to this address without asking, 0: not at all. Only where every request of the
 * address would be refused: by the blocklist, or by a rule for all requests that counts nothing but addresses.
 */
export function cacheSeconds(decision: Decision, { rules, finishing }: PolicyNotes): number {
  if (decision.allowed || decision.reason === "degraded") return 0;
  if (decision.reason === "blocklist") return mostSeconds;
  let seconds = 0;
  for (const verdict of decision.verdicts) {
    const rule = rules.get(verdict.rule);
    if (verdict.allowed || verdict.shadow || rule === undefined || finishing.has(verdict.rule)) continue;
    if (refusesAll(rule, verdict)) seconds = Math.max(seconds, Math.floor(verdict.retryAfterMs / 1000));
  }
  return Math.min(seconds, mostSeconds);
}

function refusesAll({ by, only, except, cost, hold, limits }: RuleOptions, { heldUntil }: Verdict): boolean {
  const [fact, ...more] = [by].flat();
  if (more.length > 0 || (fact !== "ip" && fact !== "network")) return false;
  if (heldUntil !== undefined && hold?.everywhere === true) return true;
  // Of an address with several customers each has its own limits.
  if (limits === "tier") return false;
  return only === undefined && except === undefined && typeof cost !== "function";
}

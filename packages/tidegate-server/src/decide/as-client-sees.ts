import type { Decision, Reason, Verdict } from "tidegate";

/** The decision as its client may know it over HTTP: nothing of rules that are hidden or in shadow, nor of who listed it and why. */
export function asClientSees({ listed: _, verdict, ...decision }: Decision): Decision {
  const { allowed, reason, exposed } = decision;
  const isShown = verdict !== undefined && exposed.includes(verdict);
  // Refused by a hidden rule: then no other rule's numbers are shown either.
  const verdicts = allowed || isShown ? exposed.filter(({ shadow }) => !shadow) : [];
  const seen = {
    ...decision,
    ...(isShown && { verdict }),
    verdicts,
    exposed: verdicts,
    reason: reasonSeen(reason, verdicts),
  };
  // A hidden rule's verdict is missing also where a decision has one.
  return seen as Decision;
}

/** That a hidden rule was asked, or holds this client, is not told. */
function reasonSeen(reason: Reason, verdicts: readonly Verdict[]): Reason {
  if (verdicts.length > 0) return reason;
  if (reason === "within-limits") return "no-rule";
  return reason === "held" ? "over-limit" : reason;
}

import type { GateEvents, Subject } from "tidegate";
import { canonicalBlock } from "tidegate/http";
import { isEdgeKey } from "../edge.js";
import type { Offender, OffenderFacts } from "../offenders.js";

const longestFact = 200;

/** A client that a rule of the policy itself holds. Undefined: its key is none an edge can know. */
export function offenderOf(
  { rule, key, until, subject }: GateEvents["held"],
  edges: readonly string[],
  now: () => number = Date.now,
): Offender | undefined {
  if (!isEdgeKey(key)) return undefined;
  return { key, rule, crossedAt: now(), until, score: 1, leaked: 0, edges, about: factsOf(subject) };
}

/** Who it was, for people and guards. Queries are left out: they carry secrets. */
export function factsOf(subject: Subject): OffenderFacts {
  const ip = canonicalBlock(subject.ip);
  const userAgent = subject.header("user-agent");
  return {
    ...(ip !== undefined && { ip }),
    host: cut(subject.host),
    method: cut(subject.method),
    path: cut(subject.path.split("?", 1)[0] as string),
    ...(userAgent !== undefined && { userAgent: cut(userAgent) }),
  };
}

function cut(text: string): string {
  return text.slice(0, longestFact);
}

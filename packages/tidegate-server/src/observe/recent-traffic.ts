import type { Decision, Gate, Subject } from "tidegate";
import type { KeptPage, KeptRequest } from "../kept-request.js";
import { accountOf, cut, cutIf, pathOf } from "./kept-facts.js";

/** The newest requests of one gate, for rehearsals. Bounded, oldest out first. */
export interface RecentTraffic {
  /** How the request of this decision ended. */
  ended(decision: Decision | undefined, status: number | undefined): void;
  /** At most so many from this number on; 0 begins with the oldest that is kept. */
  read(from: number, most: number): KeptPage;
  close(): void;
}

export interface RecentTrafficOptions {
  /** How many. */
  readonly keep: number;
}

/** On the decision itself: a weak map would cost every request more than all else here. */
const keptAs: unique symbol = Symbol("tidegate.kept");
type Marked = Decision & { [keptAs]?: Kept };

type Kept = { -readonly [Name in keyof KeptRequest]: KeptRequest[Name] };

/** Every request pays for this: one small object, no copy of what is there already. */
export function recentTraffic(gate: Pick<Gate, "on">, { keep }: RecentTrafficOptions): RecentTraffic {
  const ring: Kept[] = [];
  let total = 0;
  const stop = gate.on("decision", ({ subject, decision }) => {
    const kept = keptOf(subject, decision);
    ring[total % keep] = kept;
    total++;
    // How a refused one would have ended is not known.
    if (decision.allowed) (decision as Marked)[keptAs] = kept;
  });
  return {
    ended(decision, status) {
      const kept = (decision as Marked | undefined)?.[keptAs];
      if (kept === undefined) return;
      kept.status = status;
      kept.tookMs = Date.now() - kept.at;
    },
    read(from, most) {
      const first = Math.max(from, total - ring.length);
      const end = Math.min(first + most, total);
      const requests: KeptRequest[] = [];
      for (let i = first; i < end; i++) requests.push(ring[i % keep] as Kept);
      return { requests, ...(end < total && { next: end }) };
    },
    close() {
      stop();
      ring.length = 0;
    },
  };
}

/** Of headers only the user agent: the others may be secret. */
function keptOf(subject: Subject, decision: Decision): Kept {
  return {
    at: Date.now(),
    ip: cut(subject.ip),
    method: cut(subject.method),
    host: cut(subject.host),
    path: pathOf(subject),
    userAgent: cutIf(subject.header("user-agent")),
    user: cutIf(subject.user),
    customer: cutIf(subject.customer),
    account: cutIf(accountOf(subject, decision)),
    status: undefined,
    tookMs: undefined,
  };
}

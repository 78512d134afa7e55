import type { Decision, Gate, Subject } from "tidegate";
import type { KeptPage, KeptRequest } from "../kept-request.js";
import { accountOf, cut, cutIf, pathOf } from "./kept-facts.js";
import { packedRequests } from "./packed-requests.js";

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

/** The request's number, on the decision itself: a weak map would cost every request more than all else here. */
const keptAs: unique symbol = Symbol("tidegate.kept");
type Marked = Decision & { [keptAs]?: number };

export function recentTraffic(gate: Pick<Gate, "on">, { keep }: RecentTrafficOptions): RecentTraffic {
  const kept = packedRequests(keep);
  const stop = gate.on("decision", ({ subject, decision }) => {
    kept.add(keptOf(subject, decision));
    // How a refused one would have ended is not known.
    if (decision.allowed) (decision as Marked)[keptAs] = kept.total - 1;
  });
  return {
    ended(decision, status) {
      const number = (decision as Marked | undefined)?.[keptAs];
      if (number !== undefined) kept.end(number, status, Date.now());
    },
    read(from, most) {
      const first = Math.max(from, kept.total - keep);
      const end = Math.min(first + most, kept.total);
      const requests: KeptRequest[] = [];
      for (let number = first; number < end; number++) {
        const request = kept.get(number);
        if (request !== undefined) requests.push(request);
      }
      return { requests, ...(end < kept.total && { next: end }) };
    },
    close() {
      stop();
      kept.clear();
    },
  };
}

/** Of headers only the user agent: the others may be secret. */
function keptOf(subject: Subject, decision: Decision): KeptRequest {
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
  };
}

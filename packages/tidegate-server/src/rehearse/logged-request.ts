import type { Outcome, Subject } from "tidegate";
import type { RecordedRequest } from "tidegate/simulate";

/**
 * One request as a log has it: record and subject in one object, for there are millions of them. Texts are as Node's HTTP
 * server would give them, a character a byte, so that fingerprints come out the same.
 */
export class LoggedRequest implements RecordedRequest, Subject {
  at = 0;
  ip = "";
  method = "GET";
  host = "";
  path = "/";
  userAgent: string | undefined = undefined;
  referer: string | undefined = undefined;
  user: string | undefined = undefined;
  customer: string | undefined = undefined;
  account: string | undefined = undefined;
  outcome: Outcome = unanswered;
  tookMs = 0;
  /** Further headers the log tells, by their names in small letters. */
  headers: Readonly<Record<string, string>> | undefined = undefined;

  get subject(): Subject {
    return this;
  }

  header(name: string): string | undefined {
    if (name === "user-agent") return this.userAgent;
    const known = name.toLowerCase();
    if (known === "user-agent") return this.userAgent;
    if (known === "referer") return this.referer;
    if (known === "host" && this.host !== "") return this.host;
    const { headers } = this;
    return headers !== undefined && Object.hasOwn(headers, known) ? headers[known] : undefined;
  }
}

const unanswered: Outcome = Object.freeze({});
const outcomes: Outcome[] = Array.from({ length: 1000 }, (_, status) =>
  status < 100 ? unanswered : Object.freeze({ status }),
);

/** The answer with this status; none where it says nothing. */
export function outcomeOf(status: number): Outcome {
  return outcomes[status] ?? unanswered;
}

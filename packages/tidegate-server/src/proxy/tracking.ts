import type { IncomingMessage } from "node:http";
import type { Subject } from "tidegate";
import type { ClientResolver } from "tidegate/http";
import type { Log } from "../log.js";
import { TrackedSubject } from "./tracked-subject.js";

export interface Tracking {
  /** A request has come: it is told of when it ends, unless that was done before. */
  expect(req: IncomingMessage, ending: NodeJS.EventEmitter): void;
  /** Its answer has begun, or is long in coming. */
  tell(req: IncomingMessage): void;
}

export interface TrackingOptions {
  readonly track: ((subject: Subject) => void) | undefined;
  readonly clientOf: ClientResolver;
  readonly log: Log;
}

/** Who is still to be told of, on the request itself: a weak map makes every collection of garbage longer. */
const expected: unique symbol = Symbol("tidegate.tracked");
type Expected = IncomingMessage & { [expected]?: TrackedSubject | undefined };

/** Tells whoever tracks clients of each request once, and never lets it get in a request's way. Undefined: nobody tracks. */
export function tracking({ track, clientOf, log }: TrackingOptions): Tracking | undefined {
  if (track === undefined) return undefined;
  const tellIt = track;
  let isFailureTold = false;

  function tell(req: Expected): void {
    const subject = req[expected];
    if (subject === undefined) return;
    req[expected] = undefined;
    try {
      tellIt(subject);
    } catch (error) {
      if (!isFailureTold) log.error({ err: error }, "tracking a client failed");
      isFailureTold = true;
    }
  }

  return {
    expect(req: Expected, ending) {
      req[expected] = new TrackedSubject(req, clientOf);
      ending.on("close", () => tell(req));
    },
    tell,
  };
}

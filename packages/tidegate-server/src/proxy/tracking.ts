import type { IncomingMessage } from "node:http";
import type { Subject } from "tidegate";
import type { ClientResolver } from "tidegate/http";
import type { Log } from "../log.js";
import { TrackedSubject } from "./tracked-subject.js";

export interface Tracking {
  /** A request has come: it is told of when it ends, unless that was done before. */
  expect(req: IncomingMessage, ending: NodeJS.EventEmitter): void;
  /** Its answer has begun. */
  tell(req: IncomingMessage): void;
}

export interface TrackingOptions {
  readonly track: ((subject: Subject) => void) | undefined;
  readonly clientOf: ClientResolver;
  readonly log: Log;
}

/** Tells whoever tracks clients of each request once, and never lets it get in a request's way. Undefined: nobody tracks. */
export function tracking({ track, clientOf, log }: TrackingOptions): Tracking | undefined {
  if (track === undefined) return undefined;
  const tellIt = track;
  const expected = new WeakMap<IncomingMessage, TrackedSubject>();
  let isFailureTold = false;

  function tell(req: IncomingMessage): void {
    const subject = expected.get(req);
    if (subject === undefined) return;
    expected.delete(req);
    try {
      tellIt(subject);
    } catch (error) {
      if (!isFailureTold) log.error({ err: error }, "tracking a client failed");
      isFailureTold = true;
    }
  }

  return {
    expect(req, ending) {
      expected.set(req, new TrackedSubject(req, clientOf));
      ending.once("close", () => tell(req));
    },
    tell,
  };
}

import type { FailureOptions } from "../../failure-options.js";
import { createLimiter, fixedWindow } from "../../index.js";
import type { Limiter } from "../../limiter.js";
import type { Store } from "../../store.js";
import { authorizationRequired, badRequest, overRateLimit, type PrintedAnswer } from "./answers.js";
import { hourStamp, restOfHourMs } from "./hour.js";
import type { ParsedOptions } from "./options.js";
import { whereLimited } from "./where.js";
import { addressName, type Who, whoOf } from "./who.js";

/** What the middleware looks at, of whichever kind of request. */
export interface Asked {
  readonly request: never;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly peer: string | undefined;
}

export interface Judge {
  /** What goes back instead of the app's answer, if anything. */
  judge(asked: Asked): Promise<PrintedAnswer | undefined>;
  readonly isDegraded: boolean;
  readonly withoutCache: number;
}

export function createJudge(options: ParsedOptions, store: Store): Judge {
  const { auth, anonymous, clock, clientIp } = options;
  const isLimited = whereLimited(options);
  const limiter = hourLimiter(options, store);
  let isDegraded = false;
  let withoutCache = 0;

  function identify({ request, authorization }: Asked): Who {
    if (typeof auth !== "function") return whoOf(authorization);
    const username = auth(request);
    return username === undefined ? "anonymous" : { username };
  }

  function keyOf({ request, peer }: Asked, who: Who | undefined, stamp: string): string {
    if (who === "anonymous")
      return `${addressName(clientIp === undefined ? peer : clientIp(request))}_${stamp}`;
    const known = typeof who === "object" ? who : undefined;
    if (options.key !== undefined) return options.key(request, known);
    return known === undefined ? stamp : `${known.username}_${stamp}`;
  }

  async function count(key: string, now: number, stamp: string): Promise<PrintedAnswer | undefined> {
    const { allowed, source, retryAfterMs } = await limiter.consume(key);
    isDegraded = source === "none";
    if (isDegraded) withoutCache++;
    if (allowed) return undefined;
    // The hour's end makes a new key of one that names the hour; any other is counted until it is forgotten.
    return overRateLimit(wholeSeconds(key.includes(stamp) ? restOfHourMs(now) : retryAfterMs));
  }

  return {
    async judge(asked) {
      if (!isLimited(asked.path)) return undefined;
      const who = auth === false ? undefined : identify(asked);
      if (who === "malformed") return badRequest;
      if (who === "anonymous" && anonymous === "pass") return undefined;
      if (who === "anonymous" && anonymous === "reject401") return authorizationRequired;
      const now = clock();
      const stamp = hourStamp(now);
      return count(keyOf(asked, who, stamp), now, stamp);
    },
    get isDegraded() {
      return isDegraded;
    },
    get withoutCache() {
      return withoutCache;
    },
  };
}

/** A cache out of reach lets everyone through, uncounted and in time. */
function hourLimiter(options: ParsedOptions, store: Store): Limiter {
  const failures: FailureOptions = { onStoreFailure: "allow" };
  for (const name of ["deadlineMs", "breaker", "onDegraded", "onRecovered"] as const)
    if (options[name] !== undefined) Object.assign(failures, { [name]: options[name] });
  return createLimiter({
    ...failures,
    name: "api-throttling",
    // The hour is in the key; a window from its first hit outlasts it, whatever the cache's clock says.
    limit: fixedWindow({
      limit: options.requestsPerHour,
      window: "1h",
      align: "first-hit",
      countRefused: true,
    }),
    store,
  });
}

function wholeSeconds(ms: number): number {
  return Math.min(3600, Math.max(1, Math.ceil(ms / 1000)));
}

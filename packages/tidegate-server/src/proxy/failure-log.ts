import type { Log } from "../log.js";

/** Told of each request an origin did not answer, and why. */
export type OnFailed = (origin: string | undefined, error: unknown) => void;

export interface FailureLogOptions {
  readonly upstream: string;
  readonly log: Log;
  /** For tests. Default `performance.now`. */
  readonly now?: () => number;
}

/** Of each origin one failure in so long is told; how many more there were, with the next. */
const everyMs = 10_000;

export function failureLog({ upstream, log, now = () => performance.now() }: FailureLogOptions): OnFailed {
  const origins = new Map<string | undefined, { toldAt: number; more: number }>();

  return (origin, error) => {
    log.debug({ upstream, origin, err: error }, "an upstream did not answer");
    const at = now();
    const known = origins.get(origin);
    if (known !== undefined && at - known.toldAt < everyMs) {
      known.more++;
      return;
    }
    const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
    const complaint = [code, message].filter((part) => part !== undefined && part !== "").join(": ");
    const more = known === undefined || known.more === 0 ? {} : { more: known.more };
    log.warn({ upstream, origin, complaint, ...more }, "an upstream did not answer");
    origins.set(origin, { toldAt: at, more: 0 });
  };
}

import type { Decision } from "tidegate";

/** Decisions whose callers still owe the end of the request. */
export interface WaitingFinishes {
  add(decision: Decision): void;
  /** False when nothing of this id is known. Again for the same id does nothing. */
  finish(id: string, status: number | undefined): Promise<boolean>;
  readonly size: number;
  close(): Promise<void>;
}

export interface WaitingOptions {
  readonly most?: number;
  readonly forMs?: number;
  readonly now?: () => number;
}

interface Waiting {
  readonly finish: Decision["finish"];
  readonly until: number;
}

/**
 * Bounded in number and time. A decision that waits too long, or longest when there is no more room, is finished without a
 * status: no answer counts.
 */
export function waitingFinishes(options: WaitingOptions = {}): WaitingFinishes {
  const { most = 100_000, forMs = 300_000, now = () => performance.now() } = options;
  const waiting = new Map<string, Waiting>();
  // The oldest go first when it is full; a caller that repeats itself does so soon.
  const finished = new Set<string>();
  let isClosed = false;
  const sweep = setInterval(dropExpired, Math.min(1000, forMs));
  sweep.unref();

  function dropExpired(): void {
    const at = now();
    for (const [id, { until }] of waiting) {
      if (until > at) return;
      end(id, undefined);
    }
  }

  function end(id: string, status: number | undefined): Promise<void> {
    const { finish } = waiting.get(id) as Waiting;
    waiting.delete(id);
    return finish(status === undefined ? undefined : { status });
  }

  return {
    add(decision) {
      if (isClosed) {
        void decision.finish();
        return;
      }
      if (waiting.size >= most)
        for (const [oldest] of waiting) {
          void end(oldest, undefined);
          break;
        }
      waiting.set(decision.id, { finish: decision.finish, until: now() + forMs });
    },
    async finish(id, status) {
      if (!waiting.has(id)) return finished.has(id);
      if (finished.size >= most)
        for (const oldest of finished) {
          finished.delete(oldest);
          break;
        }
      finished.add(id);
      await end(id, status);
      return true;
    },
    get size() {
      return waiting.size;
    },
    async close() {
      isClosed = true;
      clearInterval(sweep);
      await Promise.all([...waiting.keys()].map((id) => end(id, undefined)));
    },
  };
}

import type { Verdict } from "../../decision.js";
import type { Asking } from "./batch.js";
import type { Request } from "./requests.js";

/**
 * Half of all requests unanswered share one call, so that Redis has one to work on while the other is being made or read;
 * but no more than this, in requests and in checks, since Redis does nothing else while a script runs.
 */
const leastRequests = 8;
const mostRequests = 64;
const mostChecks = 1024;

interface Waiting {
  readonly request: Request;
  readonly resolve: (verdicts: Verdict[]) => void;
  readonly reject: (error: unknown) => void;
}

/** What goes into one call. */
export interface Batch {
  readonly mode: Asking;
  readonly deadlineMs: number;
  readonly waiting: Waiting[];
  checks: number;
}

/**
 * Gathers requests into batches. While nothing is under way a batch goes out with the tick it was begun in, so that a
 * lone request waits for nobody; else with the turn of the event loop, since a server's requests come in one tick each.
 */
export class Batching {
  readonly #send: (batch: Batch) => Promise<void>;
  readonly #batches: Batch[] = [];
  #underWay = 0;
  #unanswered = 0;

  /** `send` resolves, and never rejects, when the batch was answered. */
  constructor(send: (batch: Batch) => Promise<void>) {
    this.#send = send;
  }

  ask(mode: Asking, request: Request, deadlineMs: number): Promise<Verdict[]> {
    return new Promise((resolve, reject) => {
      this.#unanswered++;
      const batch = this.#batchFor(mode, request.size, deadlineMs);
      batch.checks += request.size;
      batch.waiting.push({ request, resolve, reject });
    });
  }

  /** The last batch if there is room in it and it is of this kind, else a new one behind it. */
  #batchFor(mode: Asking, checks: number, deadlineMs: number): Batch {
    const last = this.#batches.at(-1);
    if (
      last !== undefined &&
      last.waiting.length < Math.min(mostRequests, Math.max(leastRequests, this.#unanswered >> 1)) &&
      last.checks + checks <= mostChecks &&
      last.mode === mode &&
      last.deadlineMs === deadlineMs
    )
      return last;
    const batch: Batch = { mode, deadlineMs, checks: 0, waiting: [] };
    if (this.#batches.push(batch) === 1) {
      if (this.#underWay === 0) queueMicrotask(this.#sendNext);
      else setImmediate(this.#sendNext);
    }
    return batch;
  }

  /** One batch at a time is written, so that Redis works on the first while the next is being made. */
  #sendNext = (): void => {
    const batch = this.#batches.shift();
    if (this.#batches.length > 0) setImmediate(this.#sendNext);
    if (batch === undefined) return;
    this.#underWay++;
    void this.#send(batch).then(() => {
      this.#underWay--;
      this.#unanswered -= batch.waiting.length;
    });
  };
}

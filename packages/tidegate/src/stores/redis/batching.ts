import type { Check } from "../../check.js";
import type { Verdict } from "../../decision.js";
import { type Mode, type Request, requestOf } from "./batch.js";

/** So many requests, and checks in all of them, share one call at most: Redis does nothing else while a script runs. */
const batchSize = 32;
const batchChecks = 1024;

export interface Waiting {
  readonly request: Request;
  readonly resolve: (verdicts: Verdict[]) => void;
  readonly reject: (error: unknown) => void;
}

type Asking = typeof Mode.decide | typeof Mode.peek;

/** What goes into one call. */
export interface Batch {
  readonly mode: Asking;
  readonly deadlineMs: number;
  readonly waiting: Waiting[];
  checks: number;
}

/** Gathers the requests of one tick into batches. */
export class Batching {
  readonly #send: (batch: Batch) => void;
  readonly #batches: Batch[] = [];

  constructor(send: (batch: Batch) => void) {
    this.#send = send;
  }

  ask(mode: Asking, checks: readonly Check[], deadlineMs: number): Promise<Verdict[]> {
    return new Promise((resolve, reject) => {
      const request = requestOf(checks);
      const batch = this.#batchFor(mode, checks.length, deadlineMs);
      batch.checks += checks.length;
      batch.waiting.push({ request, resolve, reject });
    });
  }

  /** The last batch if there is room in it and it is of this kind, else a new one behind it. */
  #batchFor(mode: Asking, checks: number, deadlineMs: number): Batch {
    const last = this.#batches.at(-1);
    if (
      last !== undefined &&
      last.waiting.length < batchSize &&
      last.checks + checks <= batchChecks &&
      last.mode === mode &&
      last.deadlineMs === deadlineMs
    )
      return last;
    const batch: Batch = { mode, deadlineMs, checks: 0, waiting: [] };
    if (this.#batches.push(batch) === 1) queueMicrotask(this.#sendNext);
    return batch;
  }

  /** One batch at a time is written, so that Redis works on the first while the next is being made. */
  #sendNext = (): void => {
    const batch = this.#batches.shift();
    if (this.#batches.length > 0) setImmediate(this.#sendNext);
    if (batch !== undefined) this.#send(batch);
  };
}

import { tellApp } from "./app-functions.js";
import { StoreError } from "./errors.js";
import type { FailureOptions, FailureTerms } from "./failure-options.js";

/** Leaves a store alone for a while after failures, then lets one question try for all. Tells when that begins and ends. */
export class Breaker {
  readonly #terms: FailureTerms;
  readonly #hooks: Pick<FailureOptions, "onDegraded" | "onRecovered">;
  #failed = 0;
  #pausedUntil = 0;
  #isProbing = false;
  /** It refuses to write: only an answer for which it had to write shows that it has recovered. */
  #mustWrite = false;
  readonly #late: LateAnswers;

  constructor(terms: FailureTerms, hooks: Pick<FailureOptions, "onDegraded" | "onRecovered">) {
    this.#terms = terms;
    this.#hooks = hooks;
    this.#late = new LateAnswers(terms);
  }

  /** Whether it failed when last asked. */
  get hasFailed(): boolean {
    return this.#failed > 0;
  }

  isOpen(): boolean {
    if (!this.#isDegraded) return false;
    if (this.#isProbing || performance.now() < this.#pausedUntil) return true;
    this.#isProbing = true;
    return false;
  }

  get #isDegraded(): boolean {
    return this.#failed >= this.#terms.failures;
  }

  /** It answered; `hadToWrite` says whether the answer proves that it can write. */
  answer(hadToWrite: boolean): void {
    this.#late.count();
    if (this.#failed === 0) return;
    this.#isProbing = false;
    if (this.#mustWrite && !hadToWrite) return;
    const wasDegraded = this.#isDegraded;
    this.#failed = 0;
    if (wasDegraded) tellApp("onRecovered", () => this.#hooks.onRecovered?.());
  }

  fail(error: unknown): void {
    const wasDegraded = this.#isDegraded;
    this.#failed++;
    if (isLate(error) && this.#late.isOften()) this.#failed = Math.max(this.#failed, this.#terms.failures);
    this.#isProbing = false;
    this.#mustWrite = error instanceof StoreError && error.isReadable;
    if (!this.#isDegraded) return;
    this.#pausedUntil = performance.now() + this.#terms.pauseMs;
    if (!wasDegraded) tellApp("onDegraded", () => this.#hooks.onDegraded?.(error));
  }

  /** What was asked says nothing of the store, such as a wrong setting. */
  leaveOut(): void {
    this.#isProbing = false;
  }
}

/** Missed deadlines of late: where only a part of a store is out, answers come in between, and none fails in a row. */
class LateAnswers {
  readonly #most: number;
  readonly #spanMs: number;
  #misses = 0;
  #answers = 0;
  #until = 0;

  constructor({ failures, pauseMs, deadlineMs }: FailureTerms) {
    this.#most = 2 * failures;
    this.#spanMs = pauseMs + 4 * failures * deadlineMs;
  }

  count(): void {
    if (this.#misses > 0) this.#answers++;
  }

  /** Counts one more. Twice as many as may fail in a row are too many, if they are one in ten. */
  isOften(): boolean {
    const now = performance.now();
    if (now > this.#until) {
      this.#until = now + this.#spanMs;
      this.#misses = 0;
      this.#answers = 0;
    }
    this.#misses++;
    return this.#misses >= this.#most && this.#misses * 10 >= this.#answers;
  }
}

function isLate(error: unknown): boolean {
  return error instanceof StoreError && error.code === "TG_STORE_DEADLINE";
}

import type { Charge, Check } from "./check.js";
import { costOf, levelName } from "./check.js";
import { Deadlines } from "./deadlines.js";
import type { Verdict } from "./decision.js";
import { ConfigError, StoreError, shown } from "./errors.js";
import { rejectUnknownOptions } from "./limit.js";
import type { Answer, Store } from "./store.js";

/** What happens while the store is out of reach: count in this process, let everyone in, or no one. */
export type OnStoreFailure = "local" | "allow" | "deny";

export interface FailureOptions {
  /** How long a decision may wait for the store. Default 100. */
  deadlineMs?: number;
  /** After so many failures in a row the store is left alone for a while. Default 5 and 1000. */
  breaker?: { failures?: number; pauseMs?: number };
  /** Default `"local"`. */
  onStoreFailure?: OnStoreFailure;
  /** Called when decisions begin to be made without the store, with the failure that tipped it. */
  onDegraded?: (error: unknown) => void;
  /** Called when the store answers again. */
  onRecovered?: () => void;
}

export interface GuardedStore extends Omit<Store, "decideOne"> {
  /** Present when the store has it. What answers instead of the store may take its time. */
  decideOne?(check: Check): Promise<Verdict>;
}

/** A store that always answers, in time. Stores that answer at once pass through untouched. */
export function guardStore(
  store: Store,
  options: FailureOptions,
  openLocal: () => Store,
  /** A rule's own way to go on, where it has one. */
  ofRule?: (rule: string) => OnStoreFailure | undefined,
): GuardedStore {
  const { deadlineMs, failures, pauseMs, onStoreFailure } = parseFailureOptions(options);
  const deadlines = new Deadlines(deadlineMs);
  const terms = { deadlineMs };
  let local: Store | undefined;
  let failed = 0;
  let pausedUntil = 0;
  let isProbing = false;
  let isElsewhere = false;
  /** It refuses to write: only an answer for which it had to write shows that it has recovered. */
  let mustWrite = false;
  /** Missed deadlines and answers of late: where only a part of the store is out, answers come in between. */
  let misses = 0;
  let hits = 0;
  let lateUntil = 0;
  const lateMs = pauseMs + 4 * failures * deadlineMs;

  function localStore(): Store {
    local ??= openLocal();
    return local;
  }

  function wayOf(rule: string): OnStoreFailure {
    return ofRule?.(rule) ?? onStoreFailure;
  }

  function isPaused(): boolean {
    if (failed < failures) return false;
    if (isProbing || performance.now() < pausedUntil) return true;
    isProbing = true;
    return false;
  }

  function succeeded(): void {
    const wasDegraded = failed >= failures;
    failed = 0;
    isProbing = false;
    if (wasDegraded) tell(() => options.onRecovered?.());
  }

  function answered(isNoProof: boolean): void {
    if (isNoProof) isProbing = false;
    else succeeded();
  }

  /** One more that made its caller wait: twice as many of late as in a row open the breaker, if they are one in ten. */
  function isLateOften(): boolean {
    const now = performance.now();
    if (now > lateUntil) {
      lateUntil = now + lateMs;
      misses = 0;
      hits = 0;
    }
    misses++;
    return misses >= 2 * failures && misses * 10 >= hits;
  }

  function fail(error: unknown): void {
    const wasDegraded = failed >= failures;
    failed = isLate(error) && isLateOften() ? Math.max(failed + 1, failures) : failed + 1;
    isProbing = false;
    mustWrite = error instanceof StoreError && error.isReadable;
    if (failed < failures) return;
    pausedUntil = performance.now() + pauseMs;
    if (!wasDegraded) tell(() => options.onDegraded?.(error));
  }

  /** Asks the store within the deadline. What it can not answer, `instead` does; a wrong setting is not a failure. */
  function ask<T>(
    question: () => Answer<T>,
    accept: (given: T) => T,
    instead: (error: unknown) => Answer<T>,
  ): Answer<T> {
    if (isPaused()) return instead(paused());
    try {
      const answer = question();
      return isPromise(answer) ? awaitAnswer(answer, accept, instead) : accept(answer);
    } catch (error) {
      return recover(error, instead);
    }
  }

  function awaitAnswer<T>(
    answer: Promise<T>,
    accept: (given: T) => T,
    instead: (error: unknown) => Answer<T>,
  ): Promise<T> {
    isElsewhere = true;
    const inTime = store.keepsDeadlines === true ? answer : deadlines.race(answer);
    return inTime.then(
      (given) => {
        try {
          return accept(given);
        } catch (error) {
          return recover(error, instead);
        }
      },
      (error) => recover(error, instead),
    );
  }

  function recover<T>(error: unknown, instead: (error: unknown) => Answer<T>): Answer<T> {
    if (error instanceof ConfigError) {
      isProbing = false;
      throw error;
    }
    fail(error);
    return instead(error);
  }

  /** As `ask` does, and without a closure for stores that answer at once: this is every decision's way. */
  function askVerdicts(verb: "decide" | "peek", checks: readonly Check[]): Answer<Verdict[]> {
    if (isPaused()) return withoutStore(verb, checks);
    try {
      const answer = store[verb](checks, terms);
      if (!isPromise(answer)) return acceptVerdicts(answer, checks.length, verb);
      return awaitVerdicts(answer, verb, checks);
    } catch (error) {
      return recover(error, () => withoutStore(verb, checks));
    }
  }

  /**
   * The same for one check and a store that has `decideOne`. That the verdict is looked at last, with nothing in
   * between, shows V8 that it is no promise: it then need not ask it for a `then`.
   */
  async function askVerdict(decideOne: NonNullable<Store["decideOne"]>, check: Check): Promise<Verdict> {
    if (failed > 0) return only(await askVerdicts("decide", [check]));
    try {
      const verdict = decideOne.call(store, check);
      if (hasNumbers(verdict) && typeof verdict.allowed === "boolean") return verdict;
      throw strange(verdict);
    } catch (error) {
      return only(await recover(error, () => withoutStore("decide", [check])));
    }
  }

  function awaitVerdicts(
    answer: Promise<Verdict[]>,
    verb: "decide" | "peek",
    checks: readonly Check[],
  ): Promise<Verdict[]> {
    return awaitAnswer(
      answer,
      (verdicts) => acceptVerdicts(verdicts, checks.length, verb),
      () => withoutStore(verb, checks),
    );
  }

  function acceptVerdicts(verdicts: Verdict[], count: number, verb: "decide" | "peek"): Verdict[] {
    if (!areVerdicts(verdicts, count)) throw strange(verdicts);
    if (misses > 0) hits++;
    if (failed > 0) answered(mustWrite && !(verb === "decide" && areAllAllowed(verdicts)));
    if (isElsewhere) rememberHolds(verdicts);
    return verdicts;
  }

  function withoutStore(verb: "decide" | "peek", checks: readonly Check[]): Answer<Verdict[]> {
    const ways = checks.map(({ rule }) => wayOf(rule));
    // One that denies refuses the whole request: then nothing is charged here either.
    const isDenied = checks.some(({ shadow }, i) => ways[i] === "deny" && shadow !== true);
    const counted = checks.filter((_, i) => ways[i] === "local");
    const answer = counted.length === 0 ? [] : localStore()[isDenied ? "peek" : verb](counted);
    const together = (local: Verdict[]): Verdict[] => {
      const verdicts = asLocal(local)[Symbol.iterator]();
      return checks.map((check, i) =>
        ways[i] === "local"
          ? (verdicts.next().value as Verdict)
          : blindVerdict(check, ways[i] === "allow", pauseMs),
      );
    };
    return isPromise(answer) ? answer.then(together) : together(answer);
  }

  /** A client held by the store stays held should the store vanish. */
  function rememberHolds(verdicts: Verdict[]): void {
    for (const { rule, key, heldUntil, at } of verdicts) {
      if (heldUntil !== undefined && heldUntil > at && wayOf(rule) === "local")
        void localStore().hold(rule, key, heldUntil - at);
    }
  }

  function acknowledge(): void {
    if (failed > 0) succeeded();
  }

  /** For acts that must be known to have happened: what the store can not do is an error. */
  function mustAct(act: () => Answer<void>): Answer<void> {
    return ask(act, acknowledge, (error) => {
      throw error instanceof StoreError ? error : unreachable(error);
    });
  }

  /** A store that can only decide is a store; asking more of it is no failure of its own. */
  function demand(verb: "peek" | "refund" | "hold" | "forget"): void {
    if (typeof store[verb] !== "function") throw unable(verb);
  }

  const { decideOne } = store;
  return {
    decide: (checks) => askVerdicts("decide", checks),
    ...(decideOne && { decideOne: (check: Check) => askVerdict(decideOne, check) }),
    peek(checks) {
      demand("peek");
      return askVerdicts("peek", checks);
    },
    refund(charges) {
      const [ofLocal, ofStore] = [charges.filter(isLocal), charges.filter((charge) => !isLocal(charge))];
      if (ofLocal.length > 0) void localStore().refund(ofLocal);
      if (ofStore.length === 0) return;
      demand("refund");
      // A charge that can not be given back stays: the safe side.
      return ask(
        () => store.refund(ofStore, terms),
        acknowledge,
        () => {},
      );
    },
    hold(rule, key, forMs) {
      demand("hold");
      try {
        return mustAct(() => store.hold(rule, key, forMs, terms));
      } finally {
        if (isElsewhere && wayOf(rule) === "local") void localStore().hold(rule, key, forMs);
      }
    },
    forget(checks) {
      demand("forget");
      void local?.forget(checks);
      return mustAct(() => store.forget(checks, terms));
    },
    ...(store.accept && { accept: (limit) => store.accept?.(limit) }),
    ...(store.close && { close: () => store.close?.() }),
  };
}

/** A hook is told, not asked: what it throws changes no answer. */
function tell(hook: () => void): void {
  try {
    hook();
  } catch (error) {
    console.error("Tidegate: onDegraded or onRecovered threw.", error);
  }
}

function isLocal(charge: Charge): boolean {
  return charge.source === "local";
}

export function isPromise<T>(answer: Answer<T>): answer is Promise<T> {
  return typeof (answer as Promise<T> | undefined)?.then === "function";
}

function asLocal(verdicts: Verdict[]): Verdict[] {
  for (const verdict of verdicts) verdict.source = "local";
  return verdicts;
}

/** One that nobody counted. */
function blindVerdict(check: Check, allowed: boolean, pauseMs: number): Verdict {
  const { rule, key, limit, shadow = false, name = levelName(rule, limit) } = check;
  return {
    rule,
    name,
    key,
    allowed,
    shadow,
    cost: costOf(check),
    limit: limit.limit,
    windowMs: limit.windowMs,
    remaining: allowed ? limit.limit : 0,
    resetAfterMs: 0,
    retryAfterMs: allowed ? 0 : pauseMs,
    at: Date.now(),
    source: "none",
  };
}

function isLate(error: unknown): boolean {
  return error instanceof StoreError && error.code === "TG_STORE_DEADLINE";
}

function areAllAllowed(verdicts: readonly Verdict[]): boolean {
  return verdicts.every(({ allowed, shadow }) => allowed || shadow);
}

/** A store may be wrong in any way; what it says is used only if it has the right shape. */
function areVerdicts(answer: unknown, count: number): boolean {
  if (!Array.isArray(answer) || answer.length !== count) return false;
  for (let i = 0; i < count; i++) {
    if (!hasNumbers(answer[i]) || typeof answer[i].allowed !== "boolean") return false;
  }
  return true;
}

function hasNumbers(verdict: Partial<Verdict> | null | undefined): boolean {
  return (
    typeof verdict?.remaining === "number" &&
    verdict.remaining >= 0 &&
    typeof verdict.retryAfterMs === "number" &&
    verdict.retryAfterMs >= 0
  );
}

function only(verdicts: Verdict[]): Verdict {
  return verdicts[0] as Verdict;
}

function strange(answer: unknown): StoreError {
  return new StoreError(
    "TG_STORE_REPLY",
    "store",
    `${shown(answer)} is not an answer to the checks it was given.`,
    "Run the store contract of tidegate/testing on this store.",
    {
      transient: false,
    },
  );
}

function unable(verb: string): StoreError {
  return new StoreError(
    "TG_STORE_VERB",
    "store",
    `it can not ${verb}.`,
    "Give it that verb; the store contract of tidegate/testing says what it promises.",
    {
      transient: false,
    },
  );
}

function unreachable(error: unknown): StoreError {
  return new StoreError(
    "TG_STORE_UNREACHABLE",
    "store",
    error instanceof Error ? error.message : shown(error),
    "See that it is up and reachable.",
    {
      transient: true,
      cause: error,
    },
  );
}

function paused(): StoreError {
  return new StoreError(
    "TG_STORE_PAUSED",
    "store",
    "it failed several times in a row and is left alone for a moment.",
    "See that it is up and reachable.",
    {
      transient: true,
    },
  );
}

const failureHelp = "Write milliseconds above 0, as a number.";

function parseFailureOptions(options: FailureOptions): {
  deadlineMs: number;
  failures: number;
  pauseMs: number;
  onStoreFailure: OnStoreFailure;
} {
  const { deadlineMs = 100, breaker = {}, onStoreFailure = "local" } = options;
  rejectUnknownOptions(breaker, ["failures", "pauseMs"], "breaker");
  const { failures = 5, pauseMs = 1000 } = breaker;
  if (!(typeof deadlineMs === "number" && deadlineMs > 0 && deadlineMs <= 60_000))
    throw new ConfigError(
      "TG_DEADLINE",
      "deadlineMs",
      `${shown(deadlineMs)} is not a deadline.`,
      `${failureHelp} At most 60000.`,
    );
  if (!(Number.isInteger(failures) && failures > 0))
    throw new ConfigError(
      "TG_BREAKER",
      "breaker.failures",
      `${shown(failures)} is not a number of failures.`,
      "Write a whole number from 1.",
    );
  if (!(pauseMs > 0 && Number.isFinite(pauseMs)))
    throw new ConfigError("TG_BREAKER", "breaker.pauseMs", `${shown(pauseMs)} is not a pause.`, failureHelp);
  if (onStoreFailure !== "local" && onStoreFailure !== "allow" && onStoreFailure !== "deny") {
    throw new ConfigError(
      "TG_STORE_FAILURE",
      "onStoreFailure",
      `${shown(onStoreFailure)} is not a way to go on.`,
      'Use "local", "allow" or "deny".',
    );
  }
  for (const hook of ["onDegraded", "onRecovered"] as const) {
    if (options[hook] !== undefined && typeof options[hook] !== "function")
      throw new ConfigError(
        "TG_HOOK",
        hook,
        `${shown(options[hook])} is not a function.`,
        "Give a function, or leave it out.",
      );
  }
  return { deadlineMs, failures, pauseMs, onStoreFailure };
}

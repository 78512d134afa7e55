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

/** A store that always answers, in time. Stores that answer at once pass through untouched. */
export function guardStore(store: Store, options: FailureOptions, openLocal: () => Store): Store {
  const { deadlineMs, failures, pauseMs, onStoreFailure } = parseFailureOptions(options);
  const deadlines = new Deadlines(deadlineMs);
  const terms = { deadlineMs };
  let local: Store | undefined;
  let failed = 0;
  let pausedUntil = 0;
  let isProbing = false;
  let isElsewhere = false;

  function localStore(): Store {
    local ??= openLocal();
    return local;
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

  function fail(error: unknown): void {
    failed++;
    isProbing = false;
    if (failed < failures) return;
    pausedUntil = performance.now() + pauseMs;
    if (failed === failures) tell(() => options.onDegraded?.(error));
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
    return inTime.then(accept).then(undefined, (error) => recover(error, instead));
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
      if (!isPromise(answer)) return acceptVerdicts(answer, checks.length);
      return awaitVerdicts(answer, verb, checks);
    } catch (error) {
      return recover(error, () => withoutStore(verb, checks));
    }
  }

  function awaitVerdicts(
    answer: Promise<Verdict[]>,
    verb: "decide" | "peek",
    checks: readonly Check[],
  ): Promise<Verdict[]> {
    return awaitAnswer(
      answer,
      (verdicts) => acceptVerdicts(verdicts, checks.length),
      () => withoutStore(verb, checks),
    );
  }

  function acceptVerdicts(verdicts: Verdict[], count: number): Verdict[] {
    if (!areVerdicts(verdicts, count)) throw strange(verdicts);
    if (failed > 0) succeeded();
    if (isElsewhere) rememberHolds(verdicts);
    return verdicts;
  }

  function withoutStore(verb: "decide" | "peek", checks: readonly Check[]): Answer<Verdict[]> {
    if (onStoreFailure !== "local")
      return checks.map((check) => blindVerdict(check, onStoreFailure === "allow", pauseMs));
    const answer = localStore()[verb](checks);
    return isPromise(answer) ? answer.then(asLocal) : asLocal(answer);
  }

  /** A client held by the store stays held should the store vanish. */
  function rememberHolds(verdicts: Verdict[]): void {
    if (onStoreFailure !== "local") return;
    for (const { rule, key, heldUntil, at } of verdicts) {
      if (heldUntil !== undefined && heldUntil > at) void localStore().hold(rule, key, heldUntil - at);
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

  return {
    decide: (checks) => askVerdicts("decide", checks),
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
        if (isElsewhere && onStoreFailure === "local") void localStore().hold(rule, key, forMs);
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

/** A store may be wrong in any way; what it says is used only if it has the right shape. */
function areVerdicts(answer: unknown, count: number): boolean {
  if (!Array.isArray(answer) || answer.length !== count) return false;
  for (let i = 0; i < count; i++) {
    const verdict = answer[i] as Partial<Verdict> | null | undefined;
    if (
      typeof verdict?.allowed !== "boolean" ||
      !(typeof verdict.remaining === "number" && verdict.remaining >= 0) ||
      !(typeof verdict.retryAfterMs === "number" && verdict.retryAfterMs >= 0)
    )
      return false;
  }
  return true;
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

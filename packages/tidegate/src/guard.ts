import { Breaker } from "./breaker.js";
import type { Charge, Check } from "./check.js";
import { costOf, levelName } from "./check.js";
import { Deadlines } from "./deadlines.js";
import type { Verdict } from "./decision.js";
import type { Docket } from "./docket.js";
import { ConfigError, StoreError, shown } from "./errors.js";
import { type FailureOptions, type OnStoreFailure, parseFailureOptions } from "./failure-options.js";
import { type Answer, ownWay, type Store } from "./store.js";

export interface GuardedStore extends Omit<Store, "decideOne" | "askDocket"> {
  /** Present when the store has it. What answers instead of the store may take its time. */
  decideOne?(check: Check): Promise<Verdict>;
  /** Present when the store is this library's own and has it. The docket is free for the next request at once. */
  askDocket?(docket: Docket): Answer<Verdict[]> | undefined;
}

/** A store that always answers, in time. Stores that answer at once pass through untouched. */
export function guardStore(
  store: Store,
  options: FailureOptions,
  openLocal: () => Store,
  /** A rule's own way to go on, where it has one. */
  ofRule?: (rule: string) => OnStoreFailure | undefined,
): GuardedStore {
  const failureTerms = parseFailureOptions(options);
  const { deadlineMs, pauseMs, onStoreFailure } = failureTerms;
  const breaker = new Breaker(failureTerms, options);
  const deadlines = new Deadlines(deadlineMs);
  const terms = { deadlineMs };
  let local: Store | undefined;
  let isElsewhere = false;

  function localStore(): Store {
    local ??= openLocal();
    return local;
  }

  function wayOf(rule: string): OnStoreFailure {
    return ofRule?.(rule) ?? onStoreFailure;
  }

  /** Asks the store within the deadline. What it can not answer, `instead` does; a wrong setting is not a failure. */
  function ask<T>(
    question: () => Answer<T>,
    accept: (given: T) => T,
    instead: (error: unknown) => Answer<T>,
  ): Answer<T> {
    if (breaker.isOpen()) return instead(paused());
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
      breaker.leaveOut();
      throw error;
    }
    breaker.fail(error);
    return instead(error);
  }

  /** As `ask` does, and without a closure for stores that answer at once: this is every decision's way. */
  function askVerdicts(verb: "decide" | "peek", checks: readonly Check[]): Answer<Verdict[]> {
    if (breaker.isOpen()) return withoutStore(verb, checks);
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
    if (breaker.hasFailed) return only(await askVerdicts("decide", [check]));
    try {
      const verdict = decideOne.call(store, check);
      if (hasNumbers(verdict) && typeof verdict.allowed === "boolean") return verdict;
      throw strange(verdict);
    } catch (error) {
      return only(await recover(error, () => withoutStore("decide", [check])));
    }
  }

  /** The same for a docket, of a store that did not fail when last asked. */
  function askDocket(docket: Docket): Answer<Verdict[]> | undefined {
    const kept = docket.kept();
    const instead = () => withoutStore("decide", kept.checks());
    try {
      const answer = store.askDocket?.(kept, deadlineMs);
      if (answer === undefined) return undefined;
      return awaitAnswer(answer, (given) => acceptVerdicts(given, given.length, "decide"), instead);
    } catch (error) {
      return recover(error, instead);
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
    // Only after a failure it matters what the answer proves.
    breaker.answer(!breaker.hasFailed || (verb === "decide" && areAllAllowed(verdicts)));
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
    breaker.answer(true);
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
  const own = ownWay(store);
  /** What was put in the place of its method, by a test or a wrapper, is looked after. */
  const isItself = (): boolean => store.decide === own?.decide && !breaker.hasFailed;
  const isSure = own?.isSure === true;
  return {
    decide: (checks, own) =>
      isSure && isItself() ? store.decide(checks, own) : askVerdicts("decide", checks),
    ...(isSure &&
      store.decideDocket && {
        decideDocket: (docket: Docket, now: number) =>
          isItself() ? store.decideDocket?.(docket, now) : undefined,
      }),
    ...(own &&
      store.askDocket && {
        askDocket: (docket: Docket) => (isItself() ? askDocket(docket) : undefined),
      }),
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

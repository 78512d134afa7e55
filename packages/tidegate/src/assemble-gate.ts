import { type Charge, mostChecks } from "./check.js";
import { Connection, type OfConnection } from "./connection.js";
import type { Decision, Verdict } from "./decision.js";
import { Docket } from "./docket.js";
import type { Cleared, DecideOptions, Explanation, Gate, GateOptions, Policy } from "./gate.js";
import { type GateDefaults, gateSurroundings, type Surroundings } from "./gate-surroundings.js";
import { isPromise } from "./guard.js";
import { askBriefly, asksNothing } from "./policy/brief.js";
import { clearing } from "./policy/clearing.js";
import type { Client } from "./policy/client.js";
import type { Customer } from "./policy/customer.js";
import { type Delay, delayBeforeAsking, delayBeforePassing } from "./policy/delay.js";
import { explanationOf } from "./policy/explanation.js";
import { validateEvent, validateGateOptions } from "./policy/gate-settings.js";
import {
  chargesOf,
  type Draft,
  decisionBy,
  decisionFrom,
  decisionWithin,
  isRefusedAfterwards,
  nothingToFinish,
  plainDecision,
  settlement,
} from "./policy/judgement.js";
import { listingOf } from "./policy/listings.js";
import { liveCustomers, liveList } from "./policy/live-data.js";
import { type CompiledPolicy, compilePolicy, validatePolicyOptions } from "./policy/policy.js";
import { Questions, validateAsked } from "./policy/questions.js";
import {
  partialRequest,
  ReceivedRequest,
  type Request,
  validateSubject,
  wholeSubject,
} from "./policy/request.js";
import type { Answer, Terms } from "./store.js";
import type { Outcome, Subject } from "./subject.js";

/** Rules, lists, tiers and a store, put together. */
export function assembleGate(options: GateOptions, defaults: GateDefaults): Gate {
  validateGateOptions(options);
  const { surroundings, policy } = gateSurroundings(options, defaults);
  return gateIn(surroundings, policy, surroundings.close);
}

/** A gate with this policy. Closing it does as told: what surrounds it may be others' too. */
function gateIn(surroundings: Surroundings, first: CompiledPolicy, close: () => Promise<void>): Gate {
  const { settings, terms, store, isStoresTime, directory, mirror, tell, newcomers } = surroundings;
  const { events, busy, tally, room, nextId, isWatched, policies } = surroundings;
  const { clock } = settings;
  const { warn } = terms;
  let policy = first;
  policies.add(() => policy);
  let spareDocket: Docket | undefined;

  /** The ladder, as far as nothing is counted: off, safelist, blocklist. Undefined: held and rules are the store's to judge. */
  function beforeRules({ client, at }: ReceivedRequest, id: string): Draft | undefined {
    if (policy.isOff) return plainDecision(id, true, "off");
    const listing = listingOf(client, policy, mirror, at);
    if (listing?.list === "safelist") return plainDecision(id, true, "safelist", listing.entry);
    if (listing?.list === "blocklist") return plainDecision(id, policy.isShadow, "blocklist", listing.entry);
    return undefined;
  }

  function clientOf(ip: string, options: (DecideOptions & OfConnection) | undefined): Client {
    const connection = options?.connection;
    return connection instanceof Connection ? connection.told(ip, tell) : tell(ip);
  }

  function customerOf({ subject, at }: ReceivedRequest): Answer<Customer | undefined> {
    const { customer: id } = subject;
    if (!policy.usesTiers || id === undefined || id === "") return undefined;
    return mirror.customer(typeof id === "string" ? id : String(id), at);
  }

  function termsOf({ at }: ReceivedRequest): Terms {
    return { at: isStoresTime ? at : undefined, areSound: true };
  }

  /** held and rules: one act of the store, however many rules. `goOn` makes of it what is answered, with no promise more. */
  function judge<T>(
    request: ReceivedRequest,
    customer: Customer | undefined,
    id: string,
    goOn: (judged: Judged, request: ReceivedRequest) => T,
  ): Answer<T> {
    const questions = new Questions(policy, request, customer, id).askAll(newcomers);
    if (questions.checks.length === 0) {
      const decision = plainDecision(id, true, questions.isOff ? "off" : "no-rule");
      return goOn({ decision, questions, answers: [] }, request);
    }
    const answer = store.decide(questions.checks, termsOf(request));
    return isPromise(answer)
      ? answer.then((answers) => conclude(request, questions, answers, id, goOn))
      : conclude(request, questions, answer, id, goOn);
  }

  function conclude<T>(
    request: ReceivedRequest,
    questions: Questions,
    answers: Verdict[],
    id: string,
    goOn: (judged: Judged, request: ReceivedRequest) => T,
  ): Answer<T> {
    const decision = decisionFrom(id, questions, answers);
    if (questions.hasSilentChecks) announceHolds(request, questions, answers);
    if (decision.allowed && questions.needsOutcome) decision.finish = finisher(questions, answers);
    const judged = { decision, questions, answers };
    return decision.allowed || !isRefusedAfterwards(questions, answers)
      ? goOn(judged, request)
      : withoutCharges(judged).then(() => goOn(judged, request));
  }

  /** A rule that trusts refuses after the store charged the others: they get it back. */
  async function withoutCharges({ questions, answers }: Judged): Promise<void> {
    await giveBack(chargesOf(questions, answers));
  }

  function announceHolds({ subject }: Request, { asked }: Questions, answers: readonly Verdict[]): void {
    for (const { ladderAt } of asked) {
      const ladder = answers[ladderAt];
      if (!ladder?.crossed) continue;
      const { rule, key, heldUntil = 0 } = ladder;
      tally.countHeld(rule);
      events.emit("held", { rule, key, until: heldUntil, subject });
    }
  }

  /** Keeps nothing of the request alive but what was asked about it. */
  function finisher(
    { asked, checks }: Questions,
    answers: readonly Verdict[],
  ): (outcome?: Outcome) => Promise<void> {
    let isFinished = false;
    return async (outcome) => {
      if (isFinished) return;
      isFinished = true;
      const { refunds, forgets, trusts } = settlement({ asked, checks }, answers, outcome ?? {});
      await giveBack(refunds);
      await atBest(async () => {
        if (forgets.length > 0) await store.forget(forgets);
        for (const { rule, key, forMs } of trusts) await store.hold(rule, key, forMs);
      });
    };
  }

  /** What can not be given back stays charged: the safe side. */
  async function giveBack(charges: Charge[]): Promise<void> {
    if (charges.length > 0) await store.refund(charges);
  }

  /** A request has ended: what can not be noted any more is told, and changes no answer. */
  async function atBest(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      warn({
        code: "TG_FINISH",
        message: `What a request's end changes could not be noted: ${error instanceof Error ? error.message : error}`,
        help: "Nothing was let through for it: what was counted stays counted. See that the store is reachable.",
      });
    }
  }

  /** Rules that delay: waits as long as they ask, and asks again what they refused. */
  async function afterDelays(
    request: ReceivedRequest,
    first: Judged,
    signal: AbortSignal | undefined,
  ): Promise<Draft> {
    let judged = first;
    let waitedMs = 0;
    for (;;) {
      const { decision, questions, answers } = judged;
      const delay = decision.allowed
        ? delayBeforePassing(questions, answers)
        : delayBeforeAsking(questions, answers);
      decision.delayedMs = waitedMs;
      if (delay === undefined || signal?.aborted) return decision;
      if (waitedMs + delay.forMs > delay.atMostMs || room.isFull) return refuseInstead(judged, delay);
      await room.wait(delay.forMs, signal);
      waitedMs += delay.forMs;
      if (decision.allowed) {
        decision.delayedMs = waitedMs;
        return decision;
      }
      const customer = await customerOf(request.lookedAtAgain(clock()));
      const later = request.lookedAtAgain(clock());
      const early = beforeRules(later, decision.id);
      if (early !== undefined) return early;
      judged = await judge(later, customer, decision.id, (again) => again);
    }
  }

  /** It would have to wait longer than it may, or where there is no room. */
  async function refuseInstead({ decision, questions, answers }: Judged, delay: Delay): Promise<Draft> {
    if (!decision.allowed) return decision;
    await giveBack(chargesOf(questions, answers));
    const verdict = { ...delay.verdict, allowed: false, retryAfterMs: Math.ceil(delay.forMs) };
    const instead = (one: Verdict): Verdict => (one === delay.verdict ? verdict : one);
    return {
      ...decision,
      allowed: false,
      reason: "over-limit",
      verdict,
      verdicts: decision.verdicts.map(instead),
      exposed: decision.exposed.map(instead),
      finish: async () => {},
    };
  }

  /** Whoever calls may make its signal when first asked for it, which only rules that delay do. */
  function decideNow(request: ReceivedRequest): Answer<Decision> {
    const id = nextId();
    const early = beforeRules(request, id);
    if (early !== undefined) return announce(request, early);
    const customer = customerOf(request);
    return isPromise(customer)
      ? customer.then((known) => decideLater(request.lookedAtAgain(clock()), known, id))
      : decideAs(request, customer, id);
  }

  /** Lists and policy may have changed while a customer was looked up. */
  function decideLater(
    request: ReceivedRequest,
    customer: Customer | undefined,
    id: string,
  ): Answer<Decision> {
    const early = beforeRules(request, id);
    return early === undefined ? decideAs(request, customer, id) : announce(request, early);
  }

  function decideAs(request: ReceivedRequest, customer: Customer | undefined, id: string): Answer<Decision> {
    if (policy.isBrief && asksNothing(request.asked)) return decideBriefly(request, customer, id);
    if (!policy.delays) return judge(request, customer, id, announceAtOnce);
    return Promise.resolve(judge(request, customer, id, announceAfterDelays));
  }

  /** Most requests: nothing is known of them afterwards but the verdicts. */
  function decideBriefly(
    request: ReceivedRequest,
    customer: Customer | undefined,
    id: string,
  ): Answer<Decision> {
    // A rule's own function may ask the gate, in the middle of this.
    const docket = spareDocket ?? new Docket();
    spareDocket = undefined;
    try {
      askBriefly(docket, policy, request, customer, newcomers);
      return judgeDocket(docket, request, id);
    } finally {
      spareDocket = docket;
    }
  }

  function judgeDocket(docket: Docket, request: ReceivedRequest, id: string): Answer<Decision> {
    if (docket.count === 0) return announce(request, plainDecision(id, true, "no-rule"));
    const usual = isStoresTime ? store.decideDocket?.(docket, request.at) : undefined;
    if (usual !== undefined) {
      if (isWatched) tally.countWithin(docket);
      return announceCounted(request, decisionWithin(id, usual));
    }
    const answer = store.askDocket?.(docket) ?? store.decide(docket.checks(), termsOf(request));
    return isPromise(answer)
      ? answer.then((verdicts) => announce(request, decisionBy(id, verdicts, verdicts)))
      : announce(request, decisionBy(id, answer, answer));
  }

  function announceAtOnce({ decision }: Judged, request: ReceivedRequest): Decision {
    return announce(request, decision);
  }

  async function announceAfterDelays(first: Judged, request: ReceivedRequest): Promise<Decision> {
    return announce(request, await afterDelays(request, first, request.asked?.signal));
  }

  function announce(request: ReceivedRequest, decision: Draft): Decision {
    if (isWatched) tally.count(decision);
    return announceCounted(request, decision);
  }

  function announceCounted(request: ReceivedRequest, draft: Draft): Decision {
    const { subject, client, at } = request;
    const decision = draft as Decision;
    if (isWatched) busy.count(client, !decision.allowed, at);
    if (events.has("decision")) events.emit("decision", { subject, decision });
    if (!decision.allowed && events.has("refused")) events.emit("refused", { subject, decision });
    return decision;
  }

  /** As `decide` would find it, charging nothing. */
  async function look(subject: Partial<Subject>): Promise<Explanation> {
    const whole = wholeSubject(subject);
    const request = new ReceivedRequest(whole, tell(whole.ip), clock());
    const early = beforeRules(request, "");
    if (early !== undefined) return explanationOf(policy, request, early);
    const questions = new Questions(policy, request, await customerOf(request), "", true).askAll(undefined);
    const decision =
      questions.checks.length === 0
        ? plainDecision("", true, questions.isOff ? "off" : "no-rule")
        : decisionFrom("", questions, await store.peek(questions.checks));
    return explanationOf(policy, request, decision, questions);
  }

  async function clear(facts: Partial<Subject>): Promise<Cleared> {
    validateSubject(facts);
    const { cleared, unknown, checks } = clearing(policy, partialRequest(facts, tell));
    for (let i = 0; i < checks.length; i += mostChecks) await store.forget(checks.slice(i, i + mostChecks));
    return { cleared, unknown };
  }

  const decide: Decide = (subject, options) => {
    if (options !== undefined) validateAsked(options, policy);
    return decideNow(new ReceivedRequest(subject, clientOf(subject.ip, options), clock(), options));
  };

  const gate: Gate = {
    decide(subject, options) {
      try {
        return Promise.resolve(decide(wholeSubject(subject), options));
      } catch (error) {
        return Promise.reject(error);
      }
    },
    explain: look,
    clear,
    update(next) {
      validatePolicyOptions(next);
      policy = compilePolicy(next, terms);
    },
    get policy() {
      return policy.source;
    },
    safelist: liveList("safelist", directory, mirror, clock),
    blocklist: liveList("blocklist", directory, mirror, clock),
    customers: liveCustomers(directory, mirror, () => policy.tiers.names),
    on(name, listener) {
      validateEvent(name);
      return events.on(name, listener);
    },
    metrics: () => ({
      ...tally.snapshot(),
      waiting: room.waiting,
      degraded: surroundings.isDegraded,
      safelistEntries: policy.safelist.size + mirror.size("safelist"),
      blocklistEntries: policy.blocklist.size + mirror.size("blocklist"),
    }),
    busiest: (count = 10) => busy.top(count),
    ready: mirror.ready,
    close,
  };
  ownWays.set(gate, {
    promised: gate.decide,
    decide,
    beside: (other) => gateIn(surroundings, compilePolicy(other, terms), async () => {}),
  });
  return gate;
}

type Decide = (...args: Parameters<Gate["decide"]>) => Answer<Decision>;

/** What gates made here can do beside their methods. */
interface OwnWays {
  readonly promised: Gate["decide"];
  /** Decides without a promise where none is needed. */
  readonly decide: Decide;
  /** Another policy with the same surroundings. */
  readonly beside: (policy: Policy) => Gate;
}

const ownWays = new WeakMap<Gate, OwnWays>();

/**
 * A gate of another policy that shares everything else with this one: counts, lists, customers, events and metrics. Undefined of
 * a gate that was not made here, or wrapped.
 */
export function gateBeside(gate: Gate, policy: Policy): Gate | undefined {
  return ownWays.get(gate)?.beside(policy);
}

/** `gate.decide` for whoever stands in every request's way: at once where the store answers at once, and then it may throw. */
export function decideAtOnce(gate: Gate): Decide {
  const own = ownWays.get(gate);
  // A method put in its place, by a test or a wrapper, is the gate's word.
  return (subject, options) =>
    own !== undefined && gate.decide === own.promised
      ? own.decide(subject, options)
      : gate.decide(subject, options);
}

/** Whether anything depends on how the request ends. */
export function needsEnd(decision: Decision): boolean {
  return decision.finish !== nothingToFinish;
}

/** A decision, and what it was made from. */
interface Judged {
  readonly decision: Draft;
  readonly questions: Questions;
  readonly answers: readonly Verdict[];
}

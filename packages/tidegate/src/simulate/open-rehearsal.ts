import { needsEnd } from "../assemble-gate.js";
import type { Decision } from "../decision.js";
import { ConfigError, shown } from "../errors.js";
import { isPromise } from "../guard.js";
import { rejectUnknownOptions } from "../limit.js";
import { clientTeller } from "../policy/client.js";
import { parseIdentity } from "../policy/gate-settings.js";
import { rememberingLast } from "../policy/matching/remembering-last.js";
import type { Answer } from "../store.js";
import { longNames } from "./long-names.js";
import type { RecordedRequest, Rehearsal, RehearsalOptions } from "./rehearsal.js";
import { type RehearsalGate, rehearsalGate } from "./rehearsal-gate.js";
import { RehearsalTally } from "./rehearsal-tally.js";
import { reportOf } from "./report.js";
import { Running } from "./running.js";
import { VirtualTime } from "./virtual-time.js";
import type { WorstSecond } from "./worst-second.js";

/** Opens the real gate on a clock of its own, and counts what it says to recorded requests. */
export function openRehearsal(options: RehearsalOptions): Rehearsal {
  validate(options);
  const time = new VirtualTime();
  const running = new Running();
  const identity = parseIdentity(options.identity);
  // The gate and whoever counts ask about the same address one after the other.
  const tell = rememberingLast(clientTeller(identity));
  const remarks = new Set<string>();
  const hasShortFingerprints = options.onDecision === undefined;
  const warn = ({ message, help }: { message: string; help: string }) => remarks.add(`${message} ${help}`);
  const terms = { time, running, hasShortFingerprints, warn };
  const gate = rehearsalGate(options.policy, options, { ...terms, tell });
  // Lists note in a client what they said of it, so each gate needs its own.
  const other =
    options.against &&
    rehearsalGate(options.against, options, { ...terms, tell: rememberingLast(clientTeller(identity)) });
  const tally = new RehearsalTally(
    options,
    hasShortFingerprints ? longNames(options.policy, identity) : undefined,
  );
  let queue: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;

  function addNow(request: RecordedRequest): void | Promise<void> {
    const { at } = request;
    if (!(at >= 0 && at < Number.POSITIVE_INFINITY)) throw notATime(at);
    const isLate = at < time.now;
    if (time.next <= at) return catchUp(at).then(() => judge(request, isLate));
    if (!isLate) time.now = at;
    return judge(request, isLate);
  }

  /** What happens meanwhile, each at its time. */
  async function catchUp(at: number): Promise<void> {
    await running.settled();
    while (time.next <= at) {
      time.step();
      await running.settled();
    }
    if (at > time.now) time.now = at;
    if (failure !== undefined) throw failure.error;
  }

  function judge(request: RecordedRequest, isLate: boolean): void | Promise<void> {
    const { subject } = request;
    tally.come(time.now, isLate);
    const first = gate.decide(subject);
    const second = other?.decide(subject);
    if (isPromise(first) || (second !== undefined && isPromise(second)))
      return judgeLater(request, first, second);
    const hasEnd = pass(request, first, tally.passed);
    const hasOtherEnd = second !== undefined && pass(request, second, tally.passedAgainst);
    tally.end(subject, tell(subject.ip), time.now, first, second);
    options.onDecision?.(request, first);
    if (hasEnd || hasOtherEnd) return running.settled();
  }

  /** A policy that delays answers when the wait is over, each in its own time; both together are what became of the request. */
  function judgeLater(
    request: RecordedRequest,
    first: Answer<Decision>,
    second: Answer<Decision> | undefined,
  ): Promise<void> {
    const { now } = time;
    const { subject } = request;
    const decisions: Decision[] = [];
    const answers = second === undefined ? [first] : [first, second];
    let left = answers.length;
    answers.forEach((answer, i) => {
      running.count++;
      Promise.resolve(answer)
        .then((decision) => {
          decisions[i] = decision;
          pass(request, decision, i === 0 ? tally.passed : tally.passedAgainst);
          if (i === 0) options.onDecision?.(request, decision);
          if (--left > 0) return;
          tally.end(subject, tell(subject.ip), now, decisions[0] as Decision, decisions[1]);
        })
        .catch((error) => {
          failure ??= { error };
        })
        .finally(() => {
          running.count--;
        });
    });
    return catchUp(now);
  }

  /** It reaches the origin, and ends there. Answers whether something is to be waited for. */
  function pass({ outcome, tookMs = 0 }: RecordedRequest, decision: Decision, passed: WorstSecond): boolean {
    if (!decision.allowed) return false;
    passed.count(time.now);
    if (!needsEnd(decision)) return false;
    const end = (): void => running.follow(decision.finish(outcome));
    if (tookMs > 0) time.plan(tookMs, end);
    else end();
    return true;
  }

  function enqueue(promise: Promise<void>): Promise<void> {
    const own = promise.finally(() => {
      if (queue === own) queue = undefined;
    });
    queue = own;
    return own;
  }

  function fullness(): string[] {
    return gate.isFull || other?.isFull
      ? [
          "There were more clients than the gate's memory holds at once: counts that mattered least were dropped.",
        ]
      : [];
  }

  return {
    add(request) {
      if (queue !== undefined) return enqueue(queue.then(() => addNow(request)));
      const answer = addNow(request);
      return answer === undefined ? undefined : enqueue(answer);
    },
    report: () => reportOf({ tally, options, remarks: [...remarks, ...fullness()] }),
    async finish() {
      await queue;
      while (time.next < Number.POSITIVE_INFINITY) await catchUp(time.next);
    },
    async close() {
      await closeAll([gate, other]);
    },
  };
}

async function closeAll(gates: readonly (RehearsalGate | undefined)[]): Promise<void> {
  for (const gate of gates) await gate?.close();
}

function validate(options: RehearsalOptions): void {
  rejectUnknownOptions(
    options,
    ["policy", "against", "identity", "gate", "tierOf", "suggest", "clients", "points", "onDecision"],
    "openRehearsal",
  );
  for (const [name, least] of [
    ["clients", 0],
    ["points", 2],
  ] as const) {
    const value = options[name];
    if (value === undefined || (Number.isInteger(value) && value >= least && value <= 1_000_000)) continue;
    throw new ConfigError(
      "TG_NUMBER",
      `openRehearsal.${name}`,
      `${shown(value)} will not do.`,
      `Write a whole number from ${least} to 1000000.`,
    );
  }
}

function notATime(at: unknown): TypeError {
  return new TypeError(`at: ${shown(at)} is not a time. Give milliseconds since 1970.`);
}

import { decideAtOnce } from "../assemble-gate.js";
import type { Decision } from "../decision.js";
import { shown } from "../errors.js";
import type { Gate } from "../gate.js";
import { isPromise } from "../guard.js";
import { clientResolver } from "../policy/identity/proxies.js";
import { type Header, limitHeaderWriter } from "./headers.js";
import { type Misuse, watchMisuse } from "./misuse.js";
import { type MountOptions, openGate, parseStatus } from "./mount-options.js";
import { ownAnswer } from "./own-answer.js";
import { type Answer, refusal, unavailable, varyByAccept } from "./refusal.js";
import { noteVisit, type Visit } from "./visit.js";

/** A gate in front of an app. */
export interface Mount<Request> {
  readonly gate: Gate;
  readonly misuse: Misuse;
  /** Judges a visit and writes what the client is to know. False: do not go on, it is answered, or nobody is there. */
  enter(request: object, visit: Visit<Request>): boolean | Promise<boolean>;
}

/** What every adapter does with a request, in one place. */
export function mount<Request>(
  options: MountOptions<Request>,
  ownNames: readonly string[] = [],
  /** A framework may make mounts when it first needs them, in the middle of a request. */
  made: "by the app" | "by a framework" = "by the app",
): Mount<Request> {
  const gate = openGate(options, ownNames);
  const decide = decideAtOnce(gate);
  const { identify, refuse, ignoresCase } = options;
  /** Of a gate that was handed in nobody knows here: it stays open. */
  const isClosedOnFailure = "onStoreFailure" in options && options.onStoreFailure === "deny";
  const status = parseStatus(options.status);
  const writeLimits = limitHeaderWriter(options.headers);
  const clientOf = clientResolver(proxyOptions(options));
  const misuse = watchMisuse(clientOf, made === "by the app", options.onWarning);

  /** No more promises than needed: this is every request's way. */
  function enter(request: object, visit: Visit<Request>): boolean | Promise<boolean> {
    if (visit.isOver) return false;
    if (!noteVisit(request, visit, gate)) {
      misuse.cameTwice();
      return true;
    }
    const { subject } = visit;
    misuse.arrived(visit);
    if (ignoresCase !== undefined) subject.ignoresCase = ignoresCase;
    subject.ip = clientOf(visit.peer, (name) => subject.header(name));
    return identify === undefined ? judge(visit) : makeKnown(visit).then(() => judge(visit));
  }

  async function makeKnown(visit: Visit<Request>): Promise<void> {
    try {
      const known = await identify?.(visit.request);
      if (!known) return;
      const odd = Object.keys(Object(known)).find((name) => !facts.includes(name));
      if (typeof known !== "object" || odd !== undefined)
        misuse.failed("identify answers { user, customer, account }, and it answered", odd ?? known);
      visit.subject.user = asText("user", known.user);
      visit.subject.customer = asText("customer", known.customer);
      const account = asText("account", known.account);
      if (account !== undefined) visit.subject.account = account;
    } catch (error) {
      misuse.failed("identify threw", error);
    }
  }

  /** Ids are often numbers, or objects that know their text, where no compiler looks. What would be the same text for all is nobody. */
  function asText(name: string, fact: unknown): string | undefined {
    if (fact === undefined || fact === null) return undefined;
    const text = typeof fact === "boolean" ? "" : String(fact);
    if (typeof fact === "string" || !/^$|^\[object .*\]$/.test(text)) return text;
    misuse.failed(`identify answered a ${name} that is no id`, shown(fact), "Such requests are nobody's.");
    return undefined;
  }

  function judge(visit: Visit<Request>): boolean | Promise<boolean> {
    try {
      const decision = decide(visit.subject, visit);
      if (!isPromise(decision))
        return identify === undefined ? conclude(visit, decision) : concludeLater(visit, decision);
      return decision.then(
        (made) => concludeLater(visit, made),
        (error) => goOnWithout(visit, error),
      );
    } catch (error) {
      return goOnWithout(visit, error);
    }
  }

  function conclude(visit: Visit<Request>, decision: Decision): boolean | Promise<boolean> {
    visit.decided(decision);
    misuse.decided(visit, decision);
    writeLimits(decision, visit);
    return decision.allowed || refuseIt(visit, decision);
  }

  /** Whoever asked may have left while something was awaited. */
  function concludeLater(visit: Visit<Request>, decision: Decision): boolean | Promise<boolean> {
    if (!visit.isOver) return conclude(visit, decision);
    visit.decided(decision);
    return false;
  }

  function goOnWithout(visit: Visit<Request>, error: unknown): boolean {
    if (visit.isOver) return false;
    const what = "the gate could not decide";
    if (!isClosedOnFailure) {
      misuse.failed(what, error);
      return true;
    }
    misuse.failed(what, error, 'Such requests are refused, as onStoreFailure: "deny" asks for.');
    const { headers, ...answer } = unavailable(visit.subject.header("accept"));
    visit.send({ ...answer, headers: [...headers, varyOf(visit)] });
    return false;
  }

  function varyOf(visit: Visit<Request>): Header {
    return ["Vary", varyByAccept(visit.getHeader("vary"))];
  }

  async function refuseIt(visit: Visit<Request>, decision: Decision): Promise<false> {
    visit.send(await answerTo(visit, decision));
    return false;
  }

  async function answerTo(visit: Visit<Request>, decision: Decision): Promise<Answer> {
    const usual = refusal(decision, status, visit.subject.header("accept"));
    try {
      const own = await refuse?.(visit.request, decision);
      if (own !== undefined) return await ownAnswer(own, usual);
    } catch (error) {
      misuse.failed("refuse gave no answer that can be sent", error, "Such requests are refused as usual.");
    }
    return { ...usual, headers: [...usual.headers, varyOf(visit)] };
  }

  return { gate, misuse, enter };
}

const facts = ["user", "customer", "account"];

function proxyOptions({
  trustedProxies,
  clientIpHeader,
}: MountOptions<never>): Parameters<typeof clientResolver>[0] {
  return {
    ...(trustedProxies !== undefined && { trustedProxies }),
    ...(clientIpHeader !== undefined && { clientIpHeader }),
  };
}

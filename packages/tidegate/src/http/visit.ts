import { needsEnd } from "../assemble-gate.js";
import type { Decision } from "../decision.js";
import type { Gate } from "../gate.js";
import type { LimitHeaderSink } from "./headers.js";
import type { HttpSubject } from "./http-subject.js";
import type { Answer } from "./refusal.js";

const lastVisit: unique symbol = Symbol("tidegate.visit");

/** What carries the note of a request's last visit. */
interface Carrier {
  [lastVisit]?: Visit;
}

/**
 * A request of node:http is a stream, and carries it on the stream's state. Express changes the prototype of every request;
 * to give such a one a property costs V8 1.5 µs, and every further access to it more.
 */
function carrierOf(request: object): Carrier {
  return (request as { _readableState?: Carrier })._readableState ?? request;
}

/** One request at one gate, from its arrival to the end of its answer. Each framework says how its answer is written. */
export abstract class Visit<Request = unknown> implements LimitHeaderSink {
  /** As the app knows it: what `identify` and `refuse` are given. */
  readonly request: Request;
  readonly subject: HttpSubject;
  readonly peer: string | undefined;
  /** The peer is the client, whatever proxies say of themselves in headers. */
  isPeerCertain = false;
  gate: Gate | undefined;
  decision: Decision | undefined;
  outer: Visit | undefined;
  protected hasEnded = false;
  #abort: AbortController | undefined;

  constructor(request: Request, subject: HttpSubject, peer: string | undefined) {
    this.request = request;
    this.subject = subject;
    this.peer = peer;
  }

  abstract getHeader(name: string): string | undefined;
  abstract setHeader(name: string, value: string): void;

  /** A request that passes several gates hears of the limits of all. */
  setLimitHeader(name: string, value: string): void {
    const others = this.outer === undefined ? undefined : this.getHeader(name);
    this.setHeader(name, others !== undefined && isLimitList(name) ? `${others}, ${value}` : value);
  }

  /** Sends a refusal, and ends the visit in time. */
  abstract send(answer: Answer): void;

  /** The answer has ended, or nobody waits for one any more. */
  get isOver(): boolean {
    return this.hasEnded;
  }

  /** Has `end` called in time, where that is not done anyway. Asked for only where something depends on it. */
  protected watch(): void {}

  /** Tells a gate that keeps the request waiting when nobody waits any more. Made when first asked for. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.isOver) this.#abort.abort();
      else this.watch();
    }
    return this.#abort.signal;
  }

  decided(decision: Decision): void {
    this.decision = decision;
    if (!needsEnd(decision)) return;
    if (this.isOver) finish(decision, undefined);
    else this.watch();
  }

  /** The answer is complete; or without a status: there is none and will be none. Only the first call counts. */
  end(status?: number): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    if (this.decision === undefined) this.#abort?.abort();
    else if (needsEnd(this.decision)) finish(this.decision, status);
  }
}

/** Of other fields only the last gate's are told. */
export function isLimitList(name: string): boolean {
  return name === "RateLimit" || name === "RateLimit-Policy";
}

export function finish(decision: Decision, status: number | undefined): void {
  decision.finish(status === undefined ? {} : { status }).catch((error) => {
    console.error("Tidegate: a decision could not be finished.", error);
  });
}

/** Calls the app once its request is let in: at once where that is known at once. */
export function goOn(isLetIn: boolean | Promise<boolean>, next: (error?: Error) => void): void {
  if (typeof isLetIn === "boolean") {
    if (isLetIn) next();
    return;
  }
  isLetIn.then((isIn) => {
    if (isIn) next();
  }, next);
}

/** Notes the visit; false when this request was at this gate before. */
export function noteVisit(request: object, visit: Visit, gate: Gate): boolean {
  const carrier = carrierOf(request);
  const outer = carrier[lastVisit];
  for (let each = outer; each !== undefined; each = each.outer) {
    if (each.gate === gate) return false;
  }
  visit.gate = gate;
  visit.outer = outer;
  carrier[lastVisit] = visit;
  return true;
}

/** What the gate said of this request; of several gates the last. Undefined when none has spoken. */
export function noted(request: object): Decision | undefined {
  let visit = carrierOf(request)[lastVisit];
  while (visit !== undefined && visit.decision === undefined) visit = visit.outer;
  return visit?.decision;
}

import type { IncomingMessage, ServerResponse } from "node:http";
import type { DecideOptions, Decision, Gate, Subject } from "tidegate";
import { type Header, limitHeaders, refusal } from "tidegate/http";
import type { Log } from "../log.js";
import { type Problem, sendProblem } from "../problem.js";
import { saidOnce } from "../said-once.js";
import type { Settings } from "../settings.js";
import { type Callers, isProblem } from "./callers.js";
import { type AskingProxy, forwardFacts, proxyNamed } from "./forward-facts.js";
import type { Judge } from "./judge.js";
import type { Endpoint } from "./measures.js";
import { cacheSeconds } from "./nginx-cache.js";
import type { PolicyNotes } from "./policy-notes.js";
import { failed, proxyUndeclared, proxyUnknown, QuestionError, tooManyLines } from "./problems.js";
import { seldom } from "./seldom.js";
import { withToldLevels } from "./told-levels.js";

export interface ForwardAuthOptions {
  readonly settings: Settings;
  readonly gate: Pick<Gate, "policy">;
  readonly callers: Callers;
  readonly judge: Judge;
  readonly notes: () => PolicyNotes;
  readonly endpoint: Endpoint;
  readonly log: Log;
}

/** A proxy waits a tenth of a second at most, so nobody is delayed here: rules that delay refuse. */
const atOnce: DecideOptions = { signal: AbortSignal.abort() };

/** Node shows no more header lines than these. What a proxy says itself may be the last of them: without it nobody is judged. */
const mostLines = 1000;

/** nginx must not keep what says nothing of a client. */
const notKept = { "X-Accel-Expires": "0" };

/** Answers proxies that ask, request by request, whether to let it in. */
export function forwardAuth(
  options: ForwardAuthOptions,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const { settings, gate, callers, judge, notes, endpoint, log } = options;
  const factsOf = forwardFacts(settings);
  const checkSaidOnce = saidOnce({ gate, identify: settings.identify });
  const writeHeaders = limitHeaders(settings.responses.headers);
  const headersOf = (decision: Decision): readonly Header[] => writeHeaders(withToldLevels(decision));
  const logUndeclared = seldom(60_000, (unsaid) => (peer: string | undefined) => {
    log.warn(
      { peer, unsaid, code: proxyUndeclared.code },
      "a proxy that is not declared asks for decisions: name it under decide.peers",
    );
  });

  /** nginx keeps refusals by the address it sees: another's, told by a proxy before it, must not be kept under that. */
  function keptFor(req: IncomingMessage, subject: Subject, decision: Decision): number {
    const isSeen = req.headers["x-real-ip"]?.toString().trim() === subject.ip;
    return isSeen ? cacheSeconds(decision, notes()) : 0;
  }

  function send(
    req: IncomingMessage,
    res: ServerResponse,
    proxy: AskingProxy,
    subject: Subject,
    decision: Decision,
  ): void {
    if (decision.allowed) {
      const headers = [...headersOf(decision), tagOf(decision), ["Cache-Control", "no-store"] as const];
      write(res, 200, headers, "");
      return;
    }
    const answer = refusal(decision, settings.responses.status, req.headers.accept);
    if (proxy !== "nginx") {
      const headers = [...headersOf(decision), ...answer.headers, ["Vary", "Accept"] as const];
      write(res, answer.status, headers, req.method === "HEAD" ? "" : answer.body);
      return;
    }
    const wait = answer.headers.filter(([name]) => name === "Retry-After");
    write(
      res,
      403,
      [
        ...headersOf(decision),
        ...wait,
        tagOf(decision),
        ["X-Tidegate-Status", `${answer.status}`],
        ["X-Accel-Expires", `${keptFor(req, subject, decision)}`],
      ],
      "",
    );
  }

  /** A request that no proxy should pass on. nginx takes every no but 403 for a fault of ours. */
  function turnAway(req: IncomingMessage, res: ServerResponse, problem: Problem): void {
    endpoint.rejected++;
    const status = proxyNamed(req.url ?? "") === "nginx" ? 403 : problem.status;
    sendProblem(res, { ...problem, status }, notKept);
  }

  return async (req, res) => {
    const startedAt = performance.now();
    if (req.rawHeaders.length > 2 * mostLines) {
      turnAway(req, res, tooManyLines);
      return;
    }
    const caller = callers.ofProxy(req);
    if (isProblem(caller) || !caller.isBelieved) {
      endpoint.rejected++;
      logUndeclared(req.socket.remoteAddress);
      sendProblem(res, isProblem(caller) ? caller : proxyUndeclared, notKept);
      return;
    }
    try {
      const proxy = proxyNamed(req.url ?? "");
      if (proxy === undefined) throw new QuestionError(proxyUnknown);
      const subject = factsOf(req, proxy);
      const decision = await judge.decide(subject, atOnce);
      judge.settle(decision, false);
      const repeated = decision.allowed ? checkSaidOnce(req, () => subject) : undefined;
      if (repeated !== undefined) {
        turnAway(req, res, repeated);
        return;
      }
      endpoint[decision.allowed ? "allowed" : "refused"]++;
      send(req, res, proxy, subject, decision);
      endpoint.took(startedAt);
    } catch (error) {
      endpoint.rejected++;
      if (!(error instanceof QuestionError)) log.error({ err: error }, "forward-auth failed");
      sendProblem(res, error instanceof QuestionError ? error.problem : failed, notKept);
    }
  };
}

function tagOf({ id }: Decision): Header {
  return ["Tidegate-Decision", id];
}

function write(
  res: ServerResponse,
  status: number,
  headers: readonly Header[],
  body: string | Uint8Array,
): void {
  const flat = headers.flat();
  if (!headers.some(([name]) => name === "Content-Length")) flat.push("Content-Length", "0");
  res.writeHead(status, flat);
  res.end(body);
}

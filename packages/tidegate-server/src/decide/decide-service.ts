import type { IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import type { Registry } from "prom-client";
import type { Gate, Subject } from "tidegate";
import type { Log } from "../log.js";
import { sendProblem } from "../problem.js";
import type { Settings } from "../settings.js";
import { answering } from "./answering.js";
import { answerDecide, answerExplain, answerExplainQuery, answerFinish } from "./answers.js";
import { callersOf } from "./callers.js";
import { decisionWriter } from "./decision-text.js";
import { forwardAuth } from "./forward-auth.js";
import { type DecisionEnded, judgeOf } from "./judge.js";
import { measures } from "./measures.js";
import { policyNotes } from "./policy-notes.js";
import { pathUnknown, wrongMethod } from "./problems.js";
import { sendJson } from "./send-json.js";
import { waitingFinishes } from "./waiting-finishes.js";

export interface DecideServiceOptions {
  readonly settings: Settings;
  readonly gate: Gate;
  readonly log: Log;
  readonly registry: Registry;
  /** Asks the processes beside this one for a decision that waits for its end; false: none has it. */
  readonly finishElsewhere?: Finish;
  /** Told of everyone asked about. */
  readonly track?: (subject: Subject) => void;
  /** Told how a request ended, where its caller tells. */
  readonly onEnded?: DecisionEnded;
}

/** Ends a decision that waits for it; false when there is none of this id. */
export type Finish = (id: string, status: number | undefined) => Promise<boolean>;

export interface DecideService {
  handle(req: IncomingMessage, res: ServerResponse): void;
  /** Of this process's own decisions. */
  readonly finish: Finish;
  /** What its listener needs: room for all a client sent to its proxy, and little patience with bodies. */
  readonly serverOptions: ServerOptions;
  /** Ends what still waits for `/v1/finish`, without a status: no answer counts. */
  close(): Promise<void>;
}

/**
 * A proxy that opens when nobody decides must get an answer to whatever it took from a client itself: Caddy takes a
 * megabyte of headers, and says the target three times.
 */
const mostHeaderBytes = 4_194_304;

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** Decisions for callers in any language, and for proxies that ask before they let a request in. */
export function decideService(options: DecideServiceOptions): DecideService {
  const { settings, gate, log, registry, track, onEnded, finishElsewhere = noneElsewhere } = options;
  const callers = callersOf(settings.decide);
  const waiting = settings.decide.canFinish ? waitingFinishes() : undefined;
  const finish: Finish = async (id, status) => (await waiting?.finish(id, status)) ?? false;
  const notes = policyNotes(gate);
  const judge = judgeOf({ gate, notes, waiting, track, onEnded });
  const endpoints = measures(registry, ["decide", "finish", "explain", "auth"]);
  const { body, query } = answering({ callers, log });
  const writeDecision = decisionWriter(settings.responses.headers);
  const auth = forwardAuth({ settings, gate, callers, judge, notes, endpoint: endpoints.auth, log });
  const health: Handler = (_, res) => sendJson(res, '{"ok":true}');

  const decide = body(endpoints.decide, answerDecide(judge, endpoints.decide, writeDecision));
  const routes: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
    "/v1/decide": { POST: decide },
    "/v1/finish": {
      POST: body(
        endpoints.finish,
        answerFinish(async (id, status) => (await finish(id, status)) || finishElsewhere(id, status)),
      ),
    },
    "/v1/explain": {
      GET: query(endpoints.explain, answerExplainQuery(gate)),
      POST: body(endpoints.explain, answerExplain(gate)),
    },
    "/health": { GET: health, HEAD: health },
  };

  function route(req: IncomingMessage, res: ServerResponse): void {
    const { url = "", method = "" } = req;
    const mark = url.indexOf("?");
    const path = mark < 0 ? url : url.slice(0, mark);
    if (path === "/v1/auth" || path.startsWith("/v1/auth/")) {
      void auth(req, res);
      return;
    }
    const methods = Object.hasOwn(routes, path) ? routes[path] : undefined;
    const handler = methods !== undefined && Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (handler !== undefined) handler(req, res);
    else if (methods === undefined) sendProblem(res, pathUnknown);
    else {
      const allow = Object.keys(methods).join(", ");
      sendProblem(res, wrongMethod(allow), { Allow: allow });
    }
  }

  return {
    finish,
    handle(req, res) {
      if (req.url === "/v1/decide" && req.method === "POST") decide(req, res);
      else route(req, res);
    },
    serverOptions: { maxHeaderSize: mostHeaderBytes, requestTimeout: 10_000, headersTimeout: 5000 },
    async close() {
      await waiting?.close();
    },
  };
}

const noneElsewhere: Finish = async () => false;

import type { ServerResponse } from "node:http";
import type { Decision, Gate } from "tidegate";
import type { Answer } from "./answering.js";
import { asClientSees } from "./as-client-sees.js";
import type { Caller } from "./callers.js";
import type { Judge } from "./judge.js";
import type { Endpoint } from "./measures.js";
import { parseFinishes } from "./parse-finishes.js";
import { parseQuestions, parseSubject, type Question } from "./parse-question.js";
import {
  badQuestion,
  decisionUnknown,
  explainUndeclared,
  peerUndeclared,
  QuestionError,
} from "./problems.js";
import { sendJson } from "./send-json.js";

/** `/v1/decide`: judged and charged. Refused is an answer like any other. */
export function answerDecide(
  judge: Judge,
  endpoint: Endpoint,
  textOf: (decision: Decision, canFinish: boolean) => string,
): Answer<unknown> {
  return (res, body, caller) => {
    const { questions, isMany, waits } = parseQuestions(body, caller);
    for (const { options } of questions) judge.validateRule(options.rule, caller.isBelieved);
    const signal = waits ? gone(res) : undefined;
    const ask = ({ subject, options }: Question): Decision | Promise<Decision> =>
      judge.decide(subject, signal === undefined ? options : { ...options, signal });
    const write = (decision: Decision): string => {
      if (decision.allowed) endpoint.allowed++;
      else endpoint.refused++;
      const willFinish = judge.settle(decision, caller.isBelieved);
      return textOf(caller.isBelieved ? decision : asClientSees(decision), willFinish);
    };
    const send = (decision: Decision): void => sendJson(res, write(decision));
    if (isMany)
      return Promise.all(questions.map(ask)).then((decisions) =>
        sendJson(res, `{"decisions":[${decisions.map(write).join(",")}]}`),
      );
    const decision = ask(questions[0] as Question);
    return decision instanceof Promise ? decision.then(send) : send(decision);
  };
}

/** `/v1/finish`: how requests ended. */
export function answerFinish(
  finish: (id: string, status: number | undefined) => Promise<boolean>,
): Answer<unknown> {
  return async (res, body, caller) => {
    if (!caller.isBelieved) throw new QuestionError(peerUndeclared);
    const { finishes, isMany } = parseFinishes(body);
    const unknown: string[] = [];
    for (const { id, status } of finishes) if (!(await finish(id, status))) unknown.push(id);
    if (!isMany && unknown.length > 0) throw new QuestionError(decisionUnknown);
    sendJson(res, JSON.stringify({ finished: finishes.length - unknown.length, unknown }));
  };
}

/** `/v1/explain` with a subject in the body: what would be decided, in words, free of charge. */
export function answerExplain(gate: Gate): Answer<unknown> {
  return async (res, body, caller) => {
    mayBeExplained(caller);
    const told = (body as { subject?: unknown } | null)?.subject;
    sendJson(res, JSON.stringify(await gate.explain(parseSubject(told, caller, "subject"))));
  };
}

/** The same, with the subject's facts in the query. */
export function answerExplainQuery(gate: Gate): Answer<URLSearchParams> {
  return async (res, query, caller) => {
    mayBeExplained(caller);
    const told = Object.fromEntries(query);
    if (query.size > Object.keys(told).length)
      throw new QuestionError(badQuestion("The query says something twice. Say each fact once."));
    sendJson(res, JSON.stringify(await gate.explain(parseSubject(told, caller, "The query"))));
  };
}

/** An explanation names every rule with its numbers, hidden ones too. */
function mayBeExplained(caller: Caller): void {
  if (!caller.isBelieved) throw new QuestionError(explainUndeclared);
}

/** Aborted when the caller hangs up. */
function gone(res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  res.once("close", () => controller.abort());
  return controller.signal;
}

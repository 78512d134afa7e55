import type { Problem } from "../problem.js";

/** A question that can not be answered: thrown while it is read, sent as it stands. */
export class QuestionError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

export function badQuestion(detail: string): Problem {
  return { status: 400, title: "Bad question", detail, code: "TG_QUESTION" };
}

export const notUtf8: Problem = badQuestion("The body is not UTF-8. Send JSON in UTF-8.");
export const notJson: Problem = badQuestion(
  'The body is not JSON. Send e.g. {"subject":{"ip":"203.0.113.7","path":"/"}}.',
);

export function tooLarge(detail: string): Problem {
  return { status: 413, title: "Question too large", detail, code: "TG_QUESTION_LARGE" };
}

export const wrongType: Problem = {
  status: 415,
  title: "Unsupported media type",
  detail: "Questions are JSON. Send Content-Type: application/json.",
  code: "TG_QUESTION_TYPE",
};

export const peerUndeclared: Problem = {
  status: 403,
  title: "Caller not declared",
  detail:
    "What is said of a client (ip, user, customer, account, headers, cost, id) is believed from declared callers only. " +
    "Name this caller's address under decide.peers, or set decide.token and send it as Authorization: Bearer.",
  code: "TG_PEER_UNDECLARED",
};

export const explainUndeclared: Problem = {
  status: 403,
  title: "Caller not declared",
  detail:
    "What rules there are is explained to declared callers only. " +
    "Name this caller's address under decide.peers, or set decide.token and send it as Authorization: Bearer.",
  code: "TG_PEER_UNDECLARED",
};

export const proxyUndeclared: Problem = {
  status: 403,
  title: "Proxy not declared",
  detail:
    "This proxy may not say who its clients are. Name its address under decide.peers, " +
    "or set decide.token and let the proxy send it as Tidegate-Token.",
  code: "TG_PEER_UNDECLARED",
};

export const wrongToken: Problem = {
  status: 401,
  title: "Wrong token",
  detail: "This token is not the one in decide.token.",
  code: "TG_DECIDE_TOKEN",
};

export const tooManyTokens: Problem = {
  status: 429,
  title: "Too many wrong tokens",
  detail: "Too many wrong tokens came from this address. Wait a minute.",
  code: "TG_DECIDE_TOKEN",
};

export function ruleUnknown(rule: string): Problem {
  return {
    status: 404,
    title: "No such rule",
    detail: `There is no rule ${JSON.stringify(rule.slice(0, 64))}. Ask for one of the policy's by its name, or leave rule out to ask them all.`,
    code: "TG_RULE_UNKNOWN",
  };
}

export const decisionUnknown: Problem = {
  status: 404,
  title: "No such decision",
  detail:
    "No decision of this id waits for its end here: it needed none, its time is over and it was counted, or another server made it. " +
    "Send what stood in the answer's finish within five minutes, to the server that answered; decide.canFinish must be true.",
  code: "TG_DECISION_UNKNOWN",
};

export const pathUnknown: Problem = {
  status: 404,
  title: "No such path",
  detail:
    "Here are POST /v1/decide, POST /v1/finish, GET and POST /v1/explain, /v1/auth?for=nginx|caddy|traefik and GET /health.",
  code: "TG_DECIDE_PATH",
};

export function wrongMethod(allow: string): Problem {
  return {
    status: 405,
    title: "Method not allowed",
    detail: `This path takes ${allow}.`,
    code: "TG_DECIDE_METHOD",
  };
}

export const proxyUnknown: Problem = {
  status: 400,
  title: "Unknown proxy",
  detail: "Say which proxy asks: /v1/auth?for=nginx, caddy or traefik.",
  code: "TG_AUTH_FOR",
};

export function factMissing(header: string): Problem {
  return {
    status: 400,
    title: "The proxy left something out",
    detail: `The proxy has to send ${header}. \`tidegate edge render\` writes a configuration that does.`,
    code: "TG_AUTH_FACTS",
  };
}

export const tooManyLines: Problem = {
  status: 431,
  title: "Request Header Fields Too Large",
  detail: "The client sent more header lines than can be looked at: 1000, with those the proxy adds.",
  code: "TG_REQUEST",
};

export const failed: Problem = {
  status: 503,
  title: "No decision",
  detail: "This question could not be judged. The log says why.",
  code: "TG_DECIDE_FAILED",
};

import { ApiProblem, badRequest, notFound } from "../api-problem.js";
import type { Ask, Handler } from "../handler.js";
import { noQuery, parseAs } from "../shapes.js";

/** Server-sent events, until one side has enough. */
export const events: Handler<undefined | string> = ({ live, access }, ask) => {
  parseAs(noQuery, ask.query, "query");
  const auditAfter = lastHeard(ask);
  if (live === undefined) throw notFound("Nothing is watched here.", "Ask a server that was started whole.");
  if (ask.req.method === "HEAD") return { body: "", type: "text/event-stream" };
  const isStillAllowed = (): Promise<boolean> => access.check(ask.req, "viewer").then(() => true, isOther);
  const options = { isStillAllowed, ...(auditAfter !== undefined && { auditAfter }) };
  if (!live.listen(ask.res, options)) throw full();
  return { isSent: true, body: undefined };
};

/** What a browser sends by itself when it comes again. */
function lastHeard({ req }: Ask): number | undefined {
  const id = req.headers["last-event-id"];
  if (id === undefined || id === "") return undefined;
  if (typeof id === "string" && /^\d{1,15}$/.test(id)) return Number(id);
  throw badRequest("Last-Event-ID", "This is no id of an event.", "Send the last one you got, or none.");
}

/** Whether something else is wrong than the token or the session. */
function isOther(error: unknown): boolean {
  return !(error instanceof ApiProblem && (error.answer.status === 401 || error.answer.status === 403));
}

function full(): ApiProblem {
  return new ApiProblem(
    {
      status: 503,
      code: "TG_EVENTS_FULL",
      detail: "As many listen to events as may, or the server is ending.",
      help: "Close a dashboard, or ask again and again: GET /v1/status, GET /v1/series.",
    },
    { "Retry-After": "10" },
  );
}

import { ApiProblem, notFound } from "../api-problem.js";
import type { Handler } from "../handler.js";
import { parseAs, rehearseBody } from "../shapes.js";
import type { RehearsalReport } from "../types.js";

/** Changes nothing and leaves no audit entry. It takes the server's time, though, one at a time: so not every viewer may. */
export const rehearse: Handler<RehearsalReport> = async ({ rehearsal }, ask) => {
  if (rehearsal === undefined)
    throw notFound(
      "No recent traffic is kept here.",
      "Set rehearse.keep in tidegate.yaml above 0 and restart, or rehearse on a log: tidegate replay.",
    );
  const { policy, against = "current" } = parseAs(rehearseBody, await ask.body(), "body");
  const isCompared = against === "current";
  const run = rehearsal.begin(policy, { isCompared });
  if (run === undefined)
    throw new ApiProblem(
      {
        status: 409,
        code: "TG_REHEARSAL_BUSY",
        detail: "Another policy is being rehearsed, and one at a time is.",
        help: "Ask again in a moment.",
      },
      { "Retry-After": "1" },
    );
  return { body: await run };
};

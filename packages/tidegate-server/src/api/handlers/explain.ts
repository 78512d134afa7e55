import { explained } from "../explained.js";
import type { Handler } from "../handler.js";
import { parseAs, subjectBody } from "../shapes.js";
import { subjectOf } from "../subject-of.js";
import type { ExplainAnswer } from "../types.js";

export const explain: Handler<ExplainAnswer> = async (parts, ask) => ({
  body: await explained(parts, subjectOf(parseAs(subjectBody, await ask.body(), "body"))),
});

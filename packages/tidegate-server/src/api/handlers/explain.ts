import { explained } from "../explained.js";
import type { Handler } from "../handler.js";
import { filledIn, rememberedOf } from "../remembered.js";
import { explainBody, parseAs } from "../shapes.js";
import { subjectOf } from "../subject-of.js";
import type { ExplainAnswer } from "../types.js";

export const explain: Handler<ExplainAnswer> = async (parts, ask) => {
  const given = parseAs(explainBody, await ask.body(), "body");
  const subject = subjectOf(given);
  const [asRefused] = given.remembered === true ? await rememberedOf(parts, subject) : [];
  if (asRefused === undefined) return { body: await explained(parts, subject) };
  return { body: { ...(await explained(parts, filledIn(subject, asRefused.about))), asRefused } };
};

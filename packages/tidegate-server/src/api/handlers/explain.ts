import { isAddress } from "tidegate/http";
import { badRequest } from "../api-problem.js";
import { explained } from "../explained.js";
import type { Handler } from "../handler.js";
import { filledIn, rememberedOf } from "../remembered.js";
import { explainBody, parseAs } from "../shapes.js";
import { subjectOf } from "../subject-of.js";
import type { ExplainAnswer } from "../types.js";

export const explain: Handler<ExplainAnswer> = async (parts, ask) => {
  const given = parseAs(explainBody, await ask.body(), "body");
  const subject = subjectOf(given);
  if (subject.ip !== undefined && !isAddress(subject.ip))
    throw badRequest("body.subject.ip", "This is not an address.", "Give one such as 203.0.113.7.");
  const [asRefused] = given.remembered === true ? await rememberedOf(parts, subject) : [];
  if (asRefused === undefined) return { body: await explained(parts, subject) };
  return { body: { ...(await explained(parts, filledIn(subject, asRefused.about))), asRefused } };
};

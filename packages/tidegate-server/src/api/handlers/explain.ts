import type { Subject } from "tidegate";
import { heldClients } from "../edge-desk.js";
import type { AdminParts, Handler } from "../handler.js";
import { parseAs, subjectBody } from "../shapes.js";
import { subjectOf } from "../subject-of.js";
import type { ExplainAnswer, HeldClient } from "../types.js";

export const explain: Handler<ExplainAnswer> = async (parts, ask) => {
  const subject = subjectOf(parseAs(subjectBody, await ask.body(), "body"));
  const explained = await parts.gate.explain(subject);
  return {
    body: parts.desk === undefined ? explained : { ...explained, offenders: await heldOf(parts, subject) },
  };
};

/** Null when it can not be told: what the gate says is worth telling all the same. */
async function heldOf({ desk, log }: AdminParts, subject: Partial<Subject>): Promise<HeldClient[] | null> {
  try {
    return desk === undefined ? [] : await heldClients(desk, await desk.find(subject));
  } catch (error) {
    log.warn({ err: error }, "who is held at the edges can not be told");
    return null;
  }
}

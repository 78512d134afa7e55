import type { Handler } from "../handler.js";
import { note } from "../note.js";
import { parseAs, subjectBody } from "../shapes.js";
import { subjectOf } from "../subject-of.js";
import type { ClearAnswer } from "../types.js";

export const clear: Handler<ClearAnswer> = async (parts, ask) => {
  const { gate } = parts;
  const subject = subjectOf(parseAs(subjectBody, await ask.body(), "body"));
  const who = ask.who();
  const cleared = await gate.clear(subject);
  // Headers may hold secrets; keys made of them are hashed.
  const { header: _, ...facts } = subject;
  await note(parts, {
    who,
    what: "client.clear",
    target: nameOf(facts),
    before: facts,
    after: cleared.cleared,
  });
  return { body: cleared };
};

function nameOf(facts: Readonly<Record<string, unknown>>): string {
  const [name, fact] = Object.entries(facts)[0] ?? ["headers", ""];
  return name === "ip" ? String(fact) : `${name} ${fact}`.trim();
}

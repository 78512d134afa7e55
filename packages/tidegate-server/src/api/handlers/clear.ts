import { heldClients } from "../edge-desk.js";
import type { Handler } from "../handler.js";
import { note } from "../note.js";
import { parseAs, subjectBody } from "../shapes.js";
import { subjectOf } from "../subject-of.js";
import type { ClearAnswer, HeldClient } from "../types.js";

export const clear: Handler<ClearAnswer> = async (parts, ask) => {
  const { gate, desk } = parts;
  const subject = subjectOf(parseAs(subjectBody, await ask.body(), "body"));
  const who = ask.who();
  const cleared = await gate.clear(subject);
  let edges: HeldClient[] | undefined;
  let failure: { readonly error: unknown } | undefined;
  try {
    edges = desk && (await heldClients(desk, await desk.clear(subject, { who })));
  } catch (error) {
    failure = { error };
  }
  // Headers may hold secrets; keys made of them are hashed.
  const { header: _, ...facts } = subject;
  await note(parts, {
    who,
    what: "client.clear",
    target: nameOf(facts),
    before: facts,
    after: edges === undefined ? cleared.cleared : { cleared: cleared.cleared, edges: edges.map(named) },
  });
  if (failure !== undefined) throw failure.error;
  return { body: edges === undefined ? cleared : { ...cleared, edges } };
};

function named({ key, rule, edges }: HeldClient): Pick<HeldClient, "key" | "rule" | "edges"> {
  return { key, rule, edges };
}

function nameOf(facts: Readonly<Record<string, unknown>>): string {
  const [name, fact] = Object.entries(facts)[0] ?? ["headers", ""];
  return name === "ip" ? String(fact) : `${name} ${fact}`.trim();
}

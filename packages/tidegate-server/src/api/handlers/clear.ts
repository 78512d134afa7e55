import type { Cleared, Subject } from "tidegate";
import type { Meant } from "../../control-desk.js";
import { clearAll } from "../clear-all.js";
import { heldClients } from "../edge-desk.js";
import type { AdminParts, Handler } from "../handler.js";
import { note } from "../note.js";
import { newestFirst, rememberedOf } from "../remembered.js";
import { clearBody, parseAs } from "../shapes.js";
import { subjectOf } from "../subject-of.js";
import type { ClearAnswer, HeldClient } from "../types.js";

export const clear: Handler<ClearAnswer> = async (parts, ask) => {
  const { desk } = parts;
  const given = parseAs(clearBody, await ask.body(), "body");
  const subject = given.subject === undefined ? {} : subjectOf({ subject: given.subject });
  const client = given.key === undefined ? subject : { key: given.key };
  const who = ask.who();
  const cleared = await forget(parts, given.key === undefined ? subject : given.key, given.remembered);
  await parts.release?.(cleared.cleared);
  let edges: HeldClient[] | undefined;
  let holdOffUntil: number | undefined;
  let failure: { readonly error: unknown } | undefined;
  try {
    edges = desk && (await heldClients(desk, await desk.clear(client, { who })));
    const hasEdges = edges !== undefined && (edges.length > 0 || ((await desk?.edges()) ?? []).length > 0);
    const ends = hasEdges ? ((await desk?.clears(client)) ?? []).map(({ until }) => until) : [];
    if (ends.length > 0) holdOffUntil = Math.max(...ends);
  } catch (error) {
    failure = { error };
  }
  // Headers may hold secrets; keys made of them are hashed.
  const { header: _, ...facts }: Meant = client;
  await note(parts, {
    who,
    what: "client.clear",
    target: nameOf(facts),
    before: facts,
    after: edges === undefined ? cleared.cleared : { cleared: cleared.cleared, edges: edges.map(named) },
  });
  if (failure !== undefined) throw failure.error;
  if (edges === undefined) return { body: cleared };
  return { body: { ...cleared, edges, ...(holdOffUntil !== undefined && { holdOffUntil }) } };
};

/** Of itself a key says nothing of a client but how it stands at an edge. */
async function forget(
  parts: AdminParts,
  client: Partial<Subject> | string,
  isRemembered = false,
): Promise<Cleared & Pick<ClearAnswer, "remembered">> {
  const isKey = typeof client === "string";
  if (!isRemembered) return isKey ? { cleared: [], unknown: [] } : await parts.gate.clear(client);
  if (!isKey) return clearAll(parts, client, await rememberedOf(parts, client));
  return clearAll(parts, undefined, newestFirst((await parts.refused?.({ key: client })) ?? []));
}

function named({ key, rule, edges }: HeldClient): Pick<HeldClient, "key" | "rule" | "edges"> {
  return { key, rule, edges };
}

function nameOf(facts: Readonly<Record<string, unknown>>): string {
  const [name, fact] = Object.entries(facts)[0] ?? ["headers", ""];
  return name === "ip" || name === "key" ? String(fact) : `${name} ${fact}`.trim();
}

import type { AuditEntry } from "../../data.js";
import { notFound } from "../api-problem.js";
import type { AdminParts, Handler } from "../handler.js";
import { parseAs, undoBody } from "../shapes.js";
import type { UndoAnswer } from "../types.js";
import { neverUndone, undoneAlready, undoStale } from "../undo/undo-problems.js";
import { undoingOf } from "../undo/undoing.js";

/** Takes one change back, as a change like any other: it has an entry of its own, which can be undone in turn. */
export const undoAudit: Handler<UndoAnswer> = async (parts, ask) => {
  const { why, force = false } = parseAs(undoBody, await ask.body(), "body");
  const who = ask.who();
  const entry = await entryOf(parts, ask.param("id"));
  const undoing = undoingOf(entry);
  if (undoing === undefined) throw neverUndone(entry);
  await parts.access.check(ask.req, undoing.role);
  const { id } = entry;
  return parts.turn(`audit ${id}`, async () => {
    const by = (await parts.undone.from(id)).get(id);
    if (by !== undefined) throw undoneAlready(by);
    const noted = await undoing.undo(
      parts,
      {
        who,
        ...(why !== undefined && { why }),
        undoes: id,
        check({ now }) {
          if (undoing.isBack(now)) throw undoneAlready();
          if (!force && !undoing.isLeft(now)) throw undoStale(now);
        },
      },
      { peer: ask.peer(), force },
    );
    return { body: { undone: id, ...(noted && { entry: noted }) } };
  });
};

async function entryOf({ data }: AdminParts, text: string): Promise<AuditEntry> {
  const id = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0;
  const [entry] = id === 0 ? [] : await data.audit.list({ most: 1, before: id + 1 });
  if (entry?.id === id) return entry;
  throw notFound("There is no such audit entry.", "GET /v1/audit lists those that are kept.");
}

import { setImmediate as nextTurn } from "node:timers/promises";
import type { AuditLog } from "../../data.js";

/** Which audit entries were taken back, and by which. Whoever takes back an undo brings the entry itself back. */
export interface UndoneEntries {
  /** Entry to the one that undid it, for all from this one up to the newest. */
  from(id: number): Promise<ReadonlyMap<number, number>>;
}

const aPage = 500;

/** The audit is read once, as far down as somebody asks; after that only what is new. */
export function undoneEntries(audit: Pick<AuditLog, "list">): UndoneEntries {
  /** Undo to what it undoes. */
  const undoes = new Map<number, number>();
  let counted = 0;
  let undone: ReadonlyMap<number, number> = new Map();
  /** Read is from `oldest` to `newest`, both included. */
  let newest = 0;
  let oldest = Number.MAX_SAFE_INTEGER;
  let reading: Promise<unknown> = Promise.resolve();

  /** Reads from below `before` down to `last`, and answers the highest number it met. */
  async function read(before: number | undefined, last: number): Promise<number> {
    let highest = 0;
    for (let next = before; ; await nextTurn()) {
      const page = await audit.list({ most: aPage, ...(next !== undefined && { before: next }) });
      for (const entry of page) if (entry.undoes !== undefined) undoes.set(entry.id, entry.undoes);
      highest = Math.max(highest, page[0]?.id ?? 0);
      next = page.at(-1)?.id;
      if (next === undefined || page.length < aPage || next <= last) return highest;
    }
  }

  async function readFrom(id: number): Promise<ReadonlyMap<number, number>> {
    const highest = await read(undefined, newest === 0 ? id : newest);
    if (newest === 0) oldest = id;
    newest = Math.max(newest, highest);
    if (id < oldest) {
      await read(oldest, id);
      oldest = id;
    }
    if (undoes.size !== counted) undone = takenBack(undoes);
    counted = undoes.size;
    return undone;
  }

  return {
    from(id) {
      const turn = reading.then(() => readFrom(id));
      reading = turn.catch(() => {});
      return turn;
    },
  };
}

/** From the newest down: an undo that was itself taken back counts for nothing. */
function takenBack(undoes: ReadonlyMap<number, number>): Map<number, number> {
  const undone = new Map<number, number>();
  for (const [id, target] of [...undoes].sort(([one], [other]) => other - one))
    if (!undone.has(id)) undone.set(target, id);
  return undone;
}

import { setImmediate as nextTurn } from "node:timers/promises";
import type { AuditEntry, AuditLog } from "../../data.js";
import type { AuditLine } from "../types.js";
import { undoingOf } from "../undo/undoing.js";
import type { UndoneEntries } from "../undo/undone-entries.js";

export interface AuditSearch {
  /** Only entries older than this one. */
  readonly before?: number | undefined;
  readonly who?: string | undefined;
  /** How it begins. */
  readonly what?: string | undefined;
  readonly target?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

const aPage = 1000;

/** Entries that match, newest first, page by page; none is longer than `most`. */
export async function* searchAudit(
  { audit, undone }: { readonly audit: Pick<AuditLog, "list">; readonly undone: UndoneEntries },
  search: AuditSearch,
  most: number = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<readonly AuditLine[]> {
  const { since = Number.NEGATIVE_INFINITY } = search;
  const count = isNarrow(search) ? aPage : Math.min(most, aPage);
  let left = most;
  for (let before = search.before; left > 0; await nextTurn()) {
    const page = await audit.list({ most: count, ...(before !== undefined && { before }) });
    const found = page.filter((entry) => matches(entry, search)).slice(0, left);
    left -= found.length;
    if (found.length > 0) yield withUndo(found, await undone.from((found.at(-1) as AuditEntry).id));
    before = page.at(-1)?.id;
    // Clocks of several writers differ a little: only a whole page of older ones ends the search.
    if (before === undefined || page.length < count || page.every(({ at }) => at < since)) return;
  }
}

function isNarrow({ before: _, ...terms }: AuditSearch): boolean {
  return Object.values(terms).some((term) => term !== undefined);
}

function matches(entry: AuditEntry, search: AuditSearch): boolean {
  const { who, what = "", target, since = entry.at, until = entry.at } = search;
  return (
    entry.what.startsWith(what) &&
    (who === undefined || entry.who === who) &&
    (target === undefined || entry.target === target) &&
    entry.at >= since &&
    entry.at <= until
  );
}

function withUndo(entries: readonly AuditEntry[], undone: ReadonlyMap<number, number>): AuditLine[] {
  return entries.map((entry) => {
    const undoneBy = undone.get(entry.id);
    const undoable = undoneBy === undefined && undoingOf(entry) !== undefined;
    return { ...entry, undoable, ...(undoneBy !== undefined && { undoneBy }) };
  });
}

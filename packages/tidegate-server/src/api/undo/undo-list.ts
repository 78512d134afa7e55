import type { ListEntry, ListName } from "tidegate";
import type { AuditEntry } from "../../data.js";
import { putEntry, removeEntry } from "../acts/list-acts.js";
import { isSameEntry } from "../conflict/tags.js";
import { guardList } from "../list-guard.js";
import type { Undoing } from "./undoing.js";

/** Brings the entry back as it was, for the time it had left; or takes it off, where there was none or its time is over. */
export function undoList({ what, before, after }: AuditEntry): Undoing | undefined {
  const list = what.split(".")[0] as ListName;
  const left = isEntry(after) ? after : undefined;
  const earlier = isEntry(before) && !hasEnded(before) ? before : undefined;
  const address = (left ?? earlier)?.address;
  if (address === undefined) return undefined;
  return {
    role: "operator",
    isLeft: (now) => isSame(now, left),
    isBack: (now) => isSame(now, earlier),
    async undo(parts, act, { peer, force }) {
      if (earlier === undefined) return (await removeEntry(parts, { list, address }, act)).noted;
      if (!force) guardList(list, address, { peer, isProxy: parts.isProxy });
      return (await putEntry(parts, { list, ...wantedOf(earlier) }, act)).noted;
    },
  };
}

function wantedOf({ address, who, why, until }: ListEntry) {
  return {
    address,
    ...(who !== undefined && { who }),
    ...(why !== undefined && { why }),
    for: until === undefined ? ("permanent" as const) : Math.max(1, Math.round(until - Date.now())),
  };
}

function isSame(now: unknown, entry: ListEntry | undefined): boolean {
  if (entry === undefined || !isEntry(now)) return entry === undefined && !isEntry(now);
  return isSameEntry(now, entry);
}

function hasEnded({ until }: ListEntry): boolean {
  return until !== undefined && until <= Date.now();
}

function isEntry(value: unknown): value is ListEntry {
  return typeof value === "object" && value !== null && "address" in value;
}

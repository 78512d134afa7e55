import { type Duration, type ListEntry, type ListName, parseDuration } from "tidegate";
import { canonicalBlock } from "tidegate/http";
import type { AuditEntry } from "../../data.js";
import { notFound } from "../api-problem.js";
import { entryTag } from "../conflict/tags.js";
import type { Standing } from "../conflict/unchanged.js";
import type { AdminParts } from "../handler.js";
import { note } from "../note.js";
import { type Act, saidBy } from "./act.js";

/** An entry as it is to be. */
export interface WantedEntry {
  readonly list: ListName;
  readonly address: string;
  readonly who?: string;
  readonly why?: string;
  /** Default a week. */
  readonly for?: Duration | "permanent";
}

const aWeek: Duration = "1w";

/** The entry of this very address or block, as it stands on the list. */
export async function entryAt(
  { gate }: Pick<AdminParts, "gate">,
  list: ListName,
  address: string,
): Promise<ListEntry | undefined> {
  const canonical = canonicalBlock(address) ?? address;
  const entries = await gate[list].entries();
  // Someone else may have written it otherwise.
  return (
    entries.find((entry) => entry.address === canonical) ?? entries.find((entry) => entry.address === address)
  );
}

/** Adds or replaces. One that is there just so stays, and nothing is noted. */
export function putEntry(
  parts: AdminParts,
  { list, address, who, why, for: duration }: WantedEntry,
  act: Act,
): Promise<{ readonly entry: ListEntry; readonly before?: ListEntry; readonly noted?: AuditEntry }> {
  return parts.turn(thingOf(list, address), async () => {
    const before = await entryAt(parts, list, address);
    act.check(standingOf(before));
    const wanted = { who, why, for: duration ?? aWeek };
    if (before !== undefined && isAsWanted(before, wanted)) return { entry: before };
    const entry = await parts.gate[list].add(address, {
      ...(who !== undefined && { who }),
      ...(why !== undefined && { why }),
      for: wanted.for,
    });
    const replaced = before === undefined ? {} : { before };
    const noted = await note(parts, {
      what: `${list}.add`,
      target: entry.address,
      ...saidBy(act),
      ...replaced,
      after: entry,
    });
    return { entry, ...replaced, noted };
  });
}

export function removeEntry(
  parts: AdminParts,
  { list, address }: Pick<WantedEntry, "list" | "address">,
  act: Act,
): Promise<{ readonly removed: string; readonly before?: ListEntry; readonly noted: AuditEntry }> {
  return parts.turn(thingOf(list, address), async () => {
    const before = await entryAt(parts, list, address);
    act.check(standingOf(before));
    const wasThere = await parts.gate[list].remove(address);
    if (!wasThere) throw absent(list, address, parts.gate.policy[list] ?? []);
    const removed = before?.address ?? canonicalBlock(address) ?? address;
    const gone = before === undefined ? {} : { before };
    const noted = await note(parts, { what: `${list}.remove`, target: removed, ...saidBy(act), ...gone });
    return { removed, ...gone, noted };
  });
}

function thingOf(list: ListName, address: string): string {
  return `${list} ${canonicalBlock(address) ?? address}`;
}

function standingOf(entry: ListEntry | undefined): Standing {
  return { tag: entry && entryTag(entry), now: entry ?? null };
}

/** An end that would move by less than a second, of short ones by less than a tenth, is the same. */
function isAsWanted(
  { who, why, until }: ListEntry,
  wanted: { who: string | undefined; why: string | undefined; for: Duration | "permanent" },
): boolean {
  if (who !== wanted.who || why !== wanted.why) return false;
  if (wanted.for === "permanent") return until === undefined;
  const lastsMs = parseDuration(wanted.for, "for");
  return until !== undefined && Math.abs(until - Date.now() - lastsMs) <= Math.min(1000, lastsMs / 10);
}

function absent(list: ListName, address: string, fromPolicy: readonly string[]) {
  return fromPolicy.includes(address)
    ? notFound(`The ${list} has this entry from the policy.`, "Take it out of the policy.")
    : notFound(
        `The ${list} has no such entry.`,
        `GET /v1/lists/${list} lists them; a block is named as a whole.`,
      );
}

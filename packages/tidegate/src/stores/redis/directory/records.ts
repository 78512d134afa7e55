import type { CustomerRecord, ListEntry } from "../../../directory.js";

/** Ten years in seconds: no window is longer. */
const longestWindow = 315_360_000;
/** What stands in a foreign key is shown up to here. */
const longestNote = 500;

/** Who and why, as they stand in an entry's key. */
export function entryText({ who, why }: ListEntry): string {
  return JSON.stringify({ who, why });
}

/** An entry as read. Whatever its key holds makes an entry; text that is not ours is shown as its reason. */
export function entryOf(address: string, text: string, until: number | undefined): ListEntry {
  const { who, why } = noteOf(text);
  return {
    address,
    ...(typeof who === "string" && { who }),
    ...(typeof why === "string" && { why }),
    ...(until !== undefined && { until }),
  };
}

function noteOf(text: string): { who?: unknown; why?: unknown } {
  if (text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Not ours, and an entry all the same.
  }
  return { why: text.slice(0, longestNote) };
}

/** A customer as read, and the fields of the hash that say nothing. */
export interface CustomerRead {
  readonly record: CustomerRecord | undefined;
  readonly malformed: readonly string[];
}

export function customerOf(
  tier: string | undefined,
  fields: ReadonlyMap<string, string>,
  until?: number,
): CustomerRead {
  const limits = new Map<number, number>();
  const malformed: string[] = [];
  for (const [field, value] of fields) {
    const window = wholeNumber(field);
    const limit = wholeNumber(value);
    if (window >= 1 && window <= longestWindow && limit >= 0) limits.set(window, limit);
    else malformed.push(field);
  }
  const record = {
    ...(tier && { tier }),
    ...(limits.size > 0 && { limits }),
    ...(until !== undefined && { until }),
  };
  return { record: tier || limits.size > 0 ? record : undefined, malformed };
}

function wholeNumber(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}

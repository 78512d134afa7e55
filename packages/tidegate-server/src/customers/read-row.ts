import { ownLimits } from "./own-limits.js";

/** One customer as a source has it. */
export interface SourceCustomer {
  readonly id: string;
  readonly tier?: string;
  /** Undefined when the source says nothing of limits: then those on record here stay. An empty map is none. */
  readonly limits?: ReadonlyMap<number, number>;
}

const longestId = 1024;
const longestLimitsText = 4096;
const tierName = /^[\x21-\x7e]{1,64}$/;

/** A row out of somebody else's database: a customer, or in words why it is none. */
export function readRow(row: unknown): SourceCustomer | string {
  if (typeof row !== "object" || row === null) return "a row is no object";
  const { id: givenId, tier, limits: givenLimits } = row as Record<string, unknown>;
  const id = idOf(givenId);
  if (id === undefined) return `an id is 1 to ${longestId} characters, or a whole number`;
  const isTier = typeof tier === "string" && tierName.test(tier);
  if (!isTier && tier !== null && tier !== undefined && tier !== "")
    return "a tier is 1 to 64 printable characters";
  const limits = limitsOf(givenLimits);
  if (typeof limits === "string") return limits;
  return { id, ...(isTier && { tier }), ...(limits !== undefined && { limits }) };
}

/** Ids are texts or whole numbers; undefined: it is none. */
export function idOf(value: unknown): string | undefined {
  if (typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value)))
    return String(value);
  return typeof value === "string" && value !== "" && value.length <= longestId && !/\p{Cs}/u.test(value)
    ? value
    : undefined;
}

function limitsOf(value: unknown): ReadonlyMap<number, number> | string | undefined {
  if (value === undefined) return undefined;
  if (value === null || value === "") return new Map();
  if (typeof value !== "string") return ownLimits(value);
  if (value.length > longestLimitsText) return "limits are too long a text";
  try {
    const parsed: unknown = JSON.parse(value);
    return parsed === null ? new Map() : ownLimits(parsed);
  } catch {
    return "limits are not JSON";
  }
}

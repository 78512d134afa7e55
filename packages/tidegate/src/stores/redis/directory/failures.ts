import { StoreError, shown } from "../../../errors.js";
import { isReplyError } from "./replies.js";

/** Codes with which a server says no for good, as opposed to *not now*. */
export function isRefusal(error: unknown): boolean {
  return isReplyError(error, "NOPERM", "ERR");
}

/** Why changes are not pushed: Redis will not, or can not be reached. */
export function notTracking(error: unknown): StoreError {
  if (!isRefusal(error)) return unreachable(error);
  return new StoreError(
    "TG_DIRECTORY_POLLING",
    "redis",
    `this Redis does not push changes of lists and customers (${messageOf(error)}); they are looked for instead.`,
    "Changes hold within 30 s. For 1 s use Redis 6 or later without a proxy, and allow the user +client|id, +client|tracking, +subscribe and &__redis__:invalidate.",
    { transient: true, cause: error },
  );
}

export function unreachable(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError(
    "TG_STORE_UNREACHABLE",
    "redis",
    messageOf(error),
    "Lists and customers stay as they were last known. See that Redis is up and reachable.",
    { transient: true, cause: error },
  );
}

export function malformedLimits(customer: string, fields: readonly string[]): StoreError {
  return new StoreError(
    "TG_DIRECTORY_RECORD",
    "redis",
    `the limits of customer ${shown(customer)} have fields that say nothing: ${fields.slice(0, 5).map(shown).join(", ")}.`,
    "A field is a window in whole seconds, its value a whole number of calls. The other fields hold.",
    { transient: false },
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

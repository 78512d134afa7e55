import type { CustomerRecord } from "tidegate";
import { notFound } from "./api-problem.js";
import type { CustomerAnswer } from "./types.js";

export function customerAnswer(
  id: string,
  record: CustomerRecord | undefined,
  state?: "done" | "pending",
): CustomerAnswer {
  const limits = record?.limits;
  return {
    id,
    tier: record?.tier ?? null,
    limits: limits === undefined || limits.size === 0 ? null : Object.fromEntries(limits),
    ...(state !== undefined && { state }),
  };
}

const longestId = 1024;

/** Ids are the app's own: any text that is not empty. */
export function customerId(id: string): string {
  if (id !== "" && id.length <= longestId) return id;
  throw notFound("There is no such customer.", `An id has 1 to ${longestId} characters.`);
}

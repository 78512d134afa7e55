import type { AnsweredDecision } from "./types.js";

/** A decision from what the service sent; undefined when it is none. */
export function decisionFrom(sent: unknown): AnsweredDecision | undefined {
  if (!isFields(sent)) return undefined;
  const { id, allowed, reason, verdict, verdicts, headers } = sent;
  if (typeof id !== "string" || typeof allowed !== "boolean" || typeof reason !== "string") return undefined;
  if (!Array.isArray(verdicts) || !verdicts.every(isFields) || !isFields(headers)) return undefined;
  if (verdict !== undefined && !isFields(verdict)) return undefined;
  return sent as unknown as AnsweredDecision;
}

type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

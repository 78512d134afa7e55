import { createHash } from "node:crypto";
import type { CustomerRecord, ListEntry } from "tidegate";
import type { EdgeStatus } from "../../control-desk.js";

/** Redis tells an entry's end by the time it has left, so it moves a little from one look to the next. */
const endMovesMs = 5_000;

/** Of a list entry: who, why, and until when. */
export function entryTag({ address, who, why, until }: ListEntry): string {
  return `"${digestOf([address, who ?? null, why ?? null])}.${until === undefined ? "" : Math.round(until)}"`;
}

export function customerTag({ tier, limits }: CustomerRecord): string {
  const own = [...(limits ?? [])].sort(([one], [other]) => one - other);
  return `"${digestOf([tier ?? null, own])}"`;
}

export function policyTag(version: number): string {
  return `"policy-${version}"`;
}

/** Of an edge only what people set. */
export function modeTag({ mode, setBy }: Pick<EdgeStatus, "mode" | "setBy">): string {
  return `"${digestOf([mode, setBy?.who ?? null, setBy?.why ?? null, setBy?.at ?? null])}"`;
}

/** Whether both are of the same thing in the same state. */
export function isSameTag(one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [endOf(one), endOf(other)];
  return a !== undefined && b !== undefined && a.of === b.of && Math.abs(a.until - b.until) <= endMovesMs;
}

function endOf(tag: string): { readonly of: string; readonly until: number } | undefined {
  const [, of, until] = /^"([0-9a-f]+)\.(\d{1,16})"$/.exec(tag) ?? [];
  return of === undefined ? undefined : { of, until: Number(until) };
}

/** Whether two entries say the same, ends that moved a little included. */
export function isSameEntry(one: ListEntry, other: ListEntry): boolean {
  return isSameTag(entryTag(one), entryTag(other));
}

function digestOf(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 20);
}

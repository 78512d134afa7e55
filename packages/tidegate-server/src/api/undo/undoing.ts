import type { AuditEntry, Role } from "../../data.js";
import type { Act } from "../acts/act.js";
import type { AdminParts } from "../handler.js";
import { undoCustomer } from "./undo-customer.js";
import { undoEdgeMode } from "./undo-edge-mode.js";
import { undoList } from "./undo-list.js";
import { undoPolicy } from "./undo-policy.js";

/** How one change is taken back. */
export interface Undoing {
  /** As the change itself asks for. */
  readonly role: Role;
  /** Of how the thing is now (`now` of a `Standing`): whether the change left it so. */
  isLeft(now: unknown): boolean;
  /** Whether it is already as it was before. */
  isBack(now: unknown): boolean;
  /** Does it, as an act like any other. Answers its audit entry, where it is known. */
  undo(parts: AdminParts, act: Act, by: UndoneBy): Promise<AuditEntry | undefined>;
}

export interface UndoneBy {
  /** The address they call from. */
  readonly peer: string | undefined;
  /** Slips are meant. */
  readonly force: boolean;
}

/** Undefined: such a change can not be taken back, or its entry does not say how it was before. */
export function undoingOf(entry: AuditEntry): Undoing | undefined {
  const { what } = entry;
  if (/^(?:safelist|blocklist)\.(?:add|remove)$/.test(what)) return undoList(entry);
  if (what === "customer.tier" || what === "customer.limits") return undoCustomer(entry);
  if (what === "edge.mode") return undoEdgeMode(entry);
  if (what.startsWith("policy.")) return undoPolicy(entry);
  return undefined;
}

import type { AuditEntry } from "../../data.js";
import type { Standing } from "../conflict/unchanged.js";

/** Who changes something, why, and on what condition. */
export interface Act {
  readonly who: string;
  readonly why?: string;
  /** The audit entry this takes back. */
  readonly undoes?: number;
  /** Told how the thing is, right before it is changed. Throws to leave it so. */
  readonly check: (standing: Standing) => void;
}

/** What an act's audit entry says of the act itself. */
export function saidBy({ who, why, undoes }: Act): Pick<AuditEntry, "who" | "why" | "undoes"> {
  return { who, ...(why !== undefined && { why }), ...(undoes !== undefined && { undoes }) };
}

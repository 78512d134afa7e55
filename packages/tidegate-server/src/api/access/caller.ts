import { type Role, roles } from "../../data.js";

/** Who asks, as far as a token or a session tells. */
export interface Caller {
  readonly role: Role;
  /** The token's, where it has one. */
  readonly name?: string;
  /** Of the token asked with, or logged in with. */
  readonly tokenId?: string;
  /** Of a browser that logged in. */
  readonly session?: { readonly until: number; readonly csrf: string };
}

/** Stands for the token where a session was begun with none that could be revoked. */
export const noToken = "one-time";

/** Who came without anything, to what is open. */
export const anybody: Caller = { role: "viewer" };

export function mayAct({ role }: Caller, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

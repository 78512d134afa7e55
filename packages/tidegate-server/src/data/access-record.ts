import { randomBytes } from "node:crypto";
import { type NamedToken, roles, type Session } from "../data.js";

export type NewToken = Pick<NamedToken, "name" | "role" | "createdBy" | "until">;

/** As it is kept: when it was last used stands apart. */
export type KeptToken = Omit<NamedToken, "lastUsedAt">;

/** Its id was nobody's before, whatever was lost meanwhile. */
export function keptToken({ name, role, createdBy, until }: NewToken, createdAt: number): KeptToken {
  const id = randomBytes(6).toString("hex");
  return { id, name, role, createdBy, createdAt, ...(until !== undefined && { until }) };
}

export function namedToken(kept: KeptToken, used: unknown): NamedToken {
  const at = used === null || used === undefined ? Number.NaN : Number(used);
  return Number.isFinite(at) ? { ...kept, lastUsedAt: at } : kept;
}

export function byAge(a: NamedToken, b: NamedToken): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}

/** What anyone may have written is a token only if all of it is right. */
export function readToken(text: unknown): KeptToken | undefined {
  const token = parsed(text) as Partial<KeptToken> | undefined;
  const isOurs =
    token !== undefined &&
    [token.id, token.name, token.createdBy].every((each) => typeof each === "string") &&
    roles.includes(token.role as NamedToken["role"]) &&
    Number.isFinite(token.createdAt) &&
    (token.until === undefined || Number.isFinite(token.until));
  return isOurs ? (token as KeptToken) : undefined;
}

export function readSession(text: unknown): Session | undefined {
  const session = parsed(text) as Partial<Session> | undefined;
  const isOurs =
    session !== undefined &&
    typeof session.tokenId === "string" &&
    (session.name === undefined || typeof session.name === "string") &&
    roles.includes(session.role as Session["role"]) &&
    Number.isFinite(session.until);
  return isOurs ? (session as Session) : undefined;
}

function parsed(text: unknown): object | undefined {
  try {
    const value: unknown = JSON.parse(String(text));
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

import type { Secret } from "../secret.js";

/** Whether an `Authorization` header brings the token, as `Bearer <token>`. */
export function bearer(authorization: string | undefined, token: Secret): boolean {
  const given = /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
  return given !== undefined && token.equals(given);
}

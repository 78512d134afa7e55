import type { Secret } from "../secret.js";

/** Whether an `Authorization` header brings the token, as `Bearer <token>`. */
export function bearer(authorization: string | undefined, token: Secret): boolean {
  const given = bearerToken(authorization);
  return given !== undefined && token.equals(given);
}

/** The token an `Authorization` header brings, if it is of that kind. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
}

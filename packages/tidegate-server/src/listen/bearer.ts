/** The token an `Authorization` header brings, as `Bearer <token>`, if it is of that kind. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
}

const scheme = "basic ";
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The user name of basic auth: claimed, not proven. Read as loosely as servers read it (URL-safe letters, stray
 * characters skipped), since a stricter reading here would let a guess pass uncounted that the app still accepts.
 */
export function basicUser(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.slice(0, scheme.length).toLowerCase() !== scheme)
    return undefined;
  const bytes = decoded(authorization.slice(scheme.length));
  const colon = bytes.indexOf(":");
  return colon > 0 ? asText(bytes.slice(0, colon)) : undefined;
}

/** Up to the first `=`, one character a byte. */
function decoded(base64: string): string {
  const end = base64.indexOf("=");
  const letters = (end < 0 ? base64 : base64.slice(0, end))
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .replace(/[^A-Za-z0-9+/]/g, "");
  return atob(letters.length % 4 === 1 ? letters.slice(0, -1) : letters);
}

/** Names that are not UTF-8 stay as their bytes, so that no two of them become one. */
function asText(bytes: string): string {
  try {
    return strictUtf8.decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
  } catch {
    return bytes;
  }
}

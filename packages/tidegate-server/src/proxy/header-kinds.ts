/** What a request header is to a proxy. */
export type HeaderKind =
  | "plain"
  | "hop"
  | "connection"
  | "host"
  | "content-length"
  | "transfer-encoding"
  | "via"
  | "x-forwarded-for"
  | "x-forwarded-host"
  | "x-forwarded-proto"
  | "forwarded"
  | "identity"
  | "proxy-only";

/**
 * Headers for the next hop only. `expect` is among them because the proxy itself asks for the body, and `upgrade` because
 * a tunnel writes its own.
 */
const hops = ["keep-alive", "te", "trailer", "upgrade", "expect", "http2-settings"];

const known = new Map<string, HeaderKind>([
  ...hops.map((name) => [name, "hop"] as const),
  ...(
    [
      "connection",
      "host",
      "content-length",
      "transfer-encoding",
      "via",
      "x-forwarded-for",
      "x-forwarded-host",
      "x-forwarded-proto",
      "forwarded",
    ] as const
  ).map((name) => [name, name] as const),
]);

/** Names are remembered as they are spelt, lest each be turned into lower case on every request. */
const mostRemembered = 512;

export interface KindOptions {
  readonly clientIpHeader: string;
  /** Headers in which trusted proxies say who is logged in. */
  readonly identity: readonly string[];
}

/** Answers the function that tells what a request header is. */
export function headerKinds({ clientIpHeader, identity }: KindOptions): (name: string) => HeaderKind {
  const remembered = new Map<string, HeaderKind>();
  const identities = new Set(identity.map((name) => name.toLowerCase()));
  const proxyOnly = new Set(["x-real-ip", clientIpHeader.toLowerCase()]);

  function findOut(name: string): HeaderKind {
    const lower = name.toLowerCase();
    const usual = known.get(lower);
    if (usual !== undefined) return usual;
    if (lower.startsWith("proxy-")) return "hop";
    if (identities.has(lower)) return "identity";
    // Many apps read `X_Customer_Id` and `X-Customer-Id` under one name.
    const read = lower.replaceAll("_", "-");
    const isBelieved = identities.has(read) || proxyOnly.has(read) || known.has(read);
    return isBelieved || read.startsWith("x-forwarded-") ? "proxy-only" : "plain";
  }

  return (name) => {
    let kind = remembered.get(name);
    if (kind === undefined) {
      kind = findOut(name);
      if (remembered.size < mostRemembered) remembered.set(name, kind);
    }
    return kind;
  };
}

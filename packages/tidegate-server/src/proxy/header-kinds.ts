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
  /** The one in which trusted proxies tell the client's address, if it is neither of these. */
  | "client-ip"
  | "identity"
  /** Of use only from a trusted proxy. */
  | "proxy-only"
  /** Another spelling of one of these, which many apps read as the same (`X_Customer_Id`). Nobody means well with it. */
  | "look-alike";

/**
 * Headers for the next hop only. `expect` is among them because the proxy itself asks for the body, and `upgrade` because
 * a tunnel writes its own.
 */
const hops = ["keep-alive", "te", "trailer", "upgrade", "expect", "http2-settings"];

/** Written by the proxy itself, of whichever it believes. */
const chains = ["x-forwarded-for", "forwarded"] as const;

const known = new Map<string, HeaderKind>([
  ...hops.map((name) => [name, "hop"] as const),
  ...(
    [
      "connection",
      "host",
      "content-length",
      "transfer-encoding",
      "via",
      "x-forwarded-host",
      "x-forwarded-proto",
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
  const clientIp = clientIpHeader.toLowerCase();
  const believed = new Set([...identities, "x-real-ip", clientIp, ...chains, ...known.keys()].map(asRead));

  function findOut(name: string): HeaderKind {
    const lower = name.toLowerCase();
    const usual = known.get(lower);
    if (usual !== undefined) return usual;
    if (lower.startsWith("proxy-")) return "hop";
    if (identities.has(lower)) return "identity";
    const chain = chains.find((each) => each === lower);
    if (chain !== undefined) return chain === clientIp ? chain : "hop";
    if (lower === clientIp) return "client-ip";
    if (lower === "x-real-ip" || lower.startsWith("x-forwarded-")) return "proxy-only";
    const read = asRead(lower);
    return believed.has(read) || read.startsWith("x-forwarded-") ? "look-alike" : "plain";
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

function asRead(lower: string): string {
  return lower.replaceAll("_", "-");
}

import { withoutNamed } from "./hop-by-hop.js";
import type { ProxyResponse } from "./proxy-response.js";

type Kind = "plain" | "hop" | "connection" | "content-length" | "rate-limit";

const hops = new Set(["keep-alive", "te", "trailer", "transfer-encoding", "upgrade"]);
const rateLimit = /^(?:x-)?ratelimit(?:-|$)/;
/** Lists, to which the upstream's own members can be added: then the client sees the limits of both. */
const lists = /^ratelimit(?:-policy)?$/i;
const mostRemembered = 512;
const remembered = new Map<string, Kind>();

/** What the client gets of an upstream's head. */
export interface ResponseHead {
  /** Name, value, name, value. */
  readonly headers: string[];
  /** -1: not said. */
  readonly contentLength: number;
}

export interface ResponseHeadOptions {
  readonly status: number;
  /** Name, value, name, value, as it came. */
  readonly raw: readonly string[];
  readonly res: ProxyResponse;
  /** The gate's limit headers are lists, as in draft 11. */
  readonly isListed: boolean;
  /** Told of an upstream's limit header that gives way to the gate's. */
  readonly onGivenWay: (name: string) => void;
}

export function responseHead({ status, raw, res, isListed, onGivenWay }: ResponseHeadOptions): ResponseHead {
  const headers: string[] = [];
  let contentLength = -1;
  const length: string[] = [];
  let connection = "";
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    const kind = kindOf(name);
    if (kind === "hop") continue;
    const value = raw[i + 1] as string;
    if (kind === "connection") {
      connection = connection === "" ? value : `${connection}, ${value}`;
      continue;
    }
    if (kind === "content-length") {
      if (status === 204) continue;
      contentLength = Number(value);
      length.push(name, value);
      continue;
    }
    if (kind === "rate-limit") {
      const own = res.getHeader(name);
      if (own !== undefined) {
        if (isListed && lists.test(name)) res.setHeader(name, `${own}, ${value}`);
        else onGivenWay(name);
        continue;
      }
    }
    headers.push(name, value);
  }
  // Node takes a file's name that comes behind the length for another encoding, and may break on it.
  headers.push(...length);
  return { headers: connection === "" ? headers : withoutNamed(headers, connection), contentLength };
}

function kindOf(name: string): Kind {
  let kind = remembered.get(name);
  if (kind === undefined) {
    kind = findOut(name.toLowerCase());
    if (remembered.size < mostRemembered) remembered.set(name, kind);
  }
  return kind;
}

function findOut(name: string): Kind {
  if (name === "connection" || name === "content-length") return name;
  if (hops.has(name) || name.startsWith("proxy-")) return "hop";
  return rateLimit.test(name) ? "rate-limit" : "plain";
}

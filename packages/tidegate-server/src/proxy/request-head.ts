import type { IncomingMessage } from "node:http";
import type { HeaderKind } from "./header-kinds.js";
import type { Peer } from "./peers.js";

/** A request's head on its way to the upstream: read off in one walk, then changed by the passes. */
export class RequestHead {
  readonly method: string;
  readonly target: string;
  readonly isHttp1: boolean;
  readonly isHttp10: boolean;
  readonly peer: Peer;
  readonly lineCount: number;
  /** Name, value, name, value, as the upstream will get them behind Host. */
  headers: string[] = [];
  path = "";
  host = "";
  hostCount = 0;
  connection = "";
  /** -1: not said. */
  contentLength = -1;
  lengthCount = 0;
  encoding = "";
  encodingCount = 0;
  via = "";
  isIdentityTwice = false;
  /** What a trusted proxy says of the client, in the one header it is believed in. */
  forwarded = "";
  clientIp = "";
  forwardedFor = "";
  forwardedHost = "";
  forwardedProto = "";

  constructor(req: IncomingMessage, peer: Peer) {
    this.method = req.method as string;
    this.target = req.url as string;
    this.isHttp1 = req.httpVersionMajor === 1;
    this.isHttp10 = req.httpVersionMinor === 0;
    this.peer = peer;
    this.lineCount = req.rawHeaders.length / 2;
  }

  get hasBody(): boolean {
    return this.contentLength > 0 || this.encodingCount > 0;
  }
}

/** Sorts a request's headers into those that go on and those that are the proxy's own business. */
export function readHead(
  req: IncomingMessage,
  peer: Peer,
  kindOf: (name: string) => HeaderKind,
): RequestHead {
  const head = new RequestHead(req, peer);
  const { rawHeaders } = req;
  let identities: Set<string> | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const value = rawHeaders[i + 1] as string;
    switch (kindOf(name)) {
      case "plain":
        head.headers.push(name, value);
        break;
      case "host":
        head.host = value;
        head.hostCount++;
        break;
      case "connection":
        head.connection = joined(head.connection, value);
        break;
      case "content-length":
        head.contentLength = Number(value);
        head.lengthCount++;
        break;
      case "transfer-encoding":
        head.encoding = value;
        head.encodingCount++;
        break;
      case "via":
        head.via = joined(head.via, value);
        break;
      case "x-forwarded-for":
        if (peer.isTrusted) head.forwardedFor = joined(head.forwardedFor, value);
        break;
      case "forwarded":
        if (peer.isTrusted) head.forwarded = joined(head.forwarded, value);
        break;
      case "client-ip":
        if (!peer.isTrusted) break;
        head.clientIp = joined(head.clientIp, value);
        head.headers.push(name, value);
        break;
      case "x-forwarded-host":
        if (peer.isTrusted) head.forwardedHost = value;
        break;
      case "x-forwarded-proto":
        if (peer.isTrusted) head.forwardedProto = value;
        break;
      case "identity": {
        if (!peer.isTrusted) break;
        const lower = name.toLowerCase();
        identities ??= new Set();
        if (identities.has(lower)) head.isIdentityTwice = true;
        identities.add(lower);
        head.headers.push(name, value);
        break;
      }
      case "proxy-only":
        if (peer.isTrusted) head.headers.push(name, value);
        break;
      case "hop":
      case "look-alike":
        break;
    }
  }
  return head;
}

function joined(before: string, value: string): string {
  return before === "" ? value : `${before}, ${value}`;
}

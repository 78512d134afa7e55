import type { IncomingMessage } from "node:http";
import type { ClientResolver } from "tidegate/http";
import { networkOf, type Peer } from "./peers.js";

/** Answers the function that names a request's client where shares are counted: by address, IPv6 by /64. */
export function clientKey(clientOf: ClientResolver): (req: IncomingMessage, peer: Peer) => string {
  return (req, peer) => {
    if (!peer.isTrusted) return peer.network;
    return networkOf(clientOf(peer.address, (name) => textOf(req.headers[name.toLowerCase()])));
  };
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}

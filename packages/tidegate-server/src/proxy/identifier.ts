import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Settings } from "../settings.js";
import type { Peer } from "./peers.js";

interface Known {
  readonly user?: string | undefined;
  readonly customer?: string | undefined;
}

/** Answers the function that says who is logged in: trusted proxies tell it in headers, of anybody else nothing is believed. */
export function identifier(
  { user, customer }: Settings["identify"],
  peerOf: (socket: Socket) => Peer,
): (req: IncomingMessage) => Known | undefined {
  return (req) => {
    if (!peerOf(req.socket).isTrusted) return undefined;
    return { user: said(req, user), customer: said(req, customer) };
  };
}

/** Said twice is not said; such a request is refused later on. */
function said({ headersDistinct }: IncomingMessage, name: string | undefined): string | undefined {
  const values = name === undefined ? undefined : headersDistinct[name.toLowerCase()];
  return values?.length === 1 && values[0] !== "" ? values[0] : undefined;
}

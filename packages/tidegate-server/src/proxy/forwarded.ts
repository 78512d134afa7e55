import { isIP } from "node:net";
import { nodeOf } from "./peers.js";
import type { RequestHead } from "./request-head.js";

const schemes = /^https?$/i;

/**
 * Tells the upstream who asked and how: what trusted proxies said goes on, with the peer behind it; what others said was
 * never read. The proxy's own listener speaks plain HTTP.
 */
export function tellForwarded(head: RequestHead): undefined {
  const { peer, host, headers } = head;
  const proto = schemes.test(head.forwardedProto) ? head.forwardedProto.toLowerCase() : "http";
  const chain = head.forwardedFor;
  headers.push("x-forwarded-for", chain === "" ? peer.address : `${chain}, ${peer.address}`);
  headers.push("x-forwarded-proto", proto);
  const named = head.forwardedHost === "" ? host : head.forwardedHost;
  if (named !== "") headers.push("x-forwarded-host", named);
  // A host was found to be in order by now: it can not break out of the quotes.
  const element = `for=${peer.node}${host === "" ? "" : `;host="${host}"`};proto=http`;
  const before = head.forwarded === "" ? toldOtherwise(chain, proto, named) : head.forwarded;
  headers.push("forwarded", before === "" ? element : `${before}, ${element}`);
}

/** What trusted proxies said by X-Forwarded-* alone, as RFC 7239 has it: an app that reads the one must not be told otherwise than one that reads the other. */
function toldOtherwise(chain: string, proto: string, host: string): string {
  if (chain === "") return "";
  const nodes = chain.split(",").map((hop) => `for=${hopNode(hop.trim())}`);
  nodes[0] += `${hostForm.test(host) ? `;host="${host}"` : ""};proto=${proto}`;
  return nodes.join(", ");
}

const hostForm = /^[\w.:[\]-]{1,261}$/;

/** With a port or without. What is no address is nobody's. */
function hopNode(hop: string): string {
  const address = hop.replace(/^\[(.*)\](?::\d+)?$/, "$1").replace(/^([\d.]+):\d+$/, "$1");
  return isIP(address) === 0 ? "unknown" : nodeOf(address);
}

import { isIP } from "node:net";
import type { ClientResolver } from "tidegate/http";
import { nodeOf } from "./peers.js";
import type { RequestHead } from "./request-head.js";

/** WebSockets are asked for by HTTP. */
const schemes = new Map([
  ["http", "http"],
  ["https", "https"],
  ["ws", "http"],
  ["wss", "https"],
]);

/**
 * Answers the pass that tells the upstream who asked and how: what trusted proxies said goes on, with the peer behind it;
 * what others said was never read, nor what is said otherwise than in the one header that is believed. The proxy's own
 * listener speaks plain HTTP.
 */
export function tellForwarded(clientOf: ClientResolver): (head: RequestHead) => undefined {
  return (head) => {
    const { peer, host, headers, forwarded } = head;
    const proto = schemeOf(head.forwardedProto) ?? schemeIn(forwarded) ?? "http";
    const chain = head.forwardedFor === "" ? believed(head, clientOf) : head.forwardedFor;
    headers.push("x-forwarded-for", chain === "" ? peer.address : `${chain}, ${peer.address}`);
    headers.push("x-forwarded-proto", proto);
    const named = head.forwardedHost === "" ? host : head.forwardedHost;
    if (named !== "") headers.push("x-forwarded-host", named);
    // A host was found to be in order by now: it can not break out of the quotes.
    const element = `for=${peer.node}${host === "" ? "" : `;host="${host}"`};proto=http`;
    const before = forwarded === "" ? toldOtherwise(chain, proto, named) : forwarded;
    headers.push("forwarded", before === "" ? element : `${before}, ${element}`);
  };
}

/** Who the client is, where trusted proxies tell it in another header than X-Forwarded-For. */
function believed({ peer, forwarded, clientIp }: RequestHead, clientOf: ClientResolver): string {
  const told = forwarded === "" ? clientIp : forwarded;
  if (told === "") return "";
  const client = clientOf(peer.address, () => told);
  return client === peer.address ? "" : client;
}

/** Of several the first: the client's own. */
function schemeOf(text: string): string | undefined {
  return text === "" ? undefined : schemes.get((text.split(",", 1)[0] as string).trim().toLowerCase());
}

function schemeIn(forwarded: string): string | undefined {
  if (forwarded === "") return undefined;
  const [, scheme = ""] = /(?:^|[;,])\s*proto=(\w+)/i.exec(forwarded.replaceAll(quoted, '""')) ?? [];
  return schemeOf(scheme);
}

const quoted = /"(?:[^"\\]|\\.)*"/g;

/** What trusted proxies said otherwise than by Forwarded, as RFC 7239 has it: an app that reads the one must not be told otherwise than one that reads the other. */
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

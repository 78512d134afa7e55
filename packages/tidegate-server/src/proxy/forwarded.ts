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
  headers.push("forwarded", head.forwarded === "" ? element : `${head.forwarded}, ${element}`);
}

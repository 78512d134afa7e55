import { isIPv6 } from "node:net";

/** A listener's host as a URL from this machine names it: one on all addresses is named by loopback. */
export function urlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return isIPv6(host) ? `[${host.replace("%", "%25")}]` : host;
}

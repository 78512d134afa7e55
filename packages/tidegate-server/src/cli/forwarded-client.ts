import { clientResolver } from "tidegate/http";
import { addressText } from "../rehearse/address-text.js";
import type { ParserTerms } from "../rehearse/line-parser.js";

export interface ForwardedClient {
  readonly clientOf: NonNullable<ParserTerms["clientOf"]>;
  /** What to know when no line had the header. */
  notes(): string[];
}

/**
 * Takes the client from a header the log tells: behind trusted proxies the last address that is none of them, and without
 * any the last of all, which is what the nearest proxy saw. `field` is nginx's name for it: `http_x_forwarded_for`.
 */
export function forwardedClient(field: string, trustedProxies: readonly string[] = []): ForwardedClient {
  const header = field
    .replace(/^http_/i, "")
    .replaceAll("_", "-")
    .toLowerCase();
  const resolve = clientResolver({ trustedProxies, clientIpHeader: header });
  let seen = 0;
  return {
    clientOf(peer, headerOf) {
      const told = headerOf(header);
      if (told === undefined) return peer;
      seen++;
      if (trustedProxies.length > 0) return resolve(peer, headerOf);
      return addressText(told.slice(told.lastIndexOf(",") + 1).trim()) || peer;
    },
    notes: () =>
      seen > 0
        ? []
        : [
            `No line tells ${header}: every client is the address that connected. --template says where it stands.`,
          ],
  };
}

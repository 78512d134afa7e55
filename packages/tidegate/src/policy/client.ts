import type { IdentityOptions } from "../gate.js";
import { type Address, addressText, blockText, parseAddress } from "./identity/address.js";
import type { Listing } from "./listings.js";

/** What an address says of a client. */
export interface Client {
  /** Undefined when the text was no address. */
  readonly address: Address | undefined;
  /** Canonical and whole. */
  readonly text: string;
  /** As `ip` counts: IPv4 whole, IPv6 by its prefix. */
  readonly ip: string;
  /** As `network` counts. */
  readonly network: string;
  /** What lists said of it when last asked, see listings.ts. */
  listing: Listing | undefined;
}

/** Everyone whose address can not be read is counted as one. */
const nobody: Client = {
  address: undefined,
  text: "unknown",
  ip: "unknown",
  network: "unknown",
  listing: undefined,
};

/** Tells clients by their addresses. Some thousands are remembered, since most requests come from few. */
export function clientTeller(identity: Required<IdentityOptions>): (ip: string) => Client {
  const { ipv6Prefix, networkPrefixes } = identity;
  let young = new Map<string, Client>();
  let old = new Map<string, Client>();

  function tell(ip: string): Client {
    const address = typeof ip === "string" ? parseAddress(ip) : undefined;
    if (address === undefined) return nobody;
    const isV4 = address.version === 4;
    return {
      address,
      text: addressText(address),
      ip: blockText(address, isV4 ? 32 : ipv6Prefix),
      network: blockText(address, isV4 ? networkPrefixes[0] : networkPrefixes[1]),
      listing: undefined,
    };
  }

  function remember(ip: string): Client {
    const client = old.get(ip) ?? tell(ip);
    if (client === nobody) return client;
    if (young.size >= mostRemembered) {
      old = young;
      young = new Map();
    }
    young.set(ip, client);
    return client;
  }

  return (ip) => young.get(ip) ?? remember(ip);
}

/** In either generation: what is not seen while a whole one fills is forgotten. */
const mostRemembered = 16_384;

import type { IdentityOptions } from "../gate.js";
import { type Address, addressText, blockText, parseAddress } from "./identity/address.js";
import type { Listing } from "./listings.js";

/** What an address says of a client. */
export interface Client {
  /** Undefined when the text was no address. */
  readonly address: Address | undefined;
  /** Comes by IPv6, where one network has more addresses than can be counted. */
  readonly isV6: boolean;
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
  isV6: false,
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
    const isV6 = address.version === 6;
    const text = inOnePiece(addressText(address));
    return {
      address,
      isV6,
      text,
      ip: isV6 ? inOnePiece(blockText(address, ipv6Prefix)) : text,
      network: inOnePiece(blockText(address, networkPrefixes[isV6 ? 1 : 0])),
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
    // Where it is the same, one string serves as name and as key.
    young.set(ip === client.text ? client.text : ip, client);
    return client;
  }

  return (ip) => young.get(ip) ?? remember(ip);
}

/** V8 keeps a text as the parts it was put together from, or cut from: each reading of it then takes the long way, and the whole it was cut from stays in memory. */
export function inOnePiece(text: string): string {
  const codes: number[] = [];
  for (let i = 0; i < text.length; i++) codes.push(text.charCodeAt(i));
  return String.fromCharCode(...codes);
}

/** In either generation: what is not seen while a whole one fills is forgotten. */
const mostRemembered = 16_384;

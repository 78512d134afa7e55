import type { IdentityOptions } from "../gate.js";
import { KeyHash } from "../key-hash.js";
import { type Address, addressText, blockText, parseAddress } from "./identity/address.js";
import { inOnePiece } from "./in-one-piece.js";
import type { Listing } from "./listings.js";
import { Remembered } from "./remembered.js";

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
  /** The halves of a hash of `ip` with a secret of the teller's own: see busiest.ts. */
  readonly low: number;
  readonly high: number;
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
  low: 0,
  high: 0,
  listing: undefined,
};

/** Tells clients by their addresses. Some thousands are remembered, since most requests come from few. */
export function clientTeller(identity: Required<IdentityOptions>): (ip: string) => Client {
  const { ipv6Prefix, networkPrefixes } = identity;
  const known = new Remembered<Client>(mostRemembered);
  const hash = new KeyHash();

  function tell(ip: string): Client {
    const address = parseAddress(ip);
    if (address === undefined) return nobody;
    const isV6 = address.version === 6;
    const text = inOnePiece(addressText(address));
    const counted = isV6 ? inOnePiece(blockText(address, ipv6Prefix)) : text;
    hash.of(counted);
    return {
      address,
      isV6,
      text,
      ip: counted,
      network: inOnePiece(blockText(address, networkPrefixes[isV6 ? 1 : 0])),
      low: hash.low,
      high: hash.high,
      listing: undefined,
    };
  }

  function meet(ip: string): Client {
    const client = tell(ip);
    if (client !== nobody) known.keep(client);
    return client;
  }

  return (ip) => {
    if (typeof ip !== "string" || ip.length > longestAddress) return nobody;
    return known.get(ip) ?? meet(ip);
  };
}

const mostRemembered = 16_384;
/** With brackets, zone and port. */
const longestAddress = 256;

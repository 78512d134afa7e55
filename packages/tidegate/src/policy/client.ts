import type { IdentityOptions } from "../gate.js";
import { inOnePiece } from "../in-one-piece.js";
import { HashedKey } from "../key-hash.js";
import { type Address, addressText, blockText, parseAddress } from "./identity/address.js";
import type { Listing } from "./listings.js";
import { Remembered } from "./remembered.js";

/** What an address says of a client. The hash is that of `ip`. */
export interface Client extends HashedKey {
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

class KnownClient extends HashedKey implements Client {
  readonly address: Address | undefined;
  readonly isV6: boolean;
  readonly text: string;
  readonly ip: string;
  readonly network: string;
  listing: Listing | undefined = undefined;

  constructor(address: Address | undefined, text: string, ip: string, network: string) {
    super(ip);
    this.address = address;
    this.isV6 = address?.version === 6;
    this.text = text;
    this.ip = ip;
    this.network = network;
  }
}

/** Everyone whose address can not be read is counted as one. */
let nobody: Client | undefined;

/** Made when first met: Workers give no random numbers, which hashes need, while a module loads. */
function unknownClient(): Client {
  nobody ??= new KnownClient(undefined, "unknown", "unknown", "unknown");
  return nobody;
}

/** Tells clients by their addresses. Some thousands are remembered, since most requests come from few. */
export function clientTeller(identity: Required<IdentityOptions>): (ip: string) => Client {
  const { ipv6Prefix, networkPrefixes } = identity;
  const known = new Remembered<Client>(mostRemembered);
  /** Requests of one client come in rows, by one connection. */
  let lastIp = "";
  let last: Client | undefined;

  function tell(ip: string): Client {
    const address = parseAddress(ip);
    if (address === undefined) return unknownClient();
    const isV6 = address.version === 6;
    const text = inOnePiece(addressText(address));
    const counted = isV6 ? inOnePiece(blockText(address, ipv6Prefix)) : text;
    const network = inOnePiece(blockText(address, networkPrefixes[isV6 ? 1 : 0]));
    return new KnownClient(address, text, counted, network);
  }

  function meet(ip: string): Client {
    const client = tell(ip);
    if (client.address !== undefined) known.keep(client);
    return client;
  }

  return (ip) => {
    if (ip === lastIp && last !== undefined) return last;
    if (typeof ip !== "string" || ip.length > longestAddress) return unknownClient();
    last = known.get(ip) ?? meet(ip);
    lastIp = ip;
    return last;
  };
}

const mostRemembered = 16_384;
/** With brackets, zone and port. */
const longestAddress = 256;

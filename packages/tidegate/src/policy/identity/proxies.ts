import { ConfigError, shown } from "../../errors.js";
import type { Warning } from "../../gate.js";
import {
  type Address,
  addressText,
  type Block,
  blockCovers,
  named,
  parseAddress,
  parseBlock,
} from "./address.js";
import { forOf, lastElement } from "./forwarded.js";

export interface ProxyOptions {
  /** Addresses, blocks, or `"loopback"`, `"linklocal"`, `"uniquelocal"`, `"private"` (all three). Default none. */
  trustedProxies?: readonly string[];
  /** The one header that trusted proxies tell the client's address in. Default `"x-forwarded-for"`. */
  clientIpHeader?: string;
}

type HeaderOf = (name: string) => string | undefined;

/** Answers a client's address: the peer's own, or what trusted proxies say of it. Empty when nothing is known of the peer. */
export interface ClientResolver {
  (peer: string | undefined, header: HeaderOf): string;
  /** A warning when proxy headers arrive though no proxy is trusted; to be told once. */
  suspects(peer: string | undefined, header: HeaderOf): Warning | undefined;
}

/** How one kind of header is read from the right. */
interface Reader {
  /** Where the last hop of the text up to `end` begins. */
  lastHop(text: string, end: number): number;
  addressOf(hop: string): Address | undefined;
}

const plainList: Reader = {
  lastHop: (text, end) => (end === 0 ? 0 : text.lastIndexOf(",", end - 1) + 1),
  addressOf: parseAddress,
};
const forwarded: Reader = {
  lastHop: lastElement,
  addressOf: (hop) => parseAddress(forOf(hop)),
};

/** Further hops and longer headers are not looked at. */
const mostHops = 64;
const longestHeader = 4096;

export function clientResolver(options: ProxyOptions = {}): ClientResolver {
  const trusted = parseTrusted(options.trustedProxies ?? []);
  const headerName = parseHeaderName(options.clientIpHeader ?? "x-forwarded-for");
  const reader = headerName === "forwarded" ? forwarded : plainList;

  const telling = [...new Set([headerName, "x-forwarded-for", "forwarded", "x-real-ip"])];

  const isTrusted = (address: Address) => trusted.some((block) => blockCovers(block, address));

  function resolve(peer: string | undefined, header: HeaderOf): string {
    if (peer === undefined) return "";
    if (trusted.length === 0) return peer;
    const address = parseAddress(peer);
    if (address === undefined || !isTrusted(address)) return peer;
    const told = header(headerName);
    return told === undefined ? peer : addressText(clientBehind(address, told));
  }

  /** The first address from the right that is not trusted; where a hop says none, the proxy that passed it on. */
  function clientBehind(proxy: Address, told: string): Address {
    const text = told.slice(-longestHeader);
    let client = proxy;
    for (let end = text.length, hops = 0; end >= 0 && hops < mostHops; hops++) {
      const start = reader.lastHop(text, end);
      const isCut = start === 0 && text.length < told.length;
      const hop = isCut ? undefined : reader.addressOf(text.slice(start, end));
      if (hop === undefined) return client;
      client = hop;
      if (!isTrusted(hop)) return client;
      end = start - 1;
    }
    return client;
  }

  function suspects(peer: string | undefined, header: HeaderOf): Warning | undefined {
    if (peer === undefined) return unknownPeer;
    if (trusted.length > 0) return undefined;
    const name = telling.find((each) => header(each) !== undefined);
    return name === undefined ? undefined : untrusted(name, peer);
  }

  return Object.assign(resolve, { suspects });
}

/** Whether a peer's address is one of those named. */
export type PeerTest = (peer: string | undefined) => boolean;

/** Tells named peers, written like trusted proxies, from all others. */
export function peerTest(peers: readonly string[]): PeerTest {
  const blocks = parseTrusted(peers);
  return (peer) => {
    const address = peer === undefined ? undefined : parseAddress(peer);
    return address !== undefined && blocks.some((block) => blockCovers(block, address));
  };
}

const unknownPeer: Warning = {
  code: "TG_PEER_UNKNOWN",
  message: "Requests come of which nobody says from where, so all are counted as one client.",
  help: "With a fetch handler give clientIp: (request, ...args) => address, or hand on what the runtime gives beside the request. Behind a unix socket count by something else.",
};

function untrusted(header: string, peer: string): Warning {
  return {
    code: "TG_PROXY_UNTRUSTED",
    message: `Requests from ${peer} carry ${header}, but no proxy is trusted, so the header is ignored and ${peer} is the client.`,
    help: `If that is your own proxy, all its clients are counted as one: name it, e.g. trustedProxies: ["${peer}"]. If not, somebody makes the header up, and nothing is to be done.`,
  };
}

const words = new Map<string, readonly Block[]>([
  ...Object.entries(named),
  ["private", Object.values(named).flat()],
]);

function parseTrusted(given: readonly string[]): Block[] {
  if (!Array.isArray(given)) throw notTrusted("trustedProxies", `${shown(given)} is not a list of proxies.`);
  return given.flatMap((text, i) => {
    const path = `trustedProxies[${i}]`;
    const word = words.get(text);
    if (word !== undefined) return word;
    const block = parseBlock(text);
    if (block === undefined)
      throw notTrusted(path, `${shown(text)} is not an address, a block or a known word.`);
    if (block.prefix === 0)
      throw notTrusted(path, `${shown(text)} trusts everyone, and then anyone can claim any address.`);
    return block;
  });
}

function notTrusted(path: string, message: string): ConfigError {
  return new ConfigError(
    "TG_TRUSTED_PROXIES",
    path,
    message,
    'Name your own proxies, e.g. trustedProxies: ["10.0.0.5", "192.168.0.0/16", "loopback"]; words are loopback, linklocal, uniquelocal and private. ' +
      "Neither true nor a number of hops is taken: whoever comes by another way could then choose his address.",
  );
}

function parseHeaderName(name: string): string {
  if (typeof name === "string" && /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(name)) return name.toLowerCase();
  throw new ConfigError(
    "TG_CLIENT_IP_HEADER",
    "clientIpHeader",
    `${shown(name)} is not the name of a header.`,
    'Give one name, e.g. "x-forwarded-for", "forwarded", "cf-connecting-ip".',
  );
}

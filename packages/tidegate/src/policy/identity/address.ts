import { ipv4Text, readIpv4, readNumber } from "./ipv4.js";
import { ipv6Text, readIpv6 } from "./ipv6.js";

/** An address in 32-bit words, most significant first. IPv4 uses only `a`; the others are 0. */
export interface Address {
  readonly version: 4 | 6;
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
}

/** All addresses that share their first `prefix` bits with `address`, whose other bits are 0. */
export interface Block {
  readonly address: Address;
  readonly prefix: number;
}

/**
 * Reads `203.0.113.7`, `203.0.113.7:443`, `2001:db8::1`, `[2001:db8::1]:443` and `fe80::1%eth0`, with blanks around.
 * IPv4 inside IPv6 (`::ffff:0:0/96`) and behind NAT64 (`64:ff9b::/96`) is IPv4. Forms that readers disagree about
 * (`010.0.0.1`, `127.1`, `0x7f.0.0.1`) are no addresses.
 */
export function parseAddress(text: string): Address | undefined {
  const given = trimmed(text);
  if (given.startsWith("[")) {
    const close = given.indexOf("]");
    if (close < 0 || (close + 1 < given.length && !isPort(given, close + 1))) return undefined;
    return unwrapped(parseV6(given, 1, close));
  }
  const colon = given.indexOf(":");
  if (colon < 0) return parseV4(given, given.length);
  if (given.includes(":", colon + 1)) return unwrapped(parseV6(given, 0, given.length));
  return isPort(given, colon) ? parseV4(given, colon) : undefined;
}

/** Whether a client can be told by it: all whose address can not be read are counted as one. */
export function isAddress(text: string): boolean {
  return parseAddress(text) !== undefined;
}

/** Reads an address, or `address/prefix`. A block of IPv4-mapped addresses is the IPv4 block. */
export function parseBlock(text: string): Block | undefined {
  const given = trimmed(text);
  const slash = given.indexOf("/");
  if (slash < 0) return wholeBlock(parseAddress(given));
  const written = given.includes(":") ? parseV6(given, 0, slash) : parseV4(given, slash);
  const prefix = readNumber(given, slash + 1, given.length, 3);
  if (written === undefined || prefix < 0 || prefix > lengthOf(written)) return undefined;
  if (!isWrapped(written)) return { address: networkOf(written, prefix), prefix };
  // A shorter prefix would cover IPv4 and something else.
  if (prefix < 96) return undefined;
  return { address: networkOf(ipv4(written.d), prefix - 96), prefix: prefix - 96 };
}

/** In canonical form, for IPv6 that of RFC 5952. */
export function addressText({ version, a, b, c, d }: Address): string {
  if (version === 4) return ipv4Text(a);
  return ipv6Text([a >>> 16, a & 0xffff, b >>> 16, b & 0xffff, c >>> 16, c & 0xffff, d >>> 16, d & 0xffff]);
}

/** The network of this address, e.g. `203.0.113.0/24`; the plain address when the prefix is its whole length. */
export function blockText(address: Address, prefix: number): string {
  if (prefix >= lengthOf(address)) return addressText(address);
  return `${addressText(networkOf(address, prefix))}/${prefix}`;
}

/** An address or a block in the one form a list keeps it in: `::ffff:10.0.0.0/104` is `10.0.0.0/8`. Undefined for what is none. */
export function canonicalBlock(text: string): string | undefined {
  const block = parseBlock(text);
  return block && blockText(block.address, block.prefix);
}

export function blockCovers({ address: network, prefix }: Block, address: Address): boolean {
  if (network.version !== address.version) return false;
  if (((network.a ^ address.a) & wordMask(prefix)) !== 0) return false;
  return (
    prefix <= 32 ||
    (((network.b ^ address.b) & wordMask(prefix - 32)) === 0 &&
      ((network.c ^ address.c) & wordMask(prefix - 64)) === 0 &&
      ((network.d ^ address.d) & wordMask(prefix - 96)) === 0)
  );
}

/** Selects a word's first bits, as a signed integer: none below 1, all from 32 on. */
export function wordMask(bits: number): number {
  if (bits <= 0) return 0;
  return bits >= 32 ? -1 : -1 << (32 - bits);
}

/** Whether nobody has this address on the public Internet: own networks, carriers' shared space, unspecified. */
export function isPrivate(address: Address): boolean {
  return privateBlocks.some((block) => blockCovers(block, address));
}

function networkOf({ version, a, b, c, d }: Address, prefix: number): Address {
  return {
    version,
    a: (a & wordMask(prefix)) >>> 0,
    b: (b & wordMask(prefix - 32)) >>> 0,
    c: (c & wordMask(prefix - 64)) >>> 0,
    d: (d & wordMask(prefix - 96)) >>> 0,
  };
}

function wholeBlock(address: Address | undefined): Block | undefined {
  return address && { address, prefix: lengthOf(address) };
}

function lengthOf({ version }: Address): number {
  return version === 4 ? 32 : 128;
}

function ipv4(word: number): Address {
  return { version: 4, a: word, b: 0, c: 0, d: 0 };
}

/** Whether an IPv4 address is inside: mapped, or behind NAT64. */
function isWrapped({ version, a, b, c }: Address): boolean {
  if (version === 4 || b !== 0) return false;
  return (a === 0 && c === 0xffff) || (a === 0x64ff9b && c === 0);
}

function unwrapped(address: Address | undefined): Address | undefined {
  return address !== undefined && isWrapped(address) ? ipv4(address.d) : address;
}

function parseV4(text: string, end: number): Address | undefined {
  const word = readIpv4(text, 0, end);
  return word < 0 ? undefined : ipv4(word);
}

const groups = new Uint16Array(8);

function parseV6(text: string, start: number, end: number): Address | undefined {
  const percent = text.indexOf("%", start);
  const hasZone = percent >= 0 && percent < end;
  if (hasZone && !isZone(text, percent + 1, end)) return undefined;
  if (!readIpv6(text, start, hasZone ? percent : end, groups)) return undefined;
  return { version: 6, a: wordAt(0), b: wordAt(2), c: wordAt(4), d: wordAt(6) };
}

/** Printable, no blanks and no brackets. */
function isZone(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code < 33 || code > 126 || code === 91 || code === 93) return false;
  }
  return start < end;
}

function wordAt(group: number): number {
  return (groups[group] as number) * 0x10000 + (groups[group + 1] as number);
}

function isPort(text: string, colon: number): boolean {
  const port = readNumber(text, colon + 1, text.length, 5);
  return text[colon] === ":" && port >= 0 && port <= 65535;
}

/** Longer than any address with brackets, port and zone: nothing beyond is looked at. */
const longestText = 128;

/** Without blanks and tabs around. What can not be an address is empty. */
function trimmed(text: string): string {
  if (typeof text !== "string" || text.length > longestText) return "";
  let start = 0;
  let end = text.length;
  while (isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

function blocks(...texts: string[]): Block[] {
  return texts.map((text) => parseBlock(text) as Block);
}

/** Blocks that have a name of their own. */
export const named: Readonly<Record<"loopback" | "linklocal" | "uniquelocal", readonly Block[]>> = {
  loopback: blocks("127.0.0.0/8", "::1"),
  linklocal: blocks("169.254.0.0/16", "fe80::/10"),
  uniquelocal: blocks("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
};

const privateBlocks = [...Object.values(named).flat(), ...blocks("100.64.0.0/10", "0.0.0.0/8", "::")];

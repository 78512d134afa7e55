import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Address,
  addressText,
  type Block,
  blockCovers,
  blockText,
  isPrivate,
  parseAddress,
  parseBlock,
} from "./address.js";

const word = fc.oneof(
  fc.integer({ min: 0, max: 0xffffffff }),
  fc.constantFrom(0, 1, 0xffff, 0x10000, 0xffffffff),
);
const ipv4 = word.map((a): Address => ({ version: 4, a, b: 0, c: 0, d: 0 }));
const ipv6 = fc
  .tuple(word, word, word, word)
  .map(([a, b, c, d]): Address => ({ version: 6, a, b, c, d }))
  .filter(({ a, b, c }) => b !== 0 || !((a === 0 && c === 0xffff) || (a === 0x64ff9b && c === 0)));
const anyAddress = fc.oneof(ipv4, ipv6);
/** Text that nearly is an address. */
const nearly = fc.string({ unit: fc.constantFrom(..."0123456789abcdefF:::...[]%/ x"), maxLength: 48 });

function canonical(text: string): string | undefined {
  const address = parseAddress(text);
  return address && addressText(address);
}

function canonicalBlock(text: string): string | undefined {
  const block = parseBlock(text);
  return block && blockText(block.address, block.prefix);
}

describe("addresses", () => {
  it.each([
    ["203.0.113.7", "203.0.113.7"],
    ["0.0.0.0", "0.0.0.0"],
    ["255.255.255.255", "255.255.255.255"],
    [" \t203.0.113.7 ", "203.0.113.7"],
    ["203.0.113.7:443", "203.0.113.7"],
    ["203.0.113.7:0", "203.0.113.7"],
    ["::", "::"],
    ["::1", "::1"],
    ["1::", "1::"],
    ["2001:DB8::1", "2001:db8::1"],
    ["2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["[2001:db8::1]:8080", "2001:db8::1"],
    ["fe80::1%eth0", "fe80::1"],
    ["[fe80::1%25en0]:80", "fe80::1"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["::FFFF:cb00:7107", "203.0.113.7"],
    ["0:0:0:0:0:ffff:203.0.113.7", "203.0.113.7"],
    ["[::ffff:203.0.113.7]:443", "203.0.113.7"],
    ["64:ff9b::192.0.2.33", "192.0.2.33"],
    ["64:ff9b::c000:221", "192.0.2.33"],
    ["64:ff9b:1::192.0.2.33", "64:ff9b:1::c000:221"],
    ["::192.0.2.33", "::c000:221"],
    ["1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"],
  ])("%j is %s", (text, expected) => {
    expect(canonical(text)).toBe(expected);
  });

  it.each([
    "",
    " ",
    "unknown",
    "localhost",
    "_hidden",
    "1.2.3",
    "1.2.3.4.5",
    "1.2.3.4.",
    ".1.2.3.4",
    "1..2.3",
    "1.2.3.256",
    "1.2.3.1000",
    "01.2.3.4",
    "1.2.3.00",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "127.1",
    "2130706433",
    "1.2.3.-4",
    "1.2.3.+4",
    "1.2.3.4e0",
    "1. 2.3.4",
    "1.2.3.4 5.6.7.8",
    "1.2.3.4\n",
    "1.2.3.4\0",
    "١.2.3.4",
    "1.2.3.4:",
    "1.2.3.4:65536",
    "1.2.3.4:080",
    "1.2.3.4:http",
    "1.2.3.4%eth0",
    "1.2.3.4/32",
    "[1.2.3.4]",
    ":",
    ":::",
    "1",
    "1:2",
    ":1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7:8::",
    "::1:2:3:4:5:6:7:8",
    "1::2::3",
    "1:::2",
    "12345::",
    "g::1",
    "1.2.3.4::",
    "::1.2.3.4:1",
    "::1.2.3",
    "1:2:3:4:5:6:7:1.2.3.4",
    "::ffff:01.2.3.4",
    "[::1",
    "::1]",
    "[]",
    "[]:80",
    "[::1]80",
    "[::1]:",
    "[::1]:99999",
    "[[::1]]",
    "::1%",
    "fe80::1%eth0]:80",
    "constructor",
    "__proto__",
    "203.0.113.7, 10.0.0.1",
    "fe80::1%eth0 1",
    "fe80::1%eth\n0",
  ])("%j is none", (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it("none is longer than 128 characters", () => {
    const texts = [
      `${" ".repeat(122)}1.2.3.4`,
      `::1%${"x".repeat(125)}`,
      "1:".repeat(40_000),
      "1".repeat(65_536),
    ];
    expect(texts.map(parseAddress)).toEqual(texts.map(() => undefined));
    expect(canonical(`::1%${"x".repeat(124)}`)).toBe("::1");
  });

  it.each([undefined, null, 7, 1n, {}, [], ["1.2.3.4"], true])("neither is %o, whatever sent it", (value) => {
    expect(parseAddress(value as string)).toBeUndefined();
    expect(parseBlock(value as string)).toBeUndefined();
  });

  it("written canonically read back as they were, in brackets and with a port too", () => {
    fc.assert(
      fc.property(anyAddress, fc.integer({ min: 0, max: 65535 }), (address, port) => {
        const text = addressText(address);
        expect(isIP(text)).toBe(address.version);
        expect(parseAddress(text)).toEqual(address);
        expect(parseAddress(text.toUpperCase())).toEqual(address);
        expect(parseAddress(address.version === 4 ? `${text}:${port}` : `[${text}]:${port}`)).toEqual(
          address,
        );
      }),
    );
  });

  it("have one canonical text each, which is what a URL shows", () => {
    fc.assert(
      fc.property(ipv6, (address) => {
        expect(`[${addressText(address)}]`).toBe(new URL(`http://[${addressText(address)}]/`).hostname);
      }),
    );
  });

  it("are told from garbage exactly as Node tells them", () => {
    fc.assert(
      fc.property(fc.oneof(nearly, fc.ipV4(), fc.ipV6()), (text) => {
        fc.pre(!/[[\] %]/.test(text) && !/^[^:]*:[^:]*$/.test(text));
        expect(parseAddress(text) !== undefined).toBe(isIP(text) !== 0);
      }),
      { numRuns: 2000 },
    );
  });

  it("mapped, behind NAT64 and plain are the same client", () => {
    fc.assert(
      fc.property(ipv4, (address) => {
        const text = addressText(address);
        expect(parseAddress(`::ffff:${text}`)).toEqual(address);
        expect(parseAddress(`64:ff9b::${text}`)).toEqual(address);
      }),
    );
  });
});

describe("blocks", () => {
  it.each([
    ["203.0.113.7", "203.0.113.7"],
    ["203.0.113.7/32", "203.0.113.7"],
    ["203.0.113.7/24", "203.0.113.0/24"],
    ["203.0.113.7/0", "0.0.0.0/0"],
    [" 10.0.0.0/8 ", "10.0.0.0/8"],
    ["2001:db8::1/128", "2001:db8::1"],
    ["2001:db8:0:1:2:3:4:5/64", "2001:db8:0:1::/64"],
    ["2001:DB8:FFFF::/33", "2001:db8:8000::/33"],
    ["::/0", "::/0"],
    ["fe80::1%eth0/64", "fe80::/64"],
    ["::ffff:10.1.2.3/104", "10.0.0.0/8"],
    ["::ffff:0:0/96", "0.0.0.0/0"],
    ["64:ff9b::10.1.2.3/128", "10.1.2.3"],
  ])("%j is %s", (text, expected) => {
    expect(canonicalBlock(text)).toBe(expected);
  });

  it.each([
    "",
    "/",
    "/8",
    "10.0.0.0/",
    "10.0.0.0/33",
    "10.0.0.0/08",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "10.0.0.0/ 8",
    "10.0.0.0/255.0.0.0",
    "10.0.0/8",
    "10.0.0.1:80/32",
    "[::1]/128",
    "::/129",
    "::/1e1",
    "::ffff:10.0.0.0/8",
    "64:ff9b::/64",
    "constructor",
    "10.0.0.0/8888",
  ])("%j is none", (text) => {
    expect(parseBlock(text)).toBeUndefined();
  });

  const anyBlock = fc
    .tuple(anyAddress, fc.integer({ min: 0, max: 128 }))
    .map(([address, n]) => ({ address, prefix: address.version === 4 ? n % 33 : n }));

  it("cover an address exactly when its own block of that size is the same", () => {
    fc.assert(
      fc.property(anyBlock, anyAddress, fc.nat(128), ({ address, prefix }, stranger, flipped) => {
        const block = parseBlock(blockText(address, prefix));
        fc.pre(block !== undefined);
        expect(blockCovers(block as Block, address)).toBe(true);
        for (const other of [stranger, withBitFlipped(address, flipped)]) {
          const isSame =
            other.version === address.version && blockText(other, prefix) === blockText(address, prefix);
          expect(blockCovers(block as Block, other)).toBe(isSame);
        }
      }),
    );
  });

  it("all of one /64 are one, so rotating inside it makes no new client", () => {
    const texts = ["2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff", "2001:db8:0:1:dead:beef::"];
    const blocks = texts.map((text) => blockText(parseAddress(text) as Address, 64));
    expect(new Set(blocks)).toEqual(new Set(["2001:db8:0:1::/64"]));
  });

  it("of IPv4 and IPv6 never cover each other", () => {
    expect(blockCovers(parseBlock("::/0") as Block, parseAddress("1.2.3.4") as Address)).toBe(false);
    expect(blockCovers(parseBlock("0.0.0.0/0") as Block, parseAddress("::1") as Address)).toBe(false);
  });
});

function withBitFlipped(address: Address, bit: number): Address {
  const name = (["a", "b", "c", "d"] as const)[Math.floor(bit / 32) % (address.version === 4 ? 1 : 4)] ?? "a";
  return { ...address, [name]: (address[name] ^ (1 << (bit % 32))) >>> 0 };
}

describe("private addresses", () => {
  it.each([
    ["127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1"],
    ["10.0.0.0", "172.16.0.1", "172.31.255.255", "192.168.1.1"],
    ["169.254.169.254", "fe80::1", "febf::1", "fc00::", "fdff::1"],
    ["100.64.0.1", "100.127.255.255", "0.0.0.0", "::"],
  ])("are %s, %s, %s, %s", (...texts) => {
    expect(texts.filter((text) => !isPrivate(parseAddress(text) as Address))).toEqual([]);
  });

  it.each([
    ["126.255.255.255", "128.0.0.0", "::2", "11.0.0.0"],
    ["172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0"],
    ["169.253.0.1", "fec0::1", "fe00::1", "2001:db8::1"],
    ["100.63.255.255", "100.128.0.0", "8.8.8.8", "1.0.0.0"],
  ])("are not %s, %s, %s, %s", (...texts) => {
    expect(texts.filter((text) => isPrivate(parseAddress(text) as Address))).toEqual([]);
  });
});

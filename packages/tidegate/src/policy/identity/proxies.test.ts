import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../errors.js";
import { parseAddress } from "./address.js";
import { clientResolver, type ProxyOptions } from "./proxies.js";

const proxy = "10.0.0.1";
const client = "203.0.113.7";

function headers(given: Record<string, string>): (name: string) => string | undefined {
  return (name) => new Map(Object.entries(given)).get(name);
}

function clientOf(options: ProxyOptions, peer: string | undefined, given: Record<string, string>): string {
  return clientResolver(options)(peer, headers(given));
}

describe("without trusted proxies", () => {
  it("the peer is the client, whatever headers say", () => {
    const claims = { "x-forwarded-for": "1.1.1.1", forwarded: "for=1.1.1.1", "x-real-ip": "1.1.1.1" };
    expect(clientOf({}, client, claims)).toBe(client);
    expect(clientOf({ clientIpHeader: "x-real-ip" }, "127.0.0.1", claims)).toBe("127.0.0.1");
    expect(clientOf({ trustedProxies: [] }, "::1", claims)).toBe("::1");
  });

  it("proxy headers that arrive are explained, with the peer and what to write", () => {
    const { suspects } = clientResolver({ clientIpHeader: "CF-Connecting-IP" });
    for (const name of ["x-forwarded-for", "forwarded", "x-real-ip", "cf-connecting-ip"]) {
      const warning = suspects(proxy, headers({ [name]: "1.1.1.1" }));
      expect(warning).toMatchObject({ code: "TG_PROXY_UNTRUSTED" });
      expect(warning?.message).toContain(name);
      expect(warning?.help).toContain(`trustedProxies: ["${proxy}"]`);
    }
    expect(suspects(proxy, headers({ host: "example.com" }))).toBeUndefined();
  });

  it("an unknown peer is nobody", () => {
    expect(clientOf({}, undefined, {})).toBe("");
    expect(clientOf({ trustedProxies: ["loopback"] }, undefined, { "x-forwarded-for": "1.1.1.1" })).toBe("");
  });
});

describe("behind trusted proxies", () => {
  const trustedProxies = ["10.0.0.0/8", "2001:db8:ff::/48"];

  it.each([
    ["one hop", "203.0.113.7", client],
    ["a made-up hop left of the client", "1.1.1.1, 203.0.113.7", client],
    ["a made-up trusted hop left of the client", "10.9.9.9, 203.0.113.7", client],
    ["trusted hops to the right", "1.1.1.1, 203.0.113.7, 10.0.0.3,10.0.0.2", client],
    ["trusted hops of both versions", "203.0.113.7, 2001:db8:ff::1, 10.0.0.2", client],
    ["a trusted hop written as IPv6", "203.0.113.7, ::ffff:10.0.0.2", client],
    ["a port", "203.0.113.7:51234", client],
    ["brackets and a port", "[2001:db8::7]:51234", "2001:db8::7"],
    ["a zone", "fe80::7%eth0", "fe80::7"],
    ["upper case", "2001:DB8:0::7", "2001:db8::7"],
    ["only trusted hops, the leftmost", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["garbage, the proxy that passed it on", "garbage", proxy],
    ["garbage left of a trusted hop, that hop", "1.1.1.1, garbage, 10.0.0.2", "10.0.0.2"],
    ["garbage left of the client", "garbage, 203.0.113.7", client],
    ["an empty header", "", proxy],
    ["an empty hop", "1.1.1.1, , 10.0.0.2", "10.0.0.2"],
    ["an empty last hop", "1.1.1.1,", proxy],
    ["only commas", ",,,", proxy],
    ["the word unknown", "unknown", proxy],
    ["a leading zero that others read as octal", "0177.0.0.1", proxy],
    ["a line break", "203.0.113.7\r\n", proxy],
  ])("X-Forwarded-For is read from the right: %s", (_, header, expected) => {
    expect(clientOf({ trustedProxies }, proxy, { "x-forwarded-for": header })).toBe(expected);
  });

  it("the peer is the client when the header is missing", () => {
    expect(clientOf({ trustedProxies }, proxy, {})).toBe(proxy);
  });

  it("a peer that is not trusted is never believed, and not suspected of being misconfigured", () => {
    const resolve = clientResolver({ trustedProxies });
    for (const peer of ["198.51.100.1", "11.0.0.1", "::1", "10.0.0.1.example.com", ""]) {
      expect(resolve(peer, headers({ "x-forwarded-for": "1.1.1.1" }))).toBe(peer);
    }
    expect(resolve.suspects("198.51.100.1", headers({ "x-forwarded-for": "1.1.1.1" }))).toBeUndefined();
  });

  it("a trusted peer is known by any form of its address", () => {
    expect(clientOf({ trustedProxies }, "::ffff:10.0.0.1", { "x-forwarded-for": client })).toBe(client);
    expect(clientOf({ trustedProxies: ["::ffff:10.0.0.0/104"] }, proxy, { "x-forwarded-for": client })).toBe(
      client,
    );
  });

  it("only the one header named is read", () => {
    const given = { "x-forwarded-for": "1.1.1.1", "cf-connecting-ip": client, forwarded: "for=2.2.2.2" };
    expect(clientOf({ trustedProxies, clientIpHeader: "CF-Connecting-IP" }, proxy, given)).toBe(client);
    expect(clientOf({ trustedProxies, clientIpHeader: "true-client-ip" }, proxy, given)).toBe(proxy);
    expect(clientOf({ trustedProxies }, proxy, given)).toBe("1.1.1.1");
  });

  it("whatever a client sends, a proxy that appends his address gives him away", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'for=",;\\[]:10.') })),
        fc.constantFrom("x-forwarded-for", "forwarded"),
        (sent, clientIpHeader) => {
          const appended = clientIpHeader === "forwarded" ? `for="${client}:80";proto="https"` : client;
          const given = { [clientIpHeader]: `${sent}, ${appended}` };
          expect(clientOf({ trustedProxies, clientIpHeader }, proxy, given)).toBe(client);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("answers an address or the peer's own text, whatever the header", () => {
    const pieces = fc.constantFrom(
      proxy,
      client,
      "::1",
      ",",
      ";",
      '"',
      "for=",
      "\\",
      "unknown",
      " ",
      "\0",
      "é",
    );
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 40 }),
        fc.constantFrom("x-forwarded-for", "forwarded"),
        (given, clientIpHeader) => {
          const found = clientOf({ trustedProxies, clientIpHeader }, proxy, {
            [clientIpHeader]: given.join(""),
          });
          expect(parseAddress(found)).toBeDefined();
        },
      ),
    );
  });

  it("of a flood of hops the last 64 are read", () => {
    const resolve = clientResolver({ trustedProxies });
    const hops = (count: number) => `${client}${",10.0.0.2".repeat(count)}`;
    expect(resolve(proxy, headers({ "x-forwarded-for": hops(63) }))).toBe(client);
    expect(resolve(proxy, headers({ "x-forwarded-for": hops(64) }))).toBe("10.0.0.2");
    expect(resolve(proxy, headers({ "x-forwarded-for": hops(100_000) }))).toBe("10.0.0.2");
  });

  it("of a flood of characters the last 4096 are read, and an address cut in two is not read as another", () => {
    const resolve = clientResolver({ trustedProxies });
    const tail = `,${"10.0.0.2".padStart(66)}`.repeat(61);
    expect(tail.length + "3.0.113.7".length).toBe(4096);
    expect(resolve(proxy, headers({ "x-forwarded-for": `3.0.113.7${tail}` }))).toBe("3.0.113.7");
    expect(resolve(proxy, headers({ "x-forwarded-for": `203.0.113.7${tail}` }))).toBe("10.0.0.2");
    const quotes = `for=${client}, ${'for="10.0.0.2";'.repeat(10_000)}`;
    expect(clientOf({ trustedProxies, clientIpHeader: "forwarded" }, proxy, { forwarded: quotes })).toBe(
      proxy,
    );
  });
});

describe("the Forwarded header", () => {
  const options = { trustedProxies: ["10.0.0.0/8"], clientIpHeader: "Forwarded" };

  it.each([
    ["for=203.0.113.7", client],
    ["For=203.0.113.7;proto=http;by=203.0.113.43", client],
    ['proto=https;for="203.0.113.7:47011"', client],
    ['for="[2001:db8:cafe::17]:4711"', "2001:db8:cafe::17"],
    ['for="203.0.113.7:_gazonk"', client],
    ["for=1.1.1.1, for=203.0.113.7, for=10.0.0.2", client],
    ['for=203.0.113.7,for="10.0.0.2";host="a,b;for=1.1.1.1"', client],
    ['for=203.0.113.7;host="x\\",for=1.1.1.1"', client],
    ['for=203.0.113.7;host="a,b\\""', client],
    ['for=203.0.113.7, for=10.0.0.2;host="a\\\\"', client],
    ['for="x, for=203.0.113.7', client],
    ["for=_hidden", proxy],
    ["for=unknown, for=10.0.0.2", "10.0.0.2"],
    ["by=203.0.113.7", proxy],
    ["for=1.1.1.1, proto=http", proxy],
    ["for=1.1.1.1;for=203.0.113.7", proxy],
    ["for=", proxy],
    ['for="', proxy],
    ["203.0.113.7", proxy],
    ["xfor=203.0.113.7", proxy],
    ["", proxy],
  ])("%s", (forwarded, expected) => {
    expect(clientOf(options, proxy, { forwarded })).toBe(expected);
  });
});

describe("trustedProxies", () => {
  it.each([
    ["loopback", ["127.0.0.1", "127.9.9.9", "::1"], ["10.0.0.1", "::2"]],
    ["linklocal", ["169.254.0.1", "fe80::1"], ["127.0.0.1", "fec0::1"]],
    ["uniquelocal", ["10.0.0.1", "172.16.0.1", "192.168.0.1", "fd00::1"], ["127.0.0.1", "172.32.0.1"]],
    ["private", ["127.0.0.1", "::1", "fe80::1", "10.0.0.1", "fd00::1"], ["100.64.0.1", "203.0.113.9"]],
  ])("%s is a word for the usual blocks", (word, trusted, others) => {
    const resolve = clientResolver({ trustedProxies: [word] });
    const header = headers({ "x-forwarded-for": client });
    expect(trusted.map((peer) => resolve(peer, header))).toEqual(trusted.map(() => client));
    expect(others.map((peer) => resolve(peer, header))).toEqual(others);
  });

  it.each([
    [["10.0.0.1", true], "trustedProxies[1]"],
    [[1], "trustedProxies[0]"],
    [["1"], "trustedProxies[0]"],
    [["cloudflare"], "trustedProxies[0]"],
    [["constructor"], "trustedProxies[0]"],
    [["10.0.0.0/33"], "trustedProxies[0]"],
    [["loopback", "0.0.0.0/0"], "trustedProxies[1]"],
    [["::/0"], "trustedProxies[0]"],
    [["::ffff:0:0/96"], "trustedProxies[0]"],
    [[""], "trustedProxies[0]"],
    [[null], "trustedProxies[0]"],
    [true, "trustedProxies"],
    [1, "trustedProxies"],
    ["loopback", "trustedProxies"],
  ])("%j is refused when built, at %s, with what to write instead", (trustedProxies, path) => {
    const build = () => clientResolver({ trustedProxies: trustedProxies as string[] });
    expect(build).toThrow(ConfigError);
    expect(build).toThrow(
      expect.objectContaining({
        code: "TG_TRUSTED_PROXIES",
        path,
        help: expect.stringContaining('trustedProxies: ["10.0.0.5"'),
      }),
    );
  });

  it.each(["", "x forwarded for", "a,b", "a\r\nb", "x".repeat(65), 7, ["x-real-ip"]])(
    "%j is refused as clientIpHeader",
    (clientIpHeader) => {
      expect(() => clientResolver({ clientIpHeader: clientIpHeader as string })).toThrow(
        expect.objectContaining({ code: "TG_CLIENT_IP_HEADER", path: "clientIpHeader" }),
      );
    },
  );
});

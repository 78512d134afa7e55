import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { clientResolver } from "tidegate/http";
import { describe, expect, it } from "vitest";
import { tellForwarded } from "./forwarded.js";
import { headerKinds } from "./header-kinds.js";
import { peerBook } from "./peers.js";
import { readHead } from "./request-head.js";

function told(
  remoteAddress: string,
  rawHeaders: string[],
  trustedProxies: string[] = [],
  clientIpHeader = "x-forwarded-for",
): string[] {
  const peer = peerBook(trustedProxies)({ remoteAddress } as Socket);
  const req = { method: "GET", url: "/", httpVersionMinor: 1, rawHeaders } as unknown as IncomingMessage;
  const head = readHead(req, peer, headerKinds({ clientIpHeader, identity: [] }));
  head.headers = [];
  tellForwarded(clientResolver({ trustedProxies, clientIpHeader }))(head);
  return head.headers;
}

/** What it is told in one of the headers by a trusted proxy that sends these. */
function toldIn(header: string, rawHeaders: string[], clientIpHeader?: string): string | undefined {
  const headers = told("10.0.0.1", rawHeaders, ["10.0.0.0/8"], clientIpHeader);
  return headers[headers.indexOf(header) + 1];
}

describe("the upstream is told", () => {
  it("IPv6 in brackets and quotes where RFC 7239 wants them, and bare elsewhere", () => {
    expect(told("2001:db8::1", ["Host", "[2001:db8::2]:80"])).toEqual([
      "x-forwarded-for",
      "2001:db8::1",
      "x-forwarded-proto",
      "http",
      "x-forwarded-host",
      "[2001:db8::2]:80",
      "forwarded",
      'for="[2001:db8::1]";host="[2001:db8::2]:80";proto=http',
    ]);
  });

  it("IPv4 as IPv4, also where the socket says it in IPv6", () => {
    expect(told("::ffff:10.0.0.1", [])).toContain("for=10.0.0.1;proto=http");
  });

  it("unknown where nobody says from where", () => {
    expect(told("", [])).toContain("for=unknown;proto=http");
  });

  it("by Forwarded what a trusted proxy said by X-Forwarded-* alone", () => {
    const lines = [
      "Host",
      "ex.com",
      "X-Forwarded-For",
      "1.1.1.1:4711, [2001:db8::1]:80, 2001:db8::2, _hidden, 1.2.3.4;proto=x",
      "X-Forwarded-Proto",
      "https",
      "X-Forwarded-Host",
      "shop.ex",
    ];
    const forwarded = (trusted: string[]): string | undefined => told("10.0.0.1", lines, trusted).at(-1);
    expect(forwarded(["10.0.0.1"])).toBe(
      'for=1.1.1.1;host="shop.ex";proto=https, for="[2001:db8::1]", for="[2001:db8::2]", for=unknown, for=unknown, for=10.0.0.1;host="ex.com";proto=http',
    );
    expect(forwarded([])).toBe('for=10.0.0.1;host="ex.com";proto=http');
    const odd = ["X-Forwarded-For", "1.1.1.1", "X-Forwarded-Host", 'a";proto=evil'];
    expect(told("10.0.0.1", odd, ["10.0.0.1"]).at(-1)).toBe(
      "for=1.1.1.1;proto=http, for=10.0.0.1;proto=http",
    );
  });

  it("several lines of a trusted proxy as one, in order", () => {
    const lines = ["X-Forwarded-For", "1.1.1.1", "x-forwarded-for", "2.2.2.2", "X-Forwarded-Proto", "gopher"];
    const headers = told("10.0.0.1", lines, ["10.0.0.1"]);
    expect(headers).toContain("1.1.1.1, 2.2.2.2, 10.0.0.1");
    expect(headers[headers.indexOf("x-forwarded-proto") + 1]).toBe("http");
    expect(told("10.0.0.2", lines, ["10.0.0.1"])).toContain("10.0.0.2");
  });

  it.each([
    ["https", "https"],
    ["HTTPS", "https"],
    ["wss", "https"],
    ["ws", "http"],
    ["https, http", "https"],
    ["https,https", "https"],
    ["gopher", "http"],
    ["constructor", "http"],
  ])("of X-Forwarded-Proto: %s as %s", (said, proto) => {
    expect(toldIn("x-forwarded-proto", ["X-Forwarded-Proto", said])).toBe(proto);
  });

  it.each([
    ["for=1.1.1.1;proto=https", "https"],
    ["for=1.1.1.1; Proto=WSS, for=10.0.0.2;proto=http", "https"],
    ['for=1.1.1.1;host="a;proto=https";proto=http', "http"],
    ["for=1.1.1.1", "http"],
  ])("of Forwarded: %s the scheme, where it is believed", (said, proto) => {
    expect(toldIn("x-forwarded-proto", ["Forwarded", said], "forwarded")).toBe(proto);
    expect(toldIn("x-forwarded-proto", ["Forwarded", said])).toBe("http");
  });

  it("only what stands in the one header that is believed, whatever else a client has sent through a trusted proxy", () => {
    const both = ["X-Forwarded-For", "1.1.1.1", "Forwarded", "for=9.9.9.9, for=10.0.0.2", "CF-IP", "5.5.5.5"];
    expect(toldIn("x-forwarded-for", both)).toBe("1.1.1.1, 10.0.0.1");
    expect(toldIn("forwarded", both)).toBe("for=1.1.1.1;proto=http, for=10.0.0.1;proto=http");
    expect(toldIn("x-forwarded-for", both, "forwarded")).toBe("9.9.9.9, 10.0.0.1");
    expect(toldIn("forwarded", both, "forwarded")).toBe("for=9.9.9.9, for=10.0.0.2, for=10.0.0.1;proto=http");
    expect(toldIn("x-forwarded-for", both, "cf-ip")).toBe("5.5.5.5, 10.0.0.1");
    expect(toldIn("forwarded", both, "cf-ip")).toBe("for=5.5.5.5;proto=http, for=10.0.0.1;proto=http");
    expect(toldIn("x-forwarded-for", both, "x-other")).toBe("10.0.0.1");
  });
});

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { tellForwarded } from "./forwarded.js";
import { headerKinds } from "./header-kinds.js";
import { peerBook } from "./peers.js";
import { readHead } from "./request-head.js";

const kindOf = headerKinds({ clientIpHeader: "x-forwarded-for", identity: [] });

function told(remoteAddress: string, rawHeaders: string[], trusted: string[] = []): string[] {
  const peer = peerBook(trusted)({ remoteAddress } as Socket);
  const req = { method: "GET", url: "/", httpVersionMinor: 1, rawHeaders } as unknown as IncomingMessage;
  const head = readHead(req, peer, kindOf);
  head.headers = [];
  tellForwarded(head);
  return head.headers;
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
    const forwarded = (trusted: string[], more: string[] = []): string | undefined =>
      told("10.0.0.1", [...lines, ...more], trusted).at(-1);
    expect(forwarded(["10.0.0.1"])).toBe(
      'for=1.1.1.1;host="shop.ex";proto=https, for="[2001:db8::1]", for="[2001:db8::2]", for=unknown, for=unknown, for=10.0.0.1;host="ex.com";proto=http',
    );
    expect(forwarded([])).toBe('for=10.0.0.1;host="ex.com";proto=http');
    expect(forwarded(["10.0.0.1"], ["Forwarded", "for=9.9.9.9"])).toBe(
      'for=9.9.9.9, for=10.0.0.1;host="ex.com";proto=http',
    );
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
});

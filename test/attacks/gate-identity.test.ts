import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { createGate, memoryStore } from "tidegate";
import * as forExpress from "tidegate/express";
import * as forNode from "tidegate/node";
import { subjectOf } from "tidegate/testing";
import { afterEach, describe, expect, it } from "vitest";
import { listening } from "../adapters/serving.js";
import { requestFor, sendRaw } from "./gate-raw.js";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function portOf(server: Server): Promise<number> {
  const { close } = await listening(server);
  closing.push(close);
  return (server.address() as AddressInfo).port;
}

type Options = Parameters<typeof forNode.tidegate>[0];

/** No window ends while a test runs. */
const stoppedClock = () => 1_700_000_000_000;
const quiet = () => ({ store: memoryStore({ clock: stoppedClock }), onWarning: () => {} });

/** Apps that answer 200 to whoever is let in. */
const apps: Record<string, (options: Options, server?: { maxHeaderSize: number }) => Promise<number>> = {
  "node:http": (options, server = { maxHeaderSize: 16_384 }) =>
    portOf(
      createServer(
        server,
        forNode.tidegate({ ...quiet(), ...options })((_, res) => res.end()),
      ),
    ),
  Express: (options, server = { maxHeaderSize: 16_384 }) => {
    const app = express().set("env", "test");
    app.use(forExpress.tidegate({ ...quiet(), ...options }));
    app.use((_, res) => void res.end());
    return portOf(createServer(server, app));
  },
};

function statusOf(answer: string): number {
  return Number(answer.split(" ")[1]);
}

/** How each of these requests, sent one after the other, was answered. */
async function statuses(port: number, requests: readonly (readonly string[])[]): Promise<number[]> {
  const found: number[] = [];
  for (const lines of requests) found.push(statusOf(await sendRaw(port, requestFor("/", lines))));
  return found;
}

const refusedAfter = (passed: number, requests: readonly unknown[]): number[] =>
  requests.map((_, i) => (i < passed ? 200 : 429));

const threePerMinute = { limit: "3 per 1m" } as const;

/** Requests that claim to come from elsewhere. */
const spoofed: readonly (readonly string[])[] = [
  ["X-Forwarded-For: 198.51.100.1"],
  ["X-Forwarded-For: 198.51.100.2, 198.51.100.3"],
  ["X-Forwarded-For: 198.51.100.4", "X-Forwarded-For: 198.51.100.5", "x-forwarded-for: 198.51.100.6"],
  ["X-Forwarded-For: 198.51.100.7:4711"],
  ['X-Forwarded-For: "[2001:db8::1]:443"'],
  ["X-Forwarded-For: [2001:db8::2]"],
  ["X-Forwarded-For: ,,, ,"],
  ["X-Forwarded-For:"],
  ["X-Forwarded-For: unknown"],
  ["X-Forwarded-For: 127.0.0.1"],
  ["X-Forwarded-For: ::1"],
  ["X-Forwarded-For: \xff\xfe\x80"],
  [`X-Forwarded-For: ${"198.51.100.8, ".repeat(500)}198.51.100.9`],
  ["X-Real-IP: 198.51.100.10"],
  ["X-Client-IP: 198.51.100.11", "True-Client-IP: 198.51.100.12", "CF-Connecting-IP: 198.51.100.13"],
  ["Forwarded: for=198.51.100.14"],
  ['Forwarded: for="[2001:db8::3]:443";proto=https;by=198.51.100.15'],
  ["Forwarded: for=198.51.100.16, for=198.51.100.17", "Forwarded: for=_hidden"],
  ['Forwarded: for="unclosed'],
  ["Via: 1.1 proxy", "X-Forwarded-Host: elsewhere", "X-Forwarded-Proto: https", "X-Forwarded: 198.51.100.18"],
];

describe.each(Object.entries(apps))("who the client is, on %s", (_, serve) => {
  it("a spoofed proxy header is never believed", async () => {
    const port = await serve(threePerMinute);
    expect(await statuses(port, spoofed)).toEqual(refusedAfter(3, spoofed));
  });

  it("nor is one from a peer that is not among the trusted proxies", async () => {
    const port = await serve({ ...threePerMinute, trustedProxies: ["10.0.0.0/8", "192.0.2.1"] });
    expect(await statuses(port, spoofed)).toEqual(refusedAfter(3, spoofed));
  });

  it("behind a trusted proxy nothing a client wrote before it counts, nor any other header", async () => {
    const port = await serve({ ...threePerMinute, trustedProxies: ["loopback"] });
    const proxied = spoofed.map((lines) => [...lines, "X-Forwarded-For: 203.0.113.7"]);
    expect(await statuses(port, proxied)).toEqual(refusedAfter(3, proxied));
  });

  it("nor where the proxy tells in Forwarded", async () => {
    const port = await serve({
      ...threePerMinute,
      trustedProxies: ["loopback"],
      clientIpHeader: "forwarded",
    });
    const proxied = spoofed.map((lines) => [...lines, "Forwarded: for=203.0.113.7"]);
    expect(await statuses(port, proxied)).toEqual(refusedAfter(3, proxied));
  });

  it("one address is one client, however it is written", async () => {
    const port = await serve({ ...threePerMinute, trustedProxies: ["loopback"] });
    const ways = [
      "203.0.113.7",
      "203.0.113.7:80",
      "::ffff:203.0.113.7",
      "::FFFF:cb00:7107",
      "[::ffff:203.0.113.7]:443",
      "0:0:0:0:0:ffff:203.0.113.7",
      "0000:0000:0000:0000:0000:ffff:cb00:7107",
      "::ffff:203.0.113.7%eth0",
      "64:ff9b::203.0.113.7",
      " \t203.0.113.7 ",
    ].map((address) => [`X-Forwarded-For: ${address}`]);
    expect(await statuses(port, ways)).toEqual(refusedAfter(3, ways));
  });

  it("rotating addresses inside one /64 gives no fresh count", async () => {
    const port = await serve({ ...threePerMinute, trustedProxies: ["loopback"] });
    const rotating = Array.from({ length: 40 }, (_, i) => [
      `X-Forwarded-For: 2001:db8:1:2:${(i * 1597).toString(16)}:${i}::${i.toString(16)}`,
    ]);
    expect(await statuses(port, rotating)).toEqual(refusedAfter(3, rotating));
  });

  it("rotating user agents, cookies and keys gives no fresh count", async () => {
    const port = await serve(threePerMinute);
    const rotating = Array.from({ length: 20 }, (_, i) => [
      `User-Agent: agent/${i}`,
      `Cookie: session=${i}`,
      `Authorization: Bearer ${i}`,
      `X-API-Key: ${i}`,
      `Accept-Language: x-${i}`,
    ]);
    expect(await statuses(port, rotating)).toEqual(refusedAfter(3, rotating));
  });

  it.each([
    ["two thousand headers", Array.from({ length: 1990 }, (_, i) => `${i.toString(36)}:`)],
    ["one header two thousand times", Array.from({ length: 1000 }, () => "X-Forwarded-For: 1")],
    ["16 KiB of cookies", [`Cookie: ${"a=b; ".repeat(3200)}`]],
    ["a 15 KiB user agent", [`User-Agent: ${"sqlmap".repeat(2500)}`]],
  ])("%s are judged like none", async (_, lines) => {
    const port = await serve({
      rules: [
        { name: "ip", by: "ip", limits: ["3 per 1m"] },
        { name: "cookie", by: "cookie:session", limits: ["100 per 1m"] },
        { name: "tools", by: "broad", limits: ["100 per 1m"] },
        { name: "page", by: "standard", limits: ["100 per 1m"] },
      ],
    });
    const flood = Array.from({ length: 6 }, () => lines);
    expect(await statuses(port, flood)).toEqual(refusedAfter(3, flood));
  });

  it("where large headers are let in, a key of a megabyte is counted as any other", async () => {
    const port = await serve(
      { rules: [{ name: "key", by: "apiKey", limits: ["2 per 1m"] }] },
      { maxHeaderSize: 4_194_304 },
    );
    const huge = (end: string) => [`X-API-Key: ${"k".repeat(1_048_576)}${end}`];
    const requests = [huge("a"), huge("a"), huge("a"), huge("b")];
    expect(await statuses(port, requests)).toEqual([200, 200, 429, 200]);
  });

  it("padding before a session's cookie, or writing it otherwise, gives no fresh count", async () => {
    const port = await serve(
      { rules: [{ name: "session", by: "cookie:sid", limits: ["2 per 1m"] }] },
      { maxHeaderSize: 131_072 },
    );
    const ways = [
      "sid=secret",
      `${"pad=x; ".repeat(10_000)}sid=secret`,
      "sid=%73ecret",
      'sid="secret"',
      "  sid = secret ;",
      "sid=%73%65%63%72%65%74; sid=other",
    ].map((cookies) => [`Cookie: ${cookies}`]);
    expect(await statuses(port, ways)).toEqual(refusedAfter(2, ways));
  });
});

describe.each(Object.entries(apps))("odd requests, on %s", (_, serve) => {
  it.each<[string, string]>(
    [
      "http://elsewhere/x",
      "HTTPS://user:password@elsewhere:1/x?y#z",
      "a://b/x",
      "//elsewhere/x",
      "/",
      "/?",
      "/%",
      "/%00",
      `/${"\\".repeat(8000)}`,
      `/${"%2e%2e%2f".repeat(1500)}`,
      `/?${"a=b&".repeat(3000)}`,
    ].map((target) => [target.slice(0, 40), target] as [string, string]),
  )("the target %s is judged", async (_, target) => {
    const port = await serve({ rules: [{ name: "all", only: "/", by: "ip", limits: ["2 per 1m"] }] });
    const found: number[] = [];
    for (let i = 0; i < 3; i++) found.push(statusOf(await sendRaw(port, requestFor(target))));
    expect(found).toEqual([200, 200, 429]);
  });

  it.each(["*", "http://elsewhere"])("OPTIONS %s is judged", async (target) => {
    const port = await serve(threePerMinute);
    const found: number[] = [];
    for (let i = 0; i < 4; i++) found.push(statusOf(await sendRaw(port, requestFor(target, [], "OPTIONS"))));
    expect(found).toEqual([200, 200, 200, 429]);
  });

  it("many requests in one packet are judged one by one", async () => {
    const port = await serve(threePerMinute);
    const one = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const answer = await sendRaw(port, one.repeat(9) + requestFor("/"));
    const found = [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
    expect(found.filter((status) => status === 200)).toHaveLength(3);
    expect(found.filter((status) => status !== 200 && status !== 429)).toEqual([]);
  });

  it("a body that holds a request is not one", async () => {
    const port = await serve(threePerMinute);
    const inner = "GET /inner HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const lines = [`Content-Length: ${inner.length}`];
    const found: number[] = [];
    for (let i = 0; i < 4; i++) {
      const answer = await sendRaw(port, `${requestFor("/", lines, "POST")}${inner}`);
      expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toHaveLength(1);
      found.push(statusOf(answer));
    }
    expect(found).toEqual([200, 200, 200, 429]);
  });
});

describe("an app's own functions", () => {
  it.each([
    ["by", { name: "own", by: brokenBy, limits: ["100 per 1m"] }],
    ["cost", { name: "own", by: "ip", limits: ["100 per 1m"], cost: brokenCost }],
    ["only", { name: "own", by: "ip", limits: ["100 per 1m"], only: brokenOnly }],
    ["except", { name: "own", by: "ip", limits: ["100 per 1m"], except: brokenOnly }],
  ] as const)("a request that breaks a rule's %s does not pass by the other rules", async (_, own) => {
    const port = await (apps["node:http"] as (options: Options) => Promise<number>)({
      rules: [own, { name: "ip", by: "ip", limits: ["3 per 1m"] }],
    });
    const requests = [[], [], [], [], []];
    expect(await statuses(port, requests)).toEqual(refusedAfter(3, requests));
  });

  it("one that breaks the rule's own by is counted by its address", async () => {
    const gate = createGate({ ...quiet(), rules: [{ name: "own", by: brokenBy, limits: ["2 per 1m"] }] });
    const allowed: boolean[] = [];
    for (let i = 0; i < 3; i++) allowed.push((await gate.decide(subjectOf("203.0.113.7"))).allowed);
    expect(allowed).toEqual([true, true, false]);
    expect((await gate.decide(subjectOf("203.0.113.8"))).allowed).toBe(true);
  });

  function brokenBy(): string {
    throw new Error("no such header");
  }
  function brokenCost(): number {
    throw new Error("no such body");
  }
  function brokenOnly(): boolean {
    throw new Error("no such path");
  }
});

describe("claimed names", () => {
  it.each<[string, string]>(
    [
      "victim",
      "VICTIM",
      " victim",
      `${" ".repeat(5000)}victim`,
      `victim${" ".repeat(5000)}`,
      `${"\t\n\u00a0\u2003\ufeff".repeat(1000)}victim`,
      "ｖｉｃｔｉｍ",
      "victⅰm",
    ].map((account) => [account.slice(0, 20), account] as [string, string]),
  )("%j is the account victim", async (_, account) => {
    const gate = createGate({
      ...quiet(),
      rules: [{ name: "account", by: "account", limits: ["1 per 1m"] }],
    });
    expect((await gate.decide(subjectOf("203.0.113.7", { account: "victim" }))).allowed).toBe(true);
    expect((await gate.decide(subjectOf("203.0.113.8", { account }))).allowed).toBe(false);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { proxyLine, startVarnish, type Varnish } from "../servers/varnish.js";
import { exchange, openVarnish, type VarnishRig } from "./edge-varnish-rig.js";

const held = "203.0.113.7";
const free = "203.0.113.200";
/** So many headers fewer than without us, as the manual says. */
const ours = 3;

/** A site that takes any way there is, and tries again whatever fails. */
const siteVcl = `
sub vcl_recv {
  if (req.url ~ "^/pass") { return (pass); }
  if (req.url ~ "^/pipe") { return (pipe); }
}
sub vcl_synth {
  if (req.url ~ "again" && req.restarts < 4) { return (restart); }
}
`;

let rig: VarnishRig;
let plain: Varnish;
beforeAll(async () => {
  rig = await openVarnish({ vcl: siteVcl });
  plain = await startVarnish({
    vcl: `vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "${rig.origin.port}"; }${siteVcl}`,
  });
}, 60_000);
afterAll(async () => {
  await plain?.stop();
  await rig?.close();
});
beforeEach(() => {
  rig.origin.seen.length = 0;
});

interface Filled {
  readonly count: number;
  readonly address?: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: readonly string[];
  readonly at?: number;
}

/** A request of so many headers. */
async function send({ count, address = free, method = "GET", headers = [], ...rest }: Filled) {
  const body = method === "POST" ? "a=1" : "";
  const lines = ["Host: shop.example", "Connection: close", ...headers];
  if (body !== "") lines.push(`Content-Length: ${body.length}`);
  while (lines.length < count) lines.push(`X-H${lines.length}: aaaaa`);
  const path = rest.path ?? `/${method}-${count}-${address}`;
  const head = [`${method} ${path} HTTP/1.1`, ...lines].join("\r\n");
  return exchange(rest.at ?? rig.varnish.port, `${proxyLine(address)}${head}\r\n\r\n${body}`);
}

const counts = Array.from({ length: 25 }, (_, i) => 40 + i);

/** How many headers Varnish takes by itself. */
async function most(): Promise<number> {
  let count = 40;
  while ((await send({ count: count + 1, at: plain.port })).status === 200) count++;
  return count;
}

describe("requests with many headers", { timeout: 60_000 }, () => {
  it.each(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])(
    "of a held client reach no origin: %s",
    async (method) => {
      expect((await rig.order("PUT", `/tidegate/${held}`)).status).toBe(200);
      const taken = await most();
      rig.origin.seen.length = 0;
      for (const count of counts)
        for (const way of ["/", "/pass", "/pipe", "/again", "/pass-again"]) {
          const path = `${way}?${method}-${count}`;
          const { status } = await send({ count, method, path, address: held });
          // For a pipe Varnish itself needs one more.
          const refused = way === "/pipe" && count === taken - ours ? [429, 503] : [429];
          expect([path, status]).toEqual([
            path,
            expect.toBeOneOf(count <= taken - ours ? refused : [400, 431]),
          ]);
        }
      expect(rig.origin.seen).toEqual([]);
    },
  );

  it("of a held client that brings names of ours reach no origin", async () => {
    expect((await rig.order("PUT", `/tidegate/${held}`)).status).toBe(200);
    const headers = ["X-Tidegate-Step: first", "X-Reject: free", "X-Tidegate-Url: /", "X-Tidegate-Host: a"];
    for (const count of counts)
      for (const path of ["/forged", "/forged-again"]) await send({ count, headers, path, address: held });
    expect(rig.origin.seen).toEqual([]);
  });

  it.each(["GET", "POST"])("of others pass whole, or not at all: %s", async (method) => {
    const taken = await most();
    for (const count of counts) {
      rig.origin.seen.length = 0;
      const { status } = await send({ count, method });
      expect([count, status]).toEqual([count, count <= taken - ours ? 200 : count <= taken + 1 ? 431 : 400]);
      expect(rig.origin.seen).toHaveLength(status === 200 ? 1 : 0);
      if (status !== 200) continue;
      const { headers } = rig.origin.seen[0] as (typeof rig.origin.seen)[number];
      expect(Object.keys(headers).filter((name) => name.startsWith("x-h"))).toHaveLength(
        count - (method === "POST" ? 3 : 2),
      );
      expect(headers).toMatchObject({ host: "shop.example", "x-forwarded-for": free });
      expect(Object.keys(headers).filter((name) => /tidegate|reject/.test(name))).toEqual([]);
    }
  });

  it("of those who would be held in shadow pass, marked", async () => {
    const taken = await most();
    expect((await rig.order("PUT", `/tidegate/${held}`)).status).toBe(200);
    await rig.order("PUT", "/tidegate/mode?value=shadow");
    rig.origin.seen.length = 0;
    const headers = ["Accept-Encoding: gzip"];
    const { status } = await send({ count: taken - ours, path: "/shadow", headers, address: held });
    await rig.order("DELETE", "/tidegate/mode");
    expect(status).toBe(200);
    expect(rig.origin.seen[0]?.headers["tidegate-edge"]).toBe("would-refuse");
  });

  it("pass where there is more room", async () => {
    rig.admin("param.set", "http_max_hdr", "128");
    expect((await send({ count: 100, path: "/room" })).status).toBe(200);
    rig.origin.seen.length = 0;
    expect((await send({ count: 100, path: "/room-2", address: held })).status).toBe(429);
    expect(rig.origin.seen).toEqual([]);
    rig.admin("param.set", "http_max_hdr", "64");
  });
});

describe("requests that fill Varnish's memory", { timeout: 60_000 }, () => {
  const long = (size: number) => "a".repeat(Math.max(1, size));
  it.each<[string, (size: number) => { path?: string; host?: string; userAgent?: string }]>([
    ["URL", (size) => ({ path: `/${long(size)}` })],
    ["host", (size) => ({ host: long(size / 2) })],
    ["URL and user agent", (size) => ({ path: `/${long(size / 2)}`, userAgent: long(size / 2) })],
    ["URL and host", (size) => ({ path: `/${long(size / 2)}`, host: long(size / 2) })],
  ])("by their %s reach no origin if held, and no other one changed", async (_, made) => {
    expect((await rig.order("PUT", `/tidegate/${held}`)).status).toBe(200);
    for (let size = 9_000; size < 18_000; size += 50) {
      const sent = { host: "shop.example", ...made(size) };
      rig.origin.seen.length = 0;
      await rig.send({ ...sent, address: held });
      expect(rig.origin.seen).toEqual([]);
      await rig.send({ ...sent, method: "POST", body: "a=1", address: free });
      for (const seen of rig.origin.seen)
        expect(seen).toMatchObject({ url: sent.path ?? "/", headers: { host: sent.host } });
    }
  });
});

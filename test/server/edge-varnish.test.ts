import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { standardFingerprint } from "../../packages/tidegate/src/policy/identity/fingerprint.js";
import { proxyLine } from "../servers/varnish.js";
import { type Answer, exchange, openVarnish, type SendOptions, type VarnishRig } from "./edge-varnish-rig.js";

/** What a site's own VCL may do, beside ours. */
const siteVcl = `
import std;
sub vcl_recv {
  if (req.url ~ "^/pass") { return (pass); }
  if (req.http.Upgrade) { return (pipe); }
  if (req.url ~ "^/fresh-only") { set req.grace = 0s; set req.hash_always_miss = true; }
  if (req.url ~ "^/again" && req.http.X-Tidegate-Step == "first") { return (restart); }
  if (req.url ~ "^/synth") { return (synth(700, "Mine")); }
}
sub vcl_pipe {
  set bereq.http.Connection = "Upgrade";
  set bereq.http.Upgrade = req.http.Upgrade;
}
sub vcl_backend_response {
  set beresp.grace = 1h;
  if (bereq.url ~ "^/esi") { set beresp.do_esi = true; }
  if (bereq.url ~ "^/hit-for-miss") { set beresp.uncacheable = true; set beresp.ttl = 1h; }
  if (bereq.url ~ "^/hit-for-pass") { return (pass(1h)); }
}
`;

const held = "203.0.113.7";
const free = "203.0.113.200";
const later = (seconds = 300): number => Math.floor(Date.now() / 1_000) + seconds;

let rig: VarnishRig;
let count = 0;
/** No two tests share a page. */
let page: string;

beforeAll(async () => {
  rig = await openVarnish({ vcl: siteVcl });
}, 60_000);
afterAll(() => rig?.close());
beforeEach(async () => {
  page = `/page-${count++}`;
  rig.origin.seen.length = 0;
  rig.origin.status = 200;
  rig.origin.headers = {};
  rig.origin.body = undefined;
  await hold(held);
  return async () => {
    for (const key of ["mode", held]) await rig.order("DELETE", `/tidegate/${key}`);
  };
});

async function hold(key: string, until: number | "true" = later()): Promise<void> {
  expect(
    (await rig.order("PUT", `/tidegate/${key}${until === "true" ? "" : `?until=${until}`}`)).status,
  ).toBe(200);
}
const release = (key: string) => rig.order("DELETE", `/tidegate/${key}`);
const setMode = (mode: string) => rig.order("PUT", `/tidegate/mode?value=${mode}`);
const byHeld = (options: SendOptions = {}) => rig.send({ path: page, ...options, address: held });
const byFree = (options: SendOptions = {}) => rig.send({ path: page, ...options, address: free });

function expectRefused(answer: Answer, seen = 0): void {
  expect(answer.statusLine).toBe("HTTP/1.1 429 Too Many Requests");
  expect(answer.headers).toMatchObject({ "content-type": "text/html", "cache-control": "no-store" });
  expect(Number(answer.headers["retry-after"])).toBeGreaterThanOrEqual(1);
  expect(rig.origin.seen).toHaveLength(seen);
}

describe("a held client at Varnish", () => {
  it("is refused with the exact answer where nothing is cached, and the origin hears nothing", async () => {
    const answer = await byHeld();
    expectRefused(answer);
    expect(answer.body).toBe("<h1>Too Many Requests</h1>");
    expect(answer.headers["content-length"]).toBe("26");
    const left = Number(answer.headers["retry-after"]);
    expect(left).toBeGreaterThan(200);
    expect(left).toBeLessThanOrEqual(300);
  });

  it("gets what is cached, and the origin hears nothing", async () => {
    const first = await byFree();
    expect(await byHeld()).toMatchObject({ status: 200, body: expect.stringContaining("the origin, 1") });
    expect(first.status).toBe(200);
    expect(rig.origin.seen).toHaveLength(1);
  });

  it("gets what is stale as it is: nothing is fetched, not even in the background", async () => {
    rig.origin.headers = { "cache-control": "max-age=1" };
    await byFree();
    await sleep(1_500);
    // A client may ask for headers to be dropped on the way: not for ours.
    const dropped = "Connection: close, X-Reject, X-Tidegate-Step, X-Tidegate-Key";
    for (const headers of [[], [dropped], [dropped, "X-Reject: a", "X-Reject: b"]])
      expect((await byHeld({ headers })).body).toContain("the origin, 1");
    await sleep(200);
    expect(rig.origin.seen).toHaveLength(1);
    expect((await byFree()).body).toContain("the origin, 1");
    await vi.waitFor(() => expect(rig.origin.seen).toHaveLength(2), { timeout: 10_000 });
  });

  it("gets what is cached even where the site's VCL wants it fresh, rather than ask the origin", async () => {
    page = `/fresh-only${page}`;
    rig.origin.headers = { "cache-control": "max-age=1" };
    await byFree();
    await byFree();
    expect(rig.origin.seen).toHaveLength(2);
    await sleep(1_500);
    expect((await byHeld()).status).toBe(200);
    expect(rig.origin.seen).toHaveLength(2);
  });

  it("gets no cached page for a POST, nor for any other method that changes something", async () => {
    await byFree();
    for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PURGE", "BREW"])
      expectRefused(await byHeld({ method, body: "a=1" }), 1);
  });

  it("is answered HEAD like GET: cached, or refused without a body", async () => {
    expectRefused(await byHeld({ method: "HEAD" }));
    expect((await byHeld({ method: "HEAD" })).body).toBe("");
    await byFree();
    expect((await byHeld({ method: "HEAD" })).status).toBe(200);
    expect(rig.origin.seen).toHaveLength(1);
  });

  it.each(["/pass", "/hit-for-miss", "/hit-for-pass"])("reaches no origin by %s", async (way) => {
    page = way + page;
    expectRefused(await byHeld());
    await byFree();
    await byFree();
    expectRefused(await byHeld(), 2);
  });

  it("can not upgrade to something that is not looked at", async () => {
    const headers = ["Connection: Upgrade", "Upgrade: echo"];
    expectRefused(await byHeld({ headers }));
    expect((await byFree({ headers })).status).toBe(101);
    expect(rig.origin.seen[0]?.headers).not.toHaveProperty("x-tidegate-step");
  });

  it("stays held when the site's VCL restarts", async () => {
    page = `/again${page}`;
    expectRefused(await byHeld());
    expect((await byFree()).status).toBe(200);
  });

  it("gets a page made of parts from the cache, and a part that is not there is refused in its place", async () => {
    const part = `/pass${page}`;
    page = `/esi${page}`;
    rig.origin.body = `<p>before <esi:include src="${part}"/> after</p>`;
    expectRefused(await byHeld());
    expect((await byFree()).status).toBe(200);
    expect(rig.origin.seen.map(({ url }) => url)).toEqual([page, part]);
    const { status, body } = await byHeld();
    expect(status).toBe(200);
    expect(body).toContain("<p>before ");
    expect(body).toContain("<h1>Too Many Requests</h1>");
    expect(rig.origin.seen).toHaveLength(2);
  });

  it("passes at once when removed, and when the entry has ended", async () => {
    expectRefused(await byHeld());
    await release(held);
    expect((await byHeld()).status).toBe(200);
    await hold(held, later(2));
    page += "-next";
    expect((await byHeld()).status).toBe(429);
    await vi.waitFor(async () => expect((await byHeld()).status).toBe(200), {
      timeout: 20_000,
      interval: 100,
    });
  });

  it("an entry without an end holds until it is removed", async () => {
    await release(held);
    await hold(held, "true");
    const answer = await byHeld();
    expectRefused(answer);
    expect(answer.headers["retry-after"]).toBe("60");
    expect((await rig.order("GET", `/tidegate/${held}`)).text).toMatch(/^true \d+\n$/);
    await release(held);
    expect((await byHeld()).status).toBe(200);
  });
});

describe("everybody else", () => {
  it("passes, and the origin gets the request as it was sent", async () => {
    const answer = await byFree({
      method: "POST",
      path: `${page}?a=b#c`,
      body: "x=1",
      userAgent: "caf\xe9",
      headers: ["X-Own: 1"],
    });
    expect(answer.status).toBe(200);
    expect(rig.origin.seen).toMatchObject([
      {
        method: "POST",
        url: `${page}?a=b#c`,
        body: "x=1",
        headers: { host: "shop.example", "user-agent": "caf\xe9", "x-own": "1" },
      },
    ]);
  });

  it("never shows our headers to the origin, nor to a client", async () => {
    const answer = await byFree();
    const names = [...Object.keys(rig.origin.seen[0]?.headers ?? {}), ...Object.keys(answer.headers)];
    expect(names.filter((name) => /tidegate|reject/.test(name))).toEqual([]);
  });

  it("gets the origin's own 503 and the site's own answers unchanged", async () => {
    rig.origin.status = 503;
    expect(await byFree()).toMatchObject({ status: 503, body: expect.stringContaining("the origin") });
    expect((await byFree({ path: "/synth" })).statusLine).toBe("HTTP/1.1 700 Mine");
  });

  it("gains nothing and loses nothing by headers of ours", async () => {
    const until = String(later());
    const forged = [
      "X-Reject: true",
      "Tidegate-Edge: would-refuse",
      "X-Tidegate-Step: looked",
      "X-Tidegate-Key: 203.0.113.200",
      "X-Tidegate-Value: true",
      `X-Tidegate-Left: ${until}`,
      "X-Tidegate-Url: /elsewhere",
      "X-Tidegate-Host: elsewhere",
      "X-Tidegate-Found: true",
      "X-Tidegate-Purged: 1",
    ];
    expect((await byFree({ headers: forged })).status).toBe(200);
    expect(rig.origin.seen).toMatchObject([{ url: page, headers: { host: "shop.example" } }]);
    expect(
      Object.keys(rig.origin.seen[0]?.headers ?? {}).filter((name) => /tidegate|reject/.test(name)),
    ).toEqual([]);
    page += "-next";
    for (const step of ["first", "again", "free", "shadow", "broad", "mode 1"])
      expectRefused(
        await byHeld({
          headers: [`X-Tidegate-Step: ${step}`, `X-Reject: ${step}`, "X-Tidegate-Url: /elsewhere"],
        }),
        1,
      );
  });

  it("reaches the table neither by URL nor by host", async () => {
    for (const path of [`/tidegate/${held}`, "/tidegate/mode", held, "tidegate"])
      for (const host of ["tidegate", "tidegate table", held])
        expect([200, 400]).toContain((await byFree({ path, host })).status);
    expectRefused(await byHeld(), rig.origin.seen.length);
  });

  it("is refused no request for its length", async () => {
    const long = "a".repeat(7_000);
    const options = { path: `/${long}${page}`, headers: [`Cookie: ${long}`, `X-More: ${long}`] };
    expect((await byFree(options)).status).toBe(200);
    expectRefused(await byHeld(options), 1);
  });
});

describe("who is looked up", () => {
  const userAgent = `a "hostile"; } sub vcl_recv { return (pass); } \\ %0d%0a <agent>`;
  const sized = (...parts: string[]) =>
    createHash("sha256")
      .update(parts.map((part) => `${Buffer.byteLength(part, "latin1")}:${part}`).join(""), "latin1")
      .digest("hex");

  it("a client on one path, by standard: free on all others, and with another agent", async () => {
    const key = sized("shop.example", "/foo", "GET", free, userAgent);
    await hold(key);
    expect((await byFree({ path: "/foo?q=1", host: "Shop.Example:8080", userAgent })).status).toBe(429);
    expect((await byFree({ path: "/bar", userAgent })).status).toBe(200);
    expect((await byFree({ path: "/foo", userAgent: "other" })).status).toBe(200);
    expect((await byFree({ path: "/foo", method: "POST", userAgent })).status).toBe(200);
    await release(key);
  });

  it("a tool on all paths, by broad", async () => {
    const key = sized(free, "Wfuzz/2.4");
    await hold(key);
    for (const path of ["/x1", "/x2", "/x3"])
      expect((await byFree({ path, userAgent: "Wfuzz/2.4" })).status).toBe(429);
    expect((await byFree({ path: "/x1", userAgent: "Mozilla" })).status).toBe(200);
    await release(key);
  });

  it.each([
    [
      "2001:db8:1:2::/64",
      ["2001:db8:1:2::1", "2001:db8:1:2:ffff:1:2:3"],
      ["2001:db8:1:3::1", "2001:db8:1:20::1"],
    ],
    [
      "2001:db8::/64",
      ["2001:db8::1", "2001:db8::a:0:0:1", "2001:db8:0:0:1:2:3:4"],
      ["2001:db8:0:1::", "2001:db8:1::"],
    ],
    ["2001:db8:5::/64", ["2001:db8:5::", "2001:db8:5:0:1:2:3:4"], ["2001:db8:5:1::"]],
    ["2001:0:0:1::/64", ["2001:0:0:1::9", "2001::1:9:8:7:6"], ["2001::1:9:8:7"]],
    ["0:0:0:7::/64", ["::7:1:2:3:4", "0:0:0:7::1"], ["::7"]],
    ["0:0:3:4::/64", ["::3:4:5:6:7:8", "0:0:3:4::"], ["::3:4"]],
    ["::/64", ["::2", "::1:2:3:4"], ["1::"]],
    ["2001:db8:0:1::/64", ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1::"], ["2001:db8::1"]],
    ["2001:db8:6:7::/64", ["2001:db8:6:7:8::", "2001:db8:6:7:0:1::"], ["2001:db8:6::7"]],
  ])("IPv6 clients by their block: %s", async (block, inside, outside) => {
    await hold(block);
    for (const address of inside) expect((await rig.send({ path: page, address })).status, address).toBe(429);
    for (const address of outside)
      expect((await rig.send({ path: page, address })).status, address).toBe(200);
    await release(block);
  });

  it("IPv4 inside IPv6, and behind NAT64, is IPv4", async () => {
    expectRefused(await rig.send({ path: page, address: `::ffff:${held}` }));
    expectRefused(await rig.send({ path: page, address: "64:ff9b::cb00:7107" }));
    for (const address of ["64:ff9b::cb00:7108", "64:ff9b::1:cb00:7107", "64:ff9b:1::cb00:7107"])
      expect((await rig.send({ path: page, address })).status, address).toBe(200);
    for (const [key, address] of [
      ["0.0.113.7", "64:ff9b::7107"],
      ["0.0.0.0", "64:ff9b::"],
      ["203.0.0.0", "64:ff9b::cb00:0"],
    ] as const) {
      await hold(key);
      expect((await rig.send({ path: page + key, address })).status, address).toBe(429);
      await release(key);
    }
  });

  it.each([
    ["without a host", `GET / HTTP/1.0`],
    ["without a host, for the head", "HEAD / HTTP/1.0"],
    ["without a host, on IPv6", "GET /v6 HTTP/1.0"],
    ["with an empty host", "GET / HTTP/1.1\r\nHost:"],
    ["for the head", "HEAD /head HTTP/1.1\r\nHost: shop.example"],
    ["for a whole address", "GET http://shop.example/whole?a HTTP/1.1\r\nHost: shop.example"],
    ["for a whole address without a path", "GET http://shop.example HTTP/1.1\r\nHost: shop.example"],
    ["for a whole address with a query", "GET http://shop.example?a=/b HTTP/1.1\r\nHost: shop.example"],
    ["for a whole address of another host", "GET http://a.example/c HTTP/1.1\r\nHost: shop.example"],
    ["for a whole address, encrypted", "GET https://shop.example/d HTTP/1.1\r\nHost: shop.example"],
  ])("a request %s, as the perimeter behind counts it", async (name, head) => {
    const address = name.includes("IPv6") ? "2001:db8::7" : free;
    rig.origin.headers = { "cache-control": "no-store" };
    const send = () =>
      exchange(rig.varnish.port, `${proxyLine(address)}${head}\r\nConnection: close\r\n\r\n`);
    const { status } = await send();
    const { method = "", url: path = "", headers } = rig.origin.seen[0] ?? {};
    expect(status).toBe(200);
    const facts = { host: String(headers?.host), path, method, address, userAgent: "" };
    const key = standardFingerprint(facts, "sha256");
    await hold(key);
    expect((await send()).status).toBe(429);
    await release(key);
  });

  it("a request of HTTP/1.1 without a host is none", async () => {
    const { status } = await exchange(rig.varnish.port, `${proxyLine(free)}GET /pass HTTP/1.1\r\n\r\n`);
    expect([status, rig.origin.seen.length]).toEqual([400, 0]);
  });
});

describe("modes", () => {
  it("shadow lets pass and tells the origin, off lets pass and says nothing, on refuses again: entries are kept", async () => {
    for (const mode of ["shadow", "off", "on", "shadow", "on"]) {
      rig.origin.seen.length = 0;
      page += `-${mode}`;
      await setMode(mode);
      const answer = await byHeld({ headers: ["Tidegate-Edge: forged"] });
      if (mode === "on") expectRefused(answer);
      else {
        expect(answer.status).toBe(200);
        expect(rig.origin.seen[0]?.headers["tidegate-edge"]).toBe(
          mode === "shadow" ? "would-refuse" : undefined,
        );
        expect((await byHeld({ method: "POST", body: "x" })).status).toBe(200);
      }
    }
  });

  it("holds in shadow only mark whom they hold", async () => {
    await setMode("shadow");
    await byFree({ headers: ["Tidegate-Edge: would-refuse"] });
    expect(rig.origin.seen[0]?.headers).not.toHaveProperty("tidegate-edge");
  });
});

describe("orders", () => {
  it("from clients are ordinary requests", async () => {
    for (const method of ["PUT", "DELETE", "GET"]) {
      await byFree({ method, path: `/tidegate/${held}?until=${later(1_000)}` });
      await byFree({ method, path: `/tidegate/${free}` });
    }
    expect(rig.origin.seen).toHaveLength(6);
    expect((await rig.order("GET", `/tidegate/${free}`)).status).toBe(404);
    expectRefused(await byHeld(), 6);
  });

  it("are only of keys that are looked up", async () => {
    const digest = "ab".repeat(32);
    for (const key of [
      "",
      "x",
      "203.0.113.7/24",
      "2001:db8::1",
      "2001:db8::/48",
      "ab".repeat(20),
      digest.toUpperCase(),
      `${digest}0`,
      `${digest}?until=-1`,
      `${digest}?until=1e9`,
      `${digest}?until=`,
      `${digest}?x=1`,
      "mode?value=other",
      "mode?until=1",
      "marker?value=%22",
      "../tidegate/mode",
      "mode%0a",
    ])
      expect((await rig.order("PUT", `/tidegate/${key}`)).status, key).toBe(400);
    expect((await rig.order("POST", `/tidegate/${digest}`)).status).toBe(405);
    expect((await rig.order("GET", "/")).status).toBe(400);
    expect(rig.origin.seen).toHaveLength(0);
  });

  it("say when an entry ends, and how long that is", async () => {
    const until = later(60);
    await hold(held, until);
    const { status, text } = await rig.order("GET", `/tidegate/${held}`);
    expect(status).toBe(200);
    expect(text).toMatch(new RegExp(`^${until} [0-9]{1,2}\\n$`));
    await release(held);
    expect(await rig.order("GET", `/tidegate/${held}`)).toMatchObject({ status: 404 });
  });

  it("replace an entry, be it longer or shorter, and leave no second one", async () => {
    for (const seconds of [500, 100, 900, 50]) {
      const until = later(seconds);
      await hold(held, until);
      expect((await rig.order("GET", `/tidegate/${held}`)).text).toContain(String(until));
      expect(Number((await byHeld()).headers["retry-after"])).toBeLessThanOrEqual(seconds);
    }
    await sleep(1_500);
    await release(held);
    expect((await byHeld()).status).toBe(200);
  });

  it("to hold until a time that has passed release", async () => {
    await hold(held, later(-10));
    expect((await byHeld()).status).toBe(200);
  });

  it("of control leave alone what people put there without an end", async () => {
    await release(held);
    await hold(held, "true");
    const only = { "Tidegate-Only": "timed" };
    expect((await rig.order("PUT", `/tidegate/${held}?until=${later()}`, only)).status).toBe(409);
    expect((await rig.order("DELETE", `/tidegate/${held}`, only)).status).toBe(409);
    expect((await rig.order("GET", `/tidegate/${held}`)).text).toMatch(/^true /);
  });

  it("outlive what a site bans of its pages", async () => {
    await byFree();
    rig.admin("ban", `req.url ~ ^${page}`);
    rig.admin("ban", "req.http.host == shop.example");
    expectRefused(await byHeld(), 1);
  });
});

describe("who may give orders", () => {
  let guarded: VarnishRig;
  beforeAll(async () => {
    const { Secret } = await import("../../packages/tidegate-server/src/secret.js");
    guarded = await openVarnish({
      render: {
        token: new Secret("the-token-of-control"),
        ipv6Prefix: 128,
        storage: "table",
        graceSeconds: 3600,
      },
      args: ["-s", "table=default,1m", "-p", "workspace_client=128k"],
    });
  }, 60_000);
  afterAll(() => guarded?.close());

  const told = { Authorization: "Bearer the-token-of-control" };

  it("who knows the token", async () => {
    for (const headers of [{}, { Authorization: "Bearer guess" }, { Authorization: "the-token-of-control" }])
      for (const method of ["GET", "PUT", "DELETE"])
        expect((await guarded.order(method, `/tidegate/${held}`, headers)).status).toBe(401);
    for (const until of ["", `?until=${later()}`, `?until=${later(900)}`, ""])
      expect((await guarded.order("PUT", `/tidegate/${held}${until}`, told)).status).toBe(200);
    expect((await guarded.order("GET", `/tidegate/${held}`, told)).text).toMatch(/^true /);
    expect((await guarded.send({ address: held })).status).toBe(429);
  });

  it("IPv6 clients are held by their whole address if it is rendered so", async () => {
    expect((await guarded.order("PUT", "/tidegate/2001:db8::1:1", told)).status).toBe(200);
    expect((await guarded.order("PUT", "/tidegate/2001:db8::/64", told)).status).toBe(400);
    expect((await guarded.send({ address: "2001:db8::1:1" })).status).toBe(429);
    expect((await guarded.send({ address: "2001:db8::1:2" })).status).toBe(200);
  });

  it("pages are kept longer for those who are held", async () => {
    guarded.origin.headers = { "cache-control": "max-age=1" };
    guarded.origin.seen.length = 0;
    const path = "/kept";
    await guarded.send({ path, address: free });
    await sleep(1_500);
    expect((await guarded.send({ path, address: held })).body).toContain("the origin, 1");
    expect(guarded.origin.seen).toHaveLength(1);
  });

  it("with more room the longest requests pass too", async () => {
    const long = "a".repeat(7_000);
    const headers = [`Cookie: ${long}`, `X-More: ${long}`];
    expect((await guarded.send({ address: free, path: `/${long}`, userAgent: long, headers })).status).toBe(
      200,
    );
  });

  it("nobody from elsewhere", async () => {
    const elsewhere = await openVarnish({ render: { control: ["192.0.2.1"] } });
    try {
      expect((await elsewhere.order("PUT", `/tidegate/${held}`)).status).toBe(403);
      expect((await elsewhere.send({ address: held })).status).toBe(200);
    } finally {
      await elsewhere.close();
    }
  });
});

import { request as httpRequest, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import {
  closeAll,
  deadPort,
  type Echoed,
  echo,
  eventually,
  openRig,
  openUpstream,
  raw,
} from "./proxy-rig.js";

afterEach(closeAll);

async function echoed(response: Response): Promise<Echoed> {
  return (await response.json()) as Echoed;
}

describe("a request passed on", () => {
  it("arrives with its method, path, query, headers and body as sent", async () => {
    const app = await openUpstream(echo);
    const { url } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const got = await echoed(
      await fetch(`${url}/a%2Fb//c/../d?x=%20&y=ä`, {
        method: "PUT",
        body: "hello",
        headers: { "X-Mine": "1", Authorization: "Basic eDp5" },
      }),
    );
    expect(got).toMatchObject({ method: "PUT", body: "hello" });
    expect(got.headers).toMatchObject({ "x-mine": "1", authorization: "Basic eDp5", "content-length": "5" });
    const direct = await raw(
      app.port,
      "GET /a%2Fb//c/../d;p?x=1 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
    );
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const passed = await raw(
      port,
      "GET /a%2Fb//c/../d;p?x=1 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
    );
    for (const text of [direct, passed]) expect(text).toContain('"url":"/a%2Fb//c/../d;p?x=1"');
  });

  it("keeps its Host, and the upstream's own where an HTTP/1.0 client sent none", async () => {
    const app = await openUpstream(echo);
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    expect(await raw(port, "GET / HTTP/1.1\r\nHost: shop.example:81\r\nConnection: close\r\n\r\n")).toContain(
      '"host":"shop.example:81"',
    );
    const old = await raw(port, "GET /old HTTP/1.0\r\n\r\n");
    expect(old).toContain(`"host":"127.0.0.1:${app.port}"`);
    expect(old).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(old).not.toMatch(/transfer-encoding/i);
  });

  it("carries a body with any method, and a length of zero", async () => {
    const app = await openUpstream(echo);
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    for (const method of ["GET", "DELETE", "OPTIONS", "POST", "PATCH"]) {
      const head = `${method} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n`;
      expect(await raw(port, `${head}Content-Length: 3\r\n\r\nabc`)).toContain('"body":"abc"');
      expect(await raw(port, `${head}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`)).toContain(
        '"body":"abc"',
      );
      expect(await raw(port, `${head}Content-Length: 0\r\n\r\n`)).toContain('"body":""');
      expect(await raw(port, `${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`)).toContain('"body":""');
    }
  });

  it("leaves the headers of this hop behind, both ways, and what Connection names", async () => {
    const app = await openUpstream((req, res) => {
      res.setHeader("Connection", "close, X-Hop");
      res.setHeader("X-Hop", "secret");
      res.setHeader("Proxy-Authenticate", "Basic");
      res.setHeader("Keep-Alive", "timeout=77");
      res.setHeader("X-End", "to end");
      echo(req, res);
    });
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const text = await raw(
      port,
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: close, X-Mine, Host\r\nConnection: X-Other\r\nX-Mine: mine\r\nX-Other: other\r\nKeep-Alive: 5\r\nTE: trailers\r\nTrailer: x\r\nProxy-Authorization: Basic abc\r\nX-Kept: kept\r\n\r\n",
    );
    const sent = (JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)) as Echoed).headers;
    expect(sent).toMatchObject({ host: "a", "x-kept": "kept", connection: "keep-alive" });
    for (const name of ["x-mine", "x-other", "keep-alive", "te", "trailer", "proxy-authorization"])
      expect(sent).not.toHaveProperty(name);
    const head = text.slice(0, text.indexOf("\r\n\r\n"));
    expect(head).toMatch(/x-end: to end/i);
    expect(head).not.toMatch(/x-hop|proxy-auth|timeout=77/i);
  });

  it("comes back with every Set-Cookie beside the gate's headers", async () => {
    const app = await openUpstream((_, res) => {
      res.setHeader("Set-Cookie", ["a=1", "b=2"]);
      res.end("ok");
    });
    const { url } = await openRig({
      upstreams: [{ urls: [app.url] }],
      gate: { rules: [{ name: "all", by: "ip", limits: ["100 per 1h"] }] },
    });
    const response = await fetch(url);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(response.headers.get("ratelimit")).toMatch(/r=99/);
  });

  it("HEAD, 204 and 304 have no body, and the connection goes on", async () => {
    const app = await openUpstream((req, res) => {
      if (req.url === "/204") res.writeHead(204).end();
      else if (req.url === "/304") res.writeHead(304, { ETag: '"x"', "Content-Length": "9" }).end();
      else res.writeHead(200, { "Content-Length": "5" }).end("hello");
    });
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const ask = (line: string, last = false): string =>
      `${line} HTTP/1.1\r\nHost: a\r\n${last ? "Connection: close\r\n" : ""}\r\n`;
    const text = await raw(port, ask("HEAD /") + ask("GET /204") + ask("GET /304") + ask("GET /", true));
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual([
      "HTTP/1.1 200",
      "HTTP/1.1 204",
      "HTTP/1.1 304",
      "HTTP/1.1 200",
    ]);
    expect(text.match(/hello/g)).toHaveLength(1);
    expect(text.match(/content-length: 5/gi)).toHaveLength(2);
  });

  it("early hints are dropped and the answer follows", async () => {
    const app = await openUpstream((_, res) => {
      res.writeEarlyHints({ link: "</style.css>; rel=preload" });
      setTimeout(() => res.end("done"), 20);
    });
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const text = await raw(port, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect(text).toMatch(/^HTTP\/1\.1 200/);
    expect(text).toContain("done");
  });
});

describe("limit headers", () => {
  const rules = [{ name: "all", by: "ip" as const, limits: ["100 per 1h" as const] }];

  it("an upstream's own RateLimit members stand behind the gate's", async () => {
    const app = await openUpstream((_, res) => {
      res.setHeader("RateLimit", '"app";r=5;t=9');
      res.setHeader("RateLimit-Policy", '"app";q=10;w=60');
      res.setHeader("X-RateLimit-Limit", "10");
      res.end();
    });
    const { url } = await openRig({ upstreams: [{ urls: [app.url] }], gate: { rules } });
    const { headers } = await fetch(url);
    expect(headers.get("ratelimit")).toMatch(/^"all[^,]*r=99[^,]*, "app";r=5;t=9$/);
    expect(headers.get("ratelimit-policy")).toMatch(/, "app";q=10;w=60$/);
    expect(headers.get("x-ratelimit-limit")).toBe("10");
  });

  it("of numbers that can not be joined the gate's are shown, and the log says so once", async () => {
    const app = await openUpstream((_, res) => res.setHeader("X-RateLimit-Limit", "10").end());
    const rig = await openRig({
      upstreams: [{ urls: [app.url] }],
      gate: { rules },
      settings: { responses: { headers: "legacy", status: 429 } },
    });
    for (let i = 0; i < 2; i++) expect((await fetch(rig.url)).headers.get("x-ratelimit-limit")).toBe("100");
    expect(rig.lines.filter(({ level }) => level === "warn")).toMatchObject([
      { fields: { header: "X-RateLimit-Limit", upstream: "app0" } },
    ]);
  });

  it("a refused request never reaches the upstream", async () => {
    const app = await openUpstream(echo);
    const { url } = await openRig({
      upstreams: [{ urls: [app.url] }],
      gate: { rules: [{ name: "all", by: "ip", limits: ["1 per 1h"] }] },
      settings: { responses: { headers: "draft-11", status: 503 } },
    });
    expect((await fetch(url)).status).toBe(200);
    const refused = await fetch(url, { method: "POST", body: "x".repeat(100_000) });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(refused.headers.get("ratelimit")).toMatch(/r=0/);
    expect(await refused.json()).toMatchObject({ status: 503 });
    expect(app.count).toBe(1);
  });

  it("rules that look at the answer see the upstream's status", async () => {
    const app = await openUpstream((req, res) => res.writeHead(req.url === "/bad" ? 401 : 200).end());
    const { url } = await openRig({
      upstreams: [{ urls: [app.url] }],
      gate: { rules: [{ name: "login", by: "ip", limits: ["2 per 1h"], count: "failures" }] },
    });
    for (let i = 0; i < 4; i++) expect((await fetch(url)).status).toBe(200);
    for (const status of [401, 401, 429]) {
      await eventually(async () => (await fetch(`${url}/bad`)).status === status);
    }
  });
});

describe("who asked", () => {
  it("what strangers say of themselves is replaced", async () => {
    const app = await openUpstream(echo);
    const { url, port } = await openRig({
      upstreams: [{ urls: [app.url] }],
      settings: {
        identify: { customer: "X-Customer-Id", user: "X-User-Id" },
        clientIpHeader: "CF-Connecting-IP",
      },
    });
    const { headers } = await echoed(
      await fetch(url, {
        headers: {
          "X-Forwarded-For": "6.6.6.6",
          "X-Forwarded-Host": "evil",
          "X-Forwarded-Proto": "https",
          "X-Forwarded-Port": "443",
          "X-Real-IP": "6.6.6.6",
          "CF-Connecting-IP": "6.6.6.6",
          Forwarded: "for=6.6.6.6",
          "X-Customer-Id": "rich",
          "X-User-Id": "root",
          x_customer_id: "rich",
          "X_Forwarded-For": "6.6.6.6",
        },
      }),
    );
    expect(headers).toMatchObject({
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-host": `127.0.0.1:${port}`,
      "x-forwarded-proto": "http",
      forwarded: `for=127.0.0.1;host="127.0.0.1:${port}";proto=http`,
    });
    expect(headers.via).toMatch(/^1\.1 tidegate-[\da-f]{8}$/);
    expect(JSON.stringify(headers)).not.toMatch(/6\.6\.6\.6|evil|rich|root|"443"/);
  });

  it("what trusted proxies say goes on, with the peer behind it", async () => {
    const app = await openUpstream(echo);
    const { url } = await openRig({
      upstreams: [{ urls: [app.url] }],
      settings: { trustedProxies: ["loopback"], identify: { customer: "X-Customer-Id" } },
    });
    const { headers } = await echoed(
      await fetch(url, {
        headers: {
          "X-Forwarded-For": "203.0.113.7",
          "X-Forwarded-Host": "shop.example",
          "X-Forwarded-Proto": "https",
          Forwarded: "for=6.6.6.6",
          "X-Customer-Id": "c1",
          "X-Real-IP": "203.0.113.7",
        },
      }),
    );
    expect(headers).toMatchObject({
      "x-forwarded-for": "203.0.113.7, 127.0.0.1",
      "x-forwarded-host": "shop.example",
      "x-forwarded-proto": "https",
      "x-customer-id": "c1",
      "x-real-ip": "203.0.113.7",
    });
    expect(headers.forwarded).toMatch(
      /^for=203\.0\.113\.7;host="shop\.example";proto=https, for=127\.0\.0\.1;host="/,
    );
  });

  it("customers are those a trusted proxy names, and only those", async () => {
    const app = await openUpstream(echo);
    const gate = { rules: [{ name: "c", by: "customer" as const, limits: ["1 per 1h" as const] }] };
    const identify = { customer: "X-Customer-Id" };
    const trusted = await openRig({
      upstreams: [{ urls: [app.url] }],
      gate,
      settings: { trustedProxies: ["loopback"], identify },
    });
    const ask = async (url: string, id: string): Promise<number> =>
      (await fetch(url, { headers: { "X-Customer-Id": id } })).status;
    expect([await ask(trusted.url, "a"), await ask(trusted.url, "a"), await ask(trusted.url, "b")]).toEqual([
      200, 429, 200,
    ]);
    const strange = await openRig({ upstreams: [{ urls: [app.url] }], gate, settings: { identify } });
    expect([await ask(strange.url, "a"), await ask(strange.url, "a")]).toEqual([200, 200]);
    const twice = await raw(
      trusted.port,
      "GET / HTTP/1.1\r\nHost: a\r\nX-Customer-Id: a\r\nX-Customer-Id: b\r\nConnection: close\r\n\r\n",
    );
    expect(twice).toMatch(/^HTTP\/1\.1 400 [\s\S]*TG_REQUEST_INVALID/);
  });

  it("a request that comes round to the same proxy is stopped", async () => {
    const port = await deadPort();
    const rig = await openRig({ upstreams: [{ urls: [`http://127.0.0.1:${port}`] }] });
    await new Promise<void>((resolve) => rig.server.close(() => resolve()));
    await new Promise<void>((resolve) => rig.server.listen(port, "127.0.0.1", resolve));
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect(response.status).toBe(508);
    expect(await response.json()).toMatchObject({ code: "TG_REQUEST_LOOP" });
  });
});

describe("where a request goes", () => {
  it("by host and path, and nowhere is 404", async () => {
    const apps = await Promise.all(
      ["api", "wild", "deep", "rest"].map((name) => openUpstream((_, res) => res.end(name))),
    );
    const [api, wild, deep, rest] = apps.map(({ url }) => [url]) as string[][];
    const { port } = await openRig({
      upstreams: [
        { urls: rest as string[], path: "/files" },
        { urls: api as string[], hosts: ["api.example.com"] },
        { urls: wild as string[], hosts: ["*.example.com"] },
        { urls: deep as string[], hosts: ["api.example.com"], path: "/v1/deep" },
      ],
    });
    const ask = (host: string, path: string): Promise<string> =>
      raw(port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(await ask("API.example.com:8080", "/v1/deeper")).toMatch(/api$/m);
    expect(await ask("api.example.com", "/v1/deep?x")).toContain("deep");
    expect(await ask("shop.example.com", "/")).toContain("wild");
    expect(await ask("example.org", "/files/1")).toContain("rest");
    expect(await ask("example.org", "/filesystem")).toMatch(/^HTTP\/1\.1 404 [\s\S]*TG_ROUTE_NONE/);
    expect(await ask("example.com", "/")).toMatch(/^HTTP\/1\.1 404/);
  });
});

describe("tracking", () => {
  it("hears of each request once, let in or refused, and never breaks one", async () => {
    const app = await openUpstream(echo);
    const heard: string[] = [];
    const { url } = await openRig({
      upstreams: [{ urls: [app.url] }],
      gate: { rules: [{ name: "all", by: "ip", limits: ["1 per 1h"] }] },
      track(subject) {
        heard.push(
          `${subject.ip} ${subject.method} ${subject.path} ${subject.header("X-Mine")} ${subject.host !== ""}`,
        );
        throw new Error("broken tracker");
      },
    });
    const headers = { "X-Mine": "m" };
    expect((await fetch(`${url}/a?q`, { headers })).status).toBe(200);
    expect((await fetch(`${url}/b`, { headers, method: "POST" })).status).toBe(429);
    await eventually(() => heard.length === 2);
    expect(heard).toEqual(["127.0.0.1 GET /a?q m true", "127.0.0.1 POST /b m true"]);
  });

  /** An app that answers when told to, behind two connections of which one client gets no more than both. */
  async function openSlow() {
    const held: ServerResponse[] = [];
    const app = await openUpstream((_, res) => held.push(res));
    const heard: string[] = [];
    const rig = await openRig({
      upstreams: [{ urls: [app.url] }],
      proxy: { connections: 2 },
      track: ({ path }) => heard.push(path),
    });
    return { ...rig, held, heard };
  }

  const paths = [...Array(20).keys()].map((i) => `/${i}`);

  it("hears of requests soon, however long the upstream takes and wherever they wait, and of each once", async () => {
    const { url, held, heard } = await openSlow();
    const answers = paths.map((path) => fetch(url + path));
    await eventually(() => heard.length === paths.length, 2000);
    expect(held).toHaveLength(2);
    const answering = setInterval(() => held.splice(0).map((res) => res.end()), 5);
    for (const answer of answers) expect((await answer).status).toBe(200);
    clearInterval(answering);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(heard.toSorted()).toEqual(paths.toSorted());
  });

  it("hears once of requests whose clients have left", async () => {
    const { url, held, heard } = await openSlow();
    const leave = new AbortController();
    const answers = paths.map((path) => fetch(url + path, { signal: leave.signal }));
    await eventually(() => held.length === 2);
    leave.abort();
    await Promise.allSettled(answers);
    await eventually(() => heard.length >= paths.length);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(heard.toSorted()).toEqual(paths.toSorted());
  });

  it("hears of an upgrade the upstream does not answer", async () => {
    const { port, heard } = await openSlow();
    const socket = connect(port, "127.0.0.1");
    socket.write("GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    await eventually(() => heard.length === 1, 2000);
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(heard).toEqual(["/ws"]);
  });

  it("hears of a quick answer after it, as before", async () => {
    const order: string[] = [];
    const app = await openUpstream((_, res) => {
      order.push("answered");
      res.end();
    });
    const { url } = await openRig({ upstreams: [{ urls: [app.url] }], track: () => order.push("told") });
    expect((await fetch(url)).status).toBe(200);
    await eventually(() => order.length === 2);
    expect(order).toEqual(["answered", "told"]);
  });
});

describe("figures", () => {
  it("count requests by upstream and class, their times, errors and what is under way", async () => {
    const app = await openUpstream((req, res) => res.writeHead(req.url === "/no" ? 404 : 200).end());
    const rig = await openRig({
      upstreams: [
        { urls: [app.url], path: "/" },
        { urls: [`http://127.0.0.1:${await deadPort()}`], path: "/dead" },
      ],
    });
    for (const path of ["/", "/", "/no", "/dead"]) await (await fetch(`${rig.url}${path}`)).text();
    const text = await rig.registry.metrics();
    expect(text).toContain('tidegate_proxy_requests_total{upstream="app0",status="2xx"} 2');
    expect(text).toContain('tidegate_proxy_requests_total{upstream="app0",status="4xx"} 1');
    expect(text).toContain('tidegate_proxy_upstream_errors_total{upstream="app1",kind="connect"} 1');
    expect(text).toContain('tidegate_proxy_request_seconds_count{upstream="app0"} 3');
    expect(text).toMatch(/tidegate_proxy_request_seconds_bucket\{le="\+Inf",upstream="app0"\} 3/);
    expect(text).toContain('tidegate_proxy_active_requests{upstream="app0"} 0');
    expect(await rig.registry.metrics()).toContain(
      'tidegate_proxy_requests_total{upstream="app0",status="2xx"} 2',
    );
  });
});

describe("100-continue", () => {
  it("is said when the upstream takes the body, and never to a request that is refused", async () => {
    const app = await openUpstream(echo);
    const { port } = await openRig({
      upstreams: [{ urls: [app.url] }],
      gate: { rules: [{ name: "all", by: "ip", limits: ["1 per 1h"] }] },
    });
    const ask = (): Promise<{ isTold: boolean; status: number }> =>
      new Promise((resolve, reject) => {
        let isTold = false;
        const req = httpRequest(
          { port, method: "POST", headers: { Expect: "100-continue", "Content-Length": 5 } },
          (res) => {
            res.resume();
            resolve({ isTold, status: res.statusCode as number });
          },
        );
        req.on("continue", () => {
          isTold = true;
          req.end("hello");
        });
        req.on("error", reject);
        req.flushHeaders();
      });
    expect(await ask()).toEqual({ isTold: true, status: 200 });
    expect(await ask()).toEqual({ isTold: false, status: 429 });
  });
});

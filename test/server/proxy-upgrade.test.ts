import { createServer } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import {
  closeAll,
  deadPort,
  echo,
  eventually,
  heard,
  openConnections,
  openRig,
  openUpstream,
  type Rig,
  raw,
  type TestUpstream,
} from "./proxy-rig.js";

afterEach(closeAll);

interface SocketApp extends TestUpstream {
  readonly sockets: WebSocketServer;
}

async function openSocketApp(): Promise<SocketApp> {
  const app = await openUpstream(echo);
  const sockets = new WebSocketServer({ server: app.server });
  sockets.on("connection", (socket, req) => {
    socket.send(JSON.stringify(req.headers));
    socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  return Object.assign(app, { sockets });
}

function opened(url: string): Promise<{ socket: WebSocket; next(): Promise<string> }> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace("http", "ws"), {
      headers: { "X-Mine": "m", "X-Forwarded-For": "6.6.6.6" },
    });
    const got: string[] = [];
    socket.on("message", (data) => got.push(String(data)));
    const next = async (): Promise<string> => {
      await eventually(() => got.length > 0);
      return got.shift() as string;
    };
    socket.on("open", () => resolve({ socket, next })).on("error", reject);
  });
}

const ask = (extra = "", line = "GET / HTTP/1.1"): string =>
  `${line}\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${extra}\r\n`;

describe("a WebSocket", () => {
  it("goes through, with its headers, texts, large messages and close codes", async () => {
    const app = await openSocketApp();
    const { url, registry } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const { socket, next } = await opened(url);
    const headers = JSON.parse(await next()) as Record<string, string>;
    expect(headers).toMatchObject({
      "x-mine": "m",
      "x-forwarded-for": "127.0.0.1",
      connection: "Upgrade",
      upgrade: "websocket",
    });
    socket.send("hello");
    expect(await next()).toBe("hello");
    const large = "x".repeat(1_000_000);
    socket.send(large);
    expect(await next()).toBe(large);
    expect(await registry.metrics()).toContain('tidegate_proxy_tunnels{upstream="app0"} 1');
    const closed = new Promise<number>((resolve) => {
      for (const far of app.sockets.clients) far.on("close", resolve);
    });
    socket.close(4001, "bye");
    expect(await closed).toBe(4001);
    await eventually(async () =>
      (await registry.metrics()).includes('tidegate_proxy_tunnels{upstream="app0"} 0'),
    );
  });

  it("may be silent for longer than an answer may take", async () => {
    const app = await openSocketApp();
    const { url } = await openRig({
      upstreams: [{ urls: [app.url] }],
      proxy: {
        responseTimeoutMs: 100,
        idleTimeoutMs: 100,
        requestTimeoutMs: 100,
        headersTimeoutMs: 100,
        keepAliveMs: 100,
      },
    });
    const { socket, next } = await opened(url);
    await next();
    await new Promise((resolve) => setTimeout(resolve, 500));
    socket.send("still here");
    expect(await next()).toBe("still here");
    socket.terminate();
  });

  it("that breaks on one side breaks on the other", async () => {
    const app = await openSocketApp();
    const { url } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const first = await opened(url);
    const farClosed = new Promise((resolve) => {
      for (const far of app.sockets.clients) far.on("close", resolve);
    });
    first.socket.terminate();
    await farClosed;
    const second = await opened(url);
    const nearClosed = new Promise((resolve) => second.socket.on("close", resolve));
    for (const far of app.sockets.clients) far.terminate();
    await nearClosed;
  });

  it("is counted by the gate, and refused like any request", async () => {
    const app = await openSocketApp();
    const { url, port, server } = await openRig({
      upstreams: [{ urls: [app.url] }],
      gate: { rules: [{ name: "all", by: "ip", limits: ["1 per 1h"] }] },
    });
    const { socket } = await opened(url);
    await expect(opened(url)).rejects.toThrow("429");
    await raw(port, ask());
    socket.terminate();
    await eventually(() => openConnections(server) === 0);
  });

  it("the upstream does not want is answered with what the upstream says", async () => {
    const app = await openUpstream(echo);
    app.server.on("upgrade", (_, socket) =>
      socket.end("HTTP/1.1 403 Forbidden\r\nX-Mine: m\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"),
    );
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    expect(await raw(port, ask())).toMatch(/^HTTP\/1\.1 403 [\s\S]*X-Mine: m[\s\S]*\r\n\r\nno$/);
  });

  it("is 502 when there is no upstream, 504 when it is silent, 404 when none is meant", async () => {
    const dead = await openRig({
      upstreams: [{ urls: [`http://127.0.0.1:${await deadPort()}`], path: "/in" }],
    });
    expect(await raw(dead.port, ask("", "GET /in HTTP/1.1"))).toMatch(
      /^HTTP\/1\.1 502 [\s\S]*TG_UPSTREAM_UNREACHABLE/,
    );
    expect(await raw(dead.port, ask("", "GET /out HTTP/1.1"))).toMatch(
      /^HTTP\/1\.1 404 [\s\S]*TG_ROUTE_NONE/,
    );
    const app = await openUpstream(echo);
    app.server.on("upgrade", () => {});
    const silent = await openRig({ upstreams: [{ urls: [app.url] }], proxy: { responseTimeoutMs: 200 } });
    expect(await raw(silent.port, ask())).toMatch(/^HTTP\/1\.1 504 [\s\S]*TG_UPSTREAM_SLOW/);
  });

  it("whose client leaves before the answer is given up at the upstream", async () => {
    const app = await openUpstream(echo);
    let isAsked = false;
    let isLeft = false;
    app.server.on("upgrade", (_, socket) => {
      isAsked = true;
      socket
        .resume()
        .on("end", () => (isLeft = true))
        .on("error", () => {});
    });
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const socket = connect(port, "127.0.0.1");
    socket.write(ask());
    await eventually(() => isAsked);
    socket.destroy();
    await eventually(() => isLeft);
  });

  it("goes to another origin when the first can not be reached", async () => {
    const app = await openSocketApp();
    const { url } = await openRig({
      upstreams: [{ urls: [`http://127.0.0.1:${await deadPort()}`, app.url] }],
    });
    for (let i = 0; i < 4; i++) {
      const { socket, next } = await opened(url);
      await next();
      socket.terminate();
    }
  });

  it.each([
    ["another protocol than was asked for", "101 S\r\nConnection: Upgrade\r\nUpgrade: h2c", 502],
    ["one answer after another that only says to wait", `${"102 P\r\n\r\nHTTP/1.1 ".repeat(70)}102 P`, 502],
    [
      "a length where there is no body",
      "101 S\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 5",
      101,
    ],
    ["headers for this hop only", "403 F\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nContent-Length: 0", 403],
  ])("answered with %s is no way to say what may not be said", async (_, head, status) => {
    const app = await openUpstream(echo);
    app.server.on("upgrade", (_, socket) => {
      socket.on("error", () => {});
      socket.write(`HTTP/1.1 ${head}\r\n\r\n`);
    });
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const text = await raw(port, ask(), { until: /\r\n\r\n/ });
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(text).not.toMatch(/h2c|X-Hop|Content-Length: 5/i);
  });

  it("ends with the proxy", async () => {
    const app = await openSocketApp();
    const rig: Rig = await openRig({ upstreams: [{ urls: [app.url] }] });
    const { socket } = await opened(rig.url);
    const closed = new Promise((resolve) => socket.on("close", resolve));
    await rig.proxy.close();
    await closed;
  });
});

describe("smuggling by upgrade", () => {
  it("what a client sends ahead reaches the upstream only once it has agreed", async () => {
    const app = await openUpstream(echo);
    let ahead = "";
    app.server.on("upgrade", (_, socket, head) => {
      ahead += head.toString();
      socket.on("data", (piece) => (ahead += piece)).on("error", () => {});
      setTimeout(
        () => socket.end("HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
        50,
      );
    });
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const text = await raw(port, `${ask()}GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 426"]);
    expect(ahead).toBe("");
    expect(app.count).toBe(0);
  });

  it("an upgrade with a body is refused", async () => {
    const app = await openSocketApp();
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    expect(await raw(port, `${ask("Content-Length: 5\r\n")}hello`)).toMatch(/^HTTP\/1\.1 400 /);
    const other =
      "POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: foo\r\nContent-Length: 5\r\n\r\nhello";
    expect(await raw(port, other)).toMatch(/^HTTP\/1\.1 400 [\s\S]*TG_REQUEST_INVALID/);
    expect(app.count).toBe(0);
    expect(app.sockets.clients.size).toBe(0);
  });

  it("other protocols are not switched to: such requests are answered as if they had not asked", async () => {
    const app = await openUpstream(echo);
    let upgrades = 0;
    app.server.on("upgrade", (_, socket) => {
      upgrades++;
      socket.destroy();
    });
    const rig = await openRig({
      upstreams: [{ urls: [app.url] }],
      gate: { rules: [{ name: "all", by: "ip", limits: ["1 per 1h"] }] },
    });
    const h2c =
      "GET /plain HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n";
    const text = await raw(rig.port, h2c);
    expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*"url":"\/plain"/);
    expect(text).not.toMatch(/h2c|http2-settings/i);
    expect(await raw(rig.port, h2c)).toMatch(/^HTTP\/1\.1 429 /);
    expect(upgrades).toBe(0);
  });

  const h2c = (path: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`;

  it("a large answer arrives whole, whatever protocol was offered or refused", async () => {
    const large = "x".repeat(5_000_000);
    const app = await openUpstream((_, res) => res.end(large));
    app.server.on("upgrade", (_, socket) =>
      socket.end(`HTTP/1.1 403 Forbidden\r\nContent-Length: ${large.length}\r\n\r\n${large}`),
    );
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    for (const asked of [h2c("/"), ask()]) {
      const text = await raw(port, asked);
      expect(
        text.slice(text.indexOf("\r\n\r\n") + 4).replaceAll(/\r\n[0-9a-f]*\r\n|^[0-9a-f]+\r\n/g, ""),
      ).toHaveLength(large.length);
    }
  });

  it("who offers another protocol and leaves, or reads nothing, holds nothing", async () => {
    const app = await openUpstream((req, res) => {
      if (req.url === "/large") res.end(Buffer.alloc(30_000_000));
    });
    const { port, registry } = await openRig({
      upstreams: [{ urls: [app.url] }],
      proxy: { idleTimeoutMs: 300 },
    });
    const active = async (count: number): Promise<void> =>
      eventually(async () =>
        (await registry.metrics()).includes(`active_requests{upstream="app0"} ${count}`),
      );
    for (const [path, leaves] of [
      ["/silent", true],
      ["/large", false],
    ] as const) {
      const socket = connect(port, "127.0.0.1").on("error", () => {});
      socket.pause().write(h2c(path));
      await active(1);
      if (leaves) socket.end();
      await active(0);
      socket.destroy();
    }
  });

  it("a 101 nobody asked for opens nothing", async () => {
    const odd = createServer().on("connection", (socket) => {
      socket.on("error", () => {});
      socket.once("data", () =>
        socket.write(
          "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nraw",
        ),
      );
    });
    const app = await openUpstream(echo);
    await new Promise<void>((resolve) => app.server.close(() => resolve()));
    await new Promise<void>((resolve) => odd.listen(app.port, "127.0.0.1", resolve));
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const socket = connect(port, "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const text = await heard(socket, undefined);
    expect(text).toMatch(/^HTTP\/1\.1 502/);
    expect(text).not.toContain("raw");
    odd.closeAllConnections();
    await new Promise((resolve) => odd.close(resolve));
  });
});

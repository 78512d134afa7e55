import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
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
    ["a status and no protocol", "101 S", 502],
    ["a status that is none", "099 S\r\nContent-Length: 0", 502],
    ["an encoding", "403 F\r\nTransfer-Encoding: gzip", 502],
    ["two encodings", "403 F\r\nTransfer-Encoding: gzip, chunked", 502],
    [
      "an encoding behind a thousand lines",
      `403 F\r\n${"a: b\r\n".repeat(1500)}Transfer-Encoding: gzip`,
      502,
    ],
    ["a length beyond counting", "403 F\r\nContent-Length: 9007199254740993", 502],
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

  it.each([
    "HTTP/2.0 403 F\r\nContent-Length: 0",
    "HTTP/0.9 403 F\r\nContent-Length: 0",
    "HTTP/2.0 101 S\r\nConnection: Upgrade\r\nUpgrade: websocket",
  ])("answered in another version is 502: %j", async (head) => {
    const app = await openUpstream(echo);
    app.server.on("upgrade", (_, socket) => socket.end(`${head}\r\n\r\n`));
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    expect(await raw(port, ask())).toMatch(/^HTTP\/1\.1 502 /);
  });

  it.each([
    ["agreed to", "101 S\r\nConnection: Upgrade\r\nUpgrade: websocket", 101],
    ["declined", "403 F\r\nContent-Length: 0", 403],
  ])("is %s in a head as large, and of as many lines, as those of other answers", async (_, head, status) => {
    const app = await openUpstream(echo);
    app.server.on("upgrade", ({ url }, socket) => {
      const [first, ...rest] = head.split("\r\n");
      const more = url === "/large" ? [`X-Large: ${"x".repeat(60_000)}`] : Array(1500).fill("X-Many: m");
      socket.end(`HTTP/1.1 ${[first, ...more, ...rest, "X-Last: l"].join("\r\n")}\r\n\r\n`);
    });
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    for (const path of ["/large", "/many"]) {
      const text = await raw(port, ask("", `GET ${path} HTTP/1.1`));
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(text).toContain("X-Last: l");
    }
  });

  it("declined in chunks of HTTP/1.0 is 502", async () => {
    const app = await openUpstream(echo);
    app.server.on("upgrade", (_, socket) =>
      socket.end("HTTP/1.0 403 F\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n"),
    );
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    expect(await raw(port, ask())).toMatch(/^HTTP\/1\.1 502 /);
  });

  it.each([
    ["a length", "Content-Length: 10", "hello"],
    ["chunks", "Transfer-Encoding: chunked", "5\r\nhello\r\n"],
    ["neither", "X-Mine: m", "hello"],
  ])("declined by an answer that breaks off never looks whole: one with %s", async (_, header, body) => {
    const app = await openUpstream(echo);
    app.server.on("upgrade", ({ url }, socket: Socket) => {
      socket.on("error", () => {}).write(`HTTP/1.1 403 F\r\n${header}\r\n\r\n${body}`);
      if (url === "/reset") setTimeout(() => socket.resetAndDestroy(), 50);
    });
    const { port } = await openRig({
      upstreams: [{ urls: [app.url] }],
      proxy: { idleTimeoutMs: 300 },
    });
    for (const path of ["/reset", "/silent"]) {
      const client = connect(port, "127.0.0.1");
      const failed = new Promise((resolve) => client.on("error", resolve));
      client.write(ask("", `GET ${path} HTTP/1.1`));
      const text = await heard(client, undefined);
      expect(text).toMatch(/^HTTP\/1\.1 403 [\s\S]*hello/);
      expect(text).not.toContain("\r\n0\r\n");
      expect(await failed).toMatchObject({ code: "ECONNRESET" });
    }
  });

  it("declined at length is heard whole by a client that takes its time", async () => {
    const large = 12_000_000;
    const app = await openUpstream(echo);
    app.server.on("upgrade", (_, socket) => {
      socket.on("error", () => {}).write(`HTTP/1.1 403 F\r\nContent-Length: ${large}\r\n\r\n`);
      socket.write(Buffer.alloc(large));
    });
    const { port } = await openRig({
      upstreams: [{ urls: [app.url] }],
      proxy: { responseTimeoutMs: 200, idleTimeoutMs: 600 },
    });
    const client = connect(port, "127.0.0.1");
    client.on("readable", () => {}).write(ask());
    const beganAt = Date.now();
    let taken = 0;
    for (let ms = 0; ms < 1500; ms = Date.now() - beganAt) {
      const piece = client.read(Math.min(client.readableLength, ms * 2000 - taken)) as Buffer | null;
      taken += piece?.length ?? 0;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    client.removeAllListeners("readable");
    const rest = await heard(client, undefined);
    expect(taken + rest.length).toBeGreaterThan(large);
  });

  it.each([
    ["a length", "403 F\r\nContent-Length: 2\r\n\r\nno", "no"],
    [
      "chunks",
      "403 F\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n",
      "2\r\nno\r\n0\r\n\r\n",
    ],
    ["nothing in it", "204 N\r\nContent-Length: 5\r\n\r\n", ""],
    ["what the client has", "304 N\r\nConnection: close\r\n\r\n", ""],
  ])("declined by an answer with %s is told of it whole, whatever comes behind", async (_, answer, body) => {
    const app = await openUpstream(echo);
    app.server.on("upgrade", (_, socket) => socket.end(`HTTP/1.1 ${answer}stray`));
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const text = await raw(port, ask());
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${answer.slice(0, 3)} `));
    expect(text.slice(text.indexOf("\r\n\r\n") + 4)).toBe(body);
  });

  it("waits under a rule that delays for as long as its client does, and is asked for whole", async () => {
    const app = await openSocketApp();
    const slow = { name: "slow", by: "ip", limits: ["1 per 4s"], action: "delay", maxDelay: "1h" } as const;
    const rig = await openRig({ upstreams: [{ urls: [app.url] }], gate: { rules: [slow] } });
    const waiting = (count: number) => eventually(() => rig.gate.metrics().waiting === count);
    (await opened(rig.url)).socket.terminate();
    const stays = opened(rig.url);
    await waiting(1);
    const client = connect(rig.port, "127.0.0.1");
    client.write(`${ask()}early`);
    await waiting(2);
    client.destroy();
    await waiting(1);
    const { socket, next } = await stays;
    await next();
    socket.send("hello");
    expect(await next()).toBe("hello");
    expect(rig.gate.metrics().waiting).toBe(0);
  });

  describe("under a rule that delays for long", () => {
    const slow = { name: "slow", by: "ip", limits: ["1 per 1h"], action: "delay", maxDelay: "10h" } as const;

    async function waiting(): Promise<{ client: Socket; count(): number }> {
      const app = await openUpstream(echo);
      const { port, url, gate } = await openRig({
        upstreams: [{ urls: [app.url] }],
        gate: { rules: [slow] },
      });
      await fetch(url);
      const client = connect(port, "127.0.0.1").on("error", () => {});
      client.write(ask());
      const count = (): number => gate.metrics().waiting;
      await eventually(() => count() === 1);
      return { client, count };
    }

    it.each([5, 10_000])("waits no longer once its client has left, with %i bytes ahead", async (size) => {
      for (const leave of ["end", "resetAndDestroy"] as const) {
        const { client, count } = await waiting();
        await new Promise((resolve) => client.write(Buffer.alloc(size), resolve));
        expect(count()).toBe(1);
        client[leave]();
        await eventually(() => count() === 0);
        client.destroy();
      }
    });

    it("waits no longer where more comes ahead than is kept", async () => {
      const { client, count } = await waiting();
      client.write(Buffer.alloc(200_000));
      await eventually(() => count() === 0);
      client.destroy();
    });
  });

  it.each(["/silent", "/declined"])(
    "with something ahead whose client leaves is given up at the upstream: %s",
    async (path) => {
      const app = await openUpstream(echo);
      let isAsked = false;
      let isLeft = false;
      app.server.on("upgrade", ({ url }, socket) => {
        isAsked = true;
        socket
          .resume()
          .on("end", () => (isLeft = true))
          .on("error", () => (isLeft = true));
        if (url === "/declined") socket.write("HTTP/1.1 403 F\r\nContent-Length: 9\r\n\r\nslow");
      });
      const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
      const client = connect(port, "127.0.0.1");
      client.write(ask("", `GET ${path} HTTP/1.1`));
      await eventually(() => isAsked);
      await new Promise((resolve) => client.write("early", resolve));
      if (path === "/declined") await new Promise((resolve) => client.once("data", resolve));
      client.end();
      await eventually(() => isLeft);
      client.destroy();
    },
  );

  it("declined is told so, however much it sends meanwhile", async () => {
    const app = await openUpstream(echo);
    app.server.on("upgrade", (_, socket) => {
      socket.write("HTTP/1.1 403 F\r\nContent-Length: 4\r\n\r\nsl");
      setTimeout(() => socket.end("ow"), 100);
    });
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const client = connect(port, "127.0.0.1");
    let error: unknown;
    client.on("error", (broken) => (error = broken));
    client.write(ask());
    client.once("data", () => client.write(Buffer.alloc(1_000_000)));
    expect(await heard(client, undefined)).toMatch(/^HTTP\/1\.1 403 [\s\S]*\r\n\r\nslow$/);
    expect(error).toBeUndefined();
  });

  it("what came ahead of the 101 goes on behind it, in its order", async () => {
    const app = await openUpstream(echo);
    let heardThere = "";
    let agree = (): void => {};
    app.server.on("upgrade", (_, socket) => {
      socket.on("data", (piece) => (heardThere += piece)).on("error", () => {});
      agree = () => socket.write("HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    });
    const { port, registry } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const client = connect(port, "127.0.0.1");
    client.write(`${ask()}one `);
    await eventually(async () => (await registry.metrics()).includes('active_requests{upstream="app0"} 1'));
    for (const piece of ["two ", "three "]) {
      client.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    expect(heardThere).toBe("");
    agree();
    client.write("four");
    await eventually(() => heardThere === "one two three four");
    client.destroy();
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
      if (leaves) socket.end("early");
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

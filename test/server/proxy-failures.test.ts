import { createServer } from "node:http";
import { connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import {
  closeAll,
  deadPort,
  echo,
  eventually,
  heard,
  listening,
  openConnections,
  openRig,
  openUpstream,
  raw,
} from "./proxy-rig.js";

const bare: Server[] = [];
const sockets = new Set<Socket>();

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(bare.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  await closeAll();
});

/** An upstream that speaks no HTTP of its own accord. */
async function bareUpstream(talk: (socket: Socket, count: number) => void): Promise<string> {
  let count = 0;
  const server = createTcpServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    talk(socket, count++);
  });
  bare.push(server);
  return `http://127.0.0.1:${await listening(server as never)}`;
}

const ask = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

describe("an upstream that", () => {
  it("refuses connections is 502, as a problem", async () => {
    const { url } = await openRig({ upstreams: [{ urls: [`http://127.0.0.1:${await deadPort()}`] }] });
    const response = await fetch(url, { method: "POST", body: "x" });
    expect(response.status).toBe(502);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({ code: "TG_UPSTREAM_UNREACHABLE", status: 502 });
  });

  it("has a name nobody knows is 502", async () => {
    const { url } = await openRig({ upstreams: [{ urls: ["http://nobody.invalid"] }] });
    expect(await (await fetch(url)).json()).toMatchObject({ code: "TG_UPSTREAM_UNREACHABLE" });
  });

  it("closes, resets or talks nonsense instead of answering is 502", async () => {
    const talks: ((socket: Socket) => void)[] = [
      (socket) => socket.once("data", () => socket.end()),
      (socket) => socket.once("data", () => socket.resetAndDestroy()),
      (socket) => socket.once("data", () => socket.end("SSH-2.0-OpenSSH\r\n")),
      (socket) => socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Le")),
      (socket) =>
        socket.once("data", () =>
          socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"),
        ),
      (socket) =>
        socket.once("data", () =>
          socket.end("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        ),
      (socket) =>
        socket.once("data", () =>
          socket.end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ),
      (socket) =>
        socket.once("data", () => socket.end(`HTTP/1.1 200 OK\r\nX: ${"x".repeat(100_000)}\r\n\r\n`)),
      (socket) => socket.once("data", () => socket.end("HTTP/1.1 050 Odd\r\nContent-Length: 0\r\n\r\n")),
    ];
    for (const talk of talks) {
      const { port } = await openRig({ upstreams: [{ urls: [await bareUpstream(talk)] }] });
      expect(await raw(port, ask)).toMatch(/^HTTP\/1\.1 502 [\s\S]*TG_UPSTREAM_BROKE/);
    }
  });

  it("injects a header by a bare CR does not reach the client with it", async () => {
    const url = await bareUpstream((socket) =>
      socket.once("data", () =>
        socket.end("HTTP/1.1 200 OK\r\nX-Mine: a\rSet-Cookie: evil=1\r\nContent-Length: 0\r\n\r\n"),
      ),
    );
    const { port } = await openRig({ upstreams: [{ urls: [url] }] });
    expect(await raw(port, ask)).toMatch(/^HTTP\/1\.1 502 /);
  });

  it("is silent is 504", async () => {
    const url = await bareUpstream(() => {});
    const { port } = await openRig({ upstreams: [{ urls: [url] }], proxy: { responseTimeoutMs: 300 } });
    expect(await raw(port, ask)).toMatch(/^HTTP\/1\.1 504 [\s\S]*TG_UPSTREAM_SLOW/);
  });

  it("breaks off in its body breaks the client's connection: nothing looks whole", async () => {
    const heads = [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
    ];
    for (const head of heads) {
      for (const end of ["end", "resetAndDestroy"] as const) {
        const url = await bareUpstream((socket) =>
          socket.once("data", () => {
            socket.write(head);
            setTimeout(() => socket[end](), 30);
          }),
        );
        const rig = await openRig({ upstreams: [{ urls: [url] }] });
        const text = await raw(rig.port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        expect(text).toContain("hello");
        expect(text).not.toContain("\r\n0\r\n");
        await expect((async () => (await fetch(rig.url)).text())()).rejects.toThrow();
      }
    }
  });

  it("breaks off in its body breaks the connection of a client too that knows the end by nothing else", async () => {
    const url = await bareUpstream((socket) =>
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
        setTimeout(() => socket.end(), 30);
      }),
    );
    const { port } = await openRig({ upstreams: [{ urls: [url] }] });
    const client = connect(port, "127.0.0.1");
    sockets.add(client);
    const failed = new Promise((resolve) => client.on("error", resolve));
    client.resume().write("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
    expect(await failed).toMatchObject({ code: "ECONNRESET" });
  });

  it("ends the lines of its head by line feeds alone is 502 at once", async () => {
    const url = await bareUpstream((socket) =>
      socket.once("data", () => socket.write("HTTP/1.1 200 OK\nContent-Length: 2\n\nok")),
    );
    const { port } = await openRig({ upstreams: [{ urls: [url] }] });
    expect(await raw(port, ask)).toMatch(/^HTTP\/1\.1 502 /);
  });

  it("falls silent in its body is cut off", async () => {
    const url = await bareUpstream((socket) =>
      socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")),
    );
    const { port } = await openRig({ upstreams: [{ urls: [url] }], proxy: { idleTimeoutMs: 300 } });
    expect(await raw(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")).toMatch(/hello$/);
  });

  it("is given the time to answer from the end of the request on, and the time to go on from its last byte", async () => {
    const app = await openUpstream(async (req, res) => {
      for await (const _ of req);
      for (let i = 0; i < 8; i++) {
        res.write("part");
        await delay(200);
      }
      res.end();
    });
    const times = { responseTimeoutMs: 1000, idleTimeoutMs: 1000 };
    const { url } = await openRig({ upstreams: [{ urls: [app.url] }], proxy: times });
    const body = new ReadableStream({
      async start(controller) {
        for (let i = 0; i < 8; i++) {
          controller.enqueue(Buffer.from("part"));
          await delay(200);
        }
        controller.close();
      },
    });
    const response = await fetch(url, { method: "POST", body, duplex: "half" } as RequestInit);
    expect([response.status, await response.text()]).toEqual([200, "part".repeat(8)]);
  });

  it("falls silent in its body is cut off also while the client is still sending", async () => {
    const url = await bareUpstream((socket) =>
      socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")),
    );
    const { port } = await openRig({ upstreams: [{ urls: [url] }], proxy: { idleTimeoutMs: 500 } });
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    sockets.add(socket);
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
    const trickle = setInterval(() => socket.write("x"), 50);
    expect(await heard(socket, undefined)).toMatch(/hello$/);
    clearInterval(trickle);
  });

  it("takes nothing of a body is 504, however much of it is left when the client has sent all", async () => {
    const url = await bareUpstream((socket) => void socket.pause());
    const times = { responseTimeoutMs: 300, idleTimeoutMs: 300 };
    const rig = await openRig({ upstreams: [{ urls: [url] }], proxy: times });
    for (const size of [100_000, 3_900_000, 3_940_000, 3_980_000, 4_020_000, 4_060_000]) {
      const { status } = await fetch(rig.url, { method: "POST", body: Buffer.alloc(size) });
      expect([size, status]).toEqual([size, 504]);
    }
  });

  it("has its connections taken by upgrades makes others wait no longer than for an answer", async () => {
    const url = await bareUpstream((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      const trickle = setInterval(() => socket.write("1\r\nx\r\n"), 50);
      socket.on("close", () => clearInterval(trickle)).resume();
    });
    const proxy = { connections: 1, responseTimeoutMs: 500 };
    const { port } = await openRig({ upstreams: [{ urls: [url] }], proxy });
    const declined = connect(port, "127.0.0.1").on("error", () => {});
    sockets.add(declined);
    declined.write(
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    await heard(declined, /x/);
    declined.resume();
    expect(await raw(port, ask)).toMatch(/^HTTP\/1\.1 504 /);
  });

  it("answers 204 with a length and a body is heard, without them", async () => {
    const url = await bareUpstream((socket) =>
      socket.on("data", () => socket.write("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello")),
    );
    const { port } = await openRig({ upstreams: [{ urls: [url] }] });
    const text = await raw(port, ask.repeat(2).replace("Connection: close\r\n", ""));
    expect(text.match(/^HTTP\/1\.1 204 /gm)).toHaveLength(2);
    expect(text).not.toMatch(/hello|content-length/i);
  });

  it("answers before it has read the body is heard", async () => {
    const app = await openUpstream((_, res) => res.writeHead(403).end("no"));
    const { url } = await openRig({ upstreams: [{ urls: [app.url] }] });
    for (let i = 0; i < 5; i++) {
      const response = await fetch(url, { method: "POST", body: Buffer.alloc(300_000) });
      expect([response.status, await response.text()]).toEqual([403, "no"]);
    }
  });

  it("answers much before it has read the body is heard, by a client too that takes its time for both", async () => {
    const large = 4_000_000;
    const app = await openUpstream((_, res) => res.end(Buffer.alloc(large, "x")));
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const client = connect(port, "127.0.0.1").on("error", () => {});
    sockets.add(client);
    client.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n");
    const sending = setInterval(() => client.write(Buffer.alloc(1000)), 20);
    let got = 0;
    client.pause();
    for (let i = 0; i < 30 && got < large; i++) {
      await delay(100);
      for (let left = 150_000; left > 0; ) {
        const piece = client.read() as Buffer | null;
        if (piece === null) break;
        left -= piece.length;
        got += piece.length;
      }
    }
    clearInterval(sending);
    expect(client.destroyed).toBe(false);
    client
      .on("data", ({ length }: Buffer) => {
        got += length;
      })
      .resume();
    await eventually(() => got >= large);
  });

  it.each([
    ["all at once", 0],
    ["with a pause after the answer", 300],
  ])(
    "answers before it has read a large body is heard, and the connection goes on: %s",
    async (_, pauseMs) => {
      const app = await openUpstream((_, res) => res.writeHead(401, { "Content-Length": 5 }).end("early"));
      const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
      const half = Buffer.alloc(10_000_000);
      const socket = connect(port, "127.0.0.1").on("error", () => {});
      sockets.add(socket);
      const write = (bytes: string | Buffer): Promise<void> =>
        new Promise((resolve) => void socket.write(bytes, () => resolve()));
      await write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${2 * half.length}\r\n\r\n`);
      await write(half);
      if (pauseMs > 0) {
        expect(await heard(socket, /early$/)).toMatch(/^HTTP\/1\.1 401 /);
        await delay(pauseMs);
      }
      const answers = heard(socket, pauseMs > 0 ? /early$/ : /early[\s\S]*early$/);
      await write(half);
      await write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      expect((await answers).match(/HTTP\/1\.1 401 /g)).toHaveLength(pauseMs > 0 ? 1 : 2);
    },
  );

  it("has as many requests as it has connections makes others wait, and too many are 503", async () => {
    let most = 0;
    let now = 0;
    const held: (() => void)[] = [];
    let isHolding = true;
    const app = await openUpstream((_, res) => {
      most = Math.max(most, ++now);
      const answer = (): void => void res.end("ok", () => now--);
      if (isHolding) held.push(answer);
      else setImmediate(answer);
    });
    const { url } = await openRig({ upstreams: [{ urls: [app.url] }], proxy: { connections: 2 } });
    let refused = 0;
    const ask = async (): Promise<number> => {
      const { status } = await fetch(url);
      if (status === 503 && ++refused === 26) {
        isHolding = false;
        for (const answer of held) answer();
      }
      return status;
    };
    const statuses = await Promise.all(Array.from({ length: 60 }, ask));
    expect(statuses.filter((status) => status === 200)).toHaveLength(34);
    expect(most).toBe(2);
  });

  it("keeps a request waiting in line too long is 504", async () => {
    const app = await openUpstream((_, res) => void setTimeout(() => res.end("late"), 2000));
    const rig = await openRig({
      upstreams: [{ urls: [app.url] }],
      proxy: { connections: 1, responseTimeoutMs: 400 },
    });
    const [first, second] = [fetch(rig.url), fetch(rig.url)];
    expect((await second).status).toBe(504);
    await first;
  });
});

describe("a client that reads nothing", () => {
  it.each(["takes nothing for the idle time", "offers another protocol too"])(
    "and %s has its answer broken, not ended as if it were whole",
    async (how) => {
      const app = await openUpstream((_, res) => void res.end(Buffer.alloc(30_000_000)));
      const { port, server } = await openRig({
        upstreams: [{ urls: [app.url] }],
        proxy: { idleTimeoutMs: 300 },
      });
      const offer = how.startsWith("offers") ? "Connection: Upgrade\r\nUpgrade: h2c\r\n" : "";
      const client = connect(port, "127.0.0.1")
        .on("error", () => {})
        .pause();
      sockets.add(client);
      client.write(`GET / HTTP/1.0\r\nHost: a\r\n${offer}\r\n`);
      await eventually(() => openConnections(server) === 1);
      await eventually(() => openConnections(server) === 0);
      // Where the other side has but ended, it may be written to.
      const error = await new Promise((resolve) => client.write("x", resolve));
      expect(error).toMatchObject({ code: expect.stringMatching(/^(?:ECONNRESET|EPIPE)$/) });
    },
  );
});

describe("a client that leaves", () => {
  it("cancels its request at the upstream, also while it waits in line", async () => {
    let left = 0;
    const app = await openUpstream((req, res) => {
      res.on("close", () => left++);
      if (req.url === "/begun") res.write("begun");
    });
    const rig = await openRig({ upstreams: [{ urls: [app.url] }], proxy: { connections: 1 } });
    for (const path of ["/silent", "/begun"]) {
      const before = left;
      const abort = new AbortController();
      const gone = fetch(`${rig.url}${path}`, { signal: abort.signal }).catch(() => {});
      await eventually(() => app.count === before + 1);
      const waiting = new AbortController();
      const never = fetch(`${rig.url}/waiting`, { signal: waiting.signal }).catch(() => {});
      await eventually(async () => /active_requests\{[^}]*\} 2/.test(await rig.registry.metrics()));
      waiting.abort();
      await never;
      await eventually(async () => /active_requests\{[^}]*\} 1/.test(await rig.registry.metrics()));
      abort.abort();
      await gone;
      await eventually(() => left === before + 1);
    }
    expect(app.count).toBe(2);
    await eventually(async () => /status="none"\} 4/.test(await rig.registry.metrics()));
  });
});

describe("a second try", () => {
  it("goes to another origin when the first can not be reached, bodies included, and it rests", async () => {
    const app = await openUpstream(echo);
    const dead = `http://127.0.0.1:${await deadPort()}`;
    const { url } = await openRig({ upstreams: [{ urls: [dead, app.url] }] });
    for (let i = 0; i < 6; i++) {
      const response = await fetch(url, { method: "POST", body: "hello" });
      expect(await response.json()).toMatchObject({ body: "hello" });
    }
  });

  it("is made for a GET whose kept connection had been closed, and never for a POST", async () => {
    const seen: string[] = [];
    const url = await bareUpstream((socket, count) => {
      let asked = 0;
      socket.on("data", (piece) => {
        seen.push(String(piece).split(" ", 1)[0] as string);
        // The first connection answers once, and dies upon the next request.
        if (count === 0 && asked++ > 0) socket.destroy();
        else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      });
    });
    const again = await openRig({ upstreams: [{ urls: [url] }] });
    expect((await fetch(again.url)).status).toBe(200);
    expect((await fetch(again.url)).status).toBe(200);
    expect(seen).toEqual(["GET", "GET", "GET"]);
    const other = await bareUpstream((socket, count) => {
      let asked = 0;
      socket.on("data", () => {
        if (count === 0 && asked++ > 0) socket.destroy();
        else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      });
    });
    const once = await openRig({ upstreams: [{ urls: [other] }] });
    expect((await fetch(once.url, { method: "POST" })).status).toBe(200);
    expect((await fetch(once.url, { method: "POST" })).status).toBe(502);
  });
});

describe("health", () => {
  const health = { path: "/healthz", everyMs: 30, timeoutMs: 1000, failures: 2, successes: 2 };

  it("an origin that says it is ill gets no requests until it is well; with none left it is 503 and not ready", async () => {
    let isWell = true;
    const asked: string[] = [];
    const app = await openUpstream((req, res) => {
      if (req.url === "/healthz") res.writeHead(isWell ? 200 : 500).end();
      else res.end("ok", () => asked.push(req.url as string));
    });
    const rig = await openRig({ upstreams: [{ urls: [app.url], health }] });
    expect(rig.proxy.isReady()).toBe(true);
    expect((await fetch(rig.url)).status).toBe(200);
    isWell = false;
    await eventually(() => !rig.proxy.isReady());
    const response = await fetch(rig.url);
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await response.json()).toMatchObject({ code: "TG_UPSTREAM_NONE" });
    isWell = true;
    await eventually(() => rig.proxy.isReady());
    expect((await fetch(rig.url)).status).toBe(200);
    expect(rig.lines.filter(({ level }) => level !== "debug").map(({ words }) => words)).toEqual([
      "an origin is not healthy and gets no requests",
      "an origin is healthy again",
    ]);
  });

  it("requests are spread over those that are well", async () => {
    const counts = [0, 0, 0];
    const apps = await Promise.all(
      counts.map((_, i) =>
        openUpstream((req, res) => {
          if (req.url === "/healthz") res.writeHead(i === 2 ? 503 : 200).end();
          else res.end(`${counts[i]!++}`);
        }),
      ),
    );
    const rig = await openRig({ upstreams: [{ urls: apps.map(({ url }) => url), health }] });
    await eventually(() => rig.lines.some(({ words }) => words.includes("not healthy")));
    counts.fill(0);
    for (let i = 0; i < 20; i++) await (await fetch(rig.url)).text();
    expect(counts).toEqual([10, 10, 0]);
    expect(rig.proxy.isReady()).toBe(true);
  });

  it("an origin that hangs is found out by its time-out", async () => {
    const server = createServer(() => {});
    const port = await listening(server);
    bare.push(server);
    server.on("connection", (socket) => sockets.add(socket));
    const rig = await openRig({
      upstreams: [{ urls: [`http://127.0.0.1:${port}`], health: { ...health, timeoutMs: 50 } }],
    });
    await eventually(() => !rig.proxy.isReady());
  });
});

import { connect, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import {
  closeAll,
  type Echoed,
  echo,
  eventually,
  heard,
  listening,
  openConnections,
  openRig,
  openUpstream,
  type Rig,
  raw,
} from "./proxy-rig.js";

const clients: Socket[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await closeAll();
});

function client(port: number, bytes: string): Socket {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  clients.push(socket);
  socket.write(Buffer.from(bytes, "latin1"));
  return socket;
}

async function active({ registry }: Rig): Promise<number> {
  return Number(/^tidegate_proxy_active_requests\{.*\} (\d+)/m.exec(await registry.metrics())?.[1]);
}

const behindProxy = { trustedProxies: ["loopback"] };
const from = (address: string): string => `Host: a\r\nX-Forwarded-For: ${address}\r\n`;
const get = (address: string): string => `GET / HTTP/1.1\r\n${from(address)}Connection: close\r\n\r\n`;
const unfinished = (address: string): string =>
  `POST / HTTP/1.1\r\n${from(address)}Content-Length: 1000\r\n\r\na`;

describe("a connection that dies", () => {
  it("with requests behind the first leaves nothing under way, and no connection of the upstream taken", async () => {
    const held: (() => void)[] = [];
    const app = await openUpstream((req, res) => {
      if (req.url === "/held") held.push(() => res.end("ok"));
      else req.resume().on("end", () => res.end("ok"));
    });
    const rig = await openRig({ upstreams: [{ urls: [app.url] }], proxy: { connections: 1 } });
    const first = fetch(`${rig.url}/held`);
    await eventually(() => held.length === 1);
    const sockets = Array.from({ length: 6 }, () =>
      client(
        rig.port,
        "GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\nhello",
      ),
    );
    await eventually(async () => (await active(rig)) >= 7);
    sockets.forEach((socket, i) => {
      if (i % 2 === 0) socket.resetAndDestroy();
      else socket.destroy();
    });
    await eventually(async () => openConnections(rig.server) === 1);
    held[0]?.();
    expect((await first).status).toBe(200);
    await eventually(async () => (await active(rig)) === 0, 5000);
    expect((await fetch(rig.url)).status).toBe(200);
  });
});

describe("pipelined requests", () => {
  it("are answered in order, bodies included, and reach the upstream one after another", async () => {
    let now = 0;
    let most = 0;
    const app = await openUpstream((req, res) => {
      most = Math.max(most, ++now);
      req.resume().on("end", () => setTimeout(() => res.end(`<${req.url}>`, () => now--), 5));
    });
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const post = (path: string): string => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc`;
    const text = await raw(
      port,
      `${post("/1")}GET /2 HTTP/1.1\r\nHost: a\r\n\r\n${post("/3")}GET /4 HTTP/1.1\r\nHost: a\r\n\r\n`,
      { until: /<\/4>/ },
    );
    expect(text.match(/<\/\d>/g)).toEqual(["</1>", "</2>", "</3>", "</4>"]);
    expect(most).toBe(1);
  });

  it("behind one that is refused for its framing never reach the upstream", async () => {
    const seen: string[] = [];
    const app = await openUpstream((req, res) => {
      seen.push(req.url as string);
      res.end("ok");
    });
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const behind = [
      "POST /smuggled HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
      "GET /smuggled HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ];
    const doubtful = [
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
      "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n",
      "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n",
    ];
    for (const first of doubtful) {
      for (const second of behind) {
        expect(await raw(port, first + second)).toMatch(/^HTTP\/1\.1 40[05] /);
        const good = "GET /good HTTP/1.1\r\nHost: a\r\n\r\n";
        const text = await raw(port, good + first + behind[0]);
        expect(text.match(/HTTP\/1\.1 \d+/g)?.map((line) => line.slice(9, 11))).toEqual(["20", "40"]);
      }
    }
    expect(new Set(seen)).toEqual(new Set(["/good"]));
  });

  it("that ask for an upgrade before the answer to another is out are cut off", async () => {
    let upgrades = 0;
    const app = await openUpstream(() => {});
    app.server.on("upgrade", (_, socket) => {
      upgrades++;
      socket.destroy();
    });
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const behind = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    expect(await raw(port, `GET / HTTP/1.1\r\nHost: a\r\n\r\n${behind}`)).toBe("");
    expect(upgrades).toBe(0);
  });
});

describe("a body", () => {
  it("of which nothing more comes is 408, and its connection to the upstream is free again", async () => {
    let isCut = false;
    const app = await openUpstream((req, res) => {
      if (req.method === "GET") res.end("ok");
      req.resume().on("close", () => (isCut ||= !req.complete));
    });
    const rig = await openRig({
      upstreams: [{ urls: [app.url] }],
      proxy: { connections: 1, idleTimeoutMs: 300 },
    });
    const text = await raw(rig.port, unfinished("192.0.2.1"));
    expect(text).toMatch(/^HTTP\/1\.1 408 [\s\S]*Connection: close[\s\S]*TG_REQUEST_SLOW/);
    await eventually(async () => isCut && (await active(rig)) === 0);
    expect((await fetch(rig.url)).status).toBe(200);
  });

  it("that comes slowly, but comes, arrives", async () => {
    const app = await openUpstream(echo);
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }], proxy: { idleTimeoutMs: 1000 } });
    const socket = client(port, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n");
    const answer = heard(socket, /"body":"[^"]*"/);
    for (const letter of "abcdefgh") {
      await new Promise((resolve) => setTimeout(resolve, 200));
      socket.write(letter);
    }
    expect(await answer).toContain('"body":"abcdefgh"');
  });

  it("the upstream takes nothing of is 504, and its connection is given up", async () => {
    const taken: Socket[] = [];
    const deaf = createServer({ pauseOnConnect: true }, (socket) => taken.push(socket.on("error", () => {})));
    const rig = await openRig({
      upstreams: [{ urls: [`http://127.0.0.1:${await listening(deaf as never)}`] }],
      proxy: { idleTimeoutMs: 500, responseTimeoutMs: 60_000 },
    });
    const socket = client(rig.port, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n");
    const answer = heard(socket, /TG_UPSTREAM_SLOW/);
    const piece = Buffer.alloc(1_000_000);
    const write = (): void => {
      while (socket.writable && socket.write(piece));
    };
    socket.on("drain", write);
    write();
    expect(await answer).toMatch(/^HTTP\/1\.1 504 /);
    await eventually(async () => (await active(rig)) === 0);
    for (const each of taken) each.destroy();
    await new Promise((resolve) => deaf.close(resolve));
  });
});

describe("one client", () => {
  it("that finishes no request holds its share of the upstream: others pass", async () => {
    const app = await openUpstream((req, res) => req.resume().on("end", () => res.end("ok")));
    const rig = await openRig({
      upstreams: [{ urls: [app.url] }],
      proxy: { connections: 16 },
      settings: behindProxy,
    });
    for (let i = 0; i < 40; i++) client(rig.port, unfinished("192.0.2.1"));
    await eventually(async () => (await active(rig)) === 40);
    expect(openConnections(app.server)).toBe(4);
    for (let i = 0; i < 3; i++)
      expect(await raw(rig.port, get(`192.0.2.${i + 2}`))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("that reads no answer holds its share of the upstream: others pass", async () => {
    const app = await openUpstream((req, res) => {
      if (req.url === "/") {
        res.end("ok");
        return;
      }
      const piece = Buffer.alloc(1_000_000);
      const write = (): void => {
        while (!res.destroyed && res.write(piece));
      };
      res.on("drain", write);
      write();
    });
    const rig = await openRig({
      upstreams: [{ urls: [app.url] }],
      proxy: { connections: 8 },
      settings: behindProxy,
    });
    for (let i = 0; i < 10; i++)
      client(rig.port, `GET /big HTTP/1.1\r\n${from("2001:db8::")}\r\n\r\n`.replace("::", `::${i}`)).pause();
    await eventually(async () => (await active(rig)) === 10);
    expect(await raw(rig.port, get("2001:db8:0:1::1"))).toMatch(/^HTTP\/1\.1 200 /);
    expect(openConnections(app.server)).toBe(5);
  });

  it("with more requests than its share has them answered in turn, and those too many are 503", async () => {
    const held: (() => void)[] = [];
    let isHolding = true;
    const app = await openUpstream((_, res) => {
      const answer = (): void => void res.end("ok");
      if (isHolding) held.push(answer);
      else answer();
    });
    const rig = await openRig({
      upstreams: [{ urls: [app.url] }],
      proxy: { connections: 8 },
      settings: behindProxy,
    });
    const answers = Array.from({ length: 80 }, () => raw(rig.port, get("192.0.2.1")));
    await eventually(async () => (await active(rig)) === 4 + 4 * 16);
    expect(await raw(rig.port, get("192.0.2.1"))).toMatch(
      /^HTTP\/1\.1 503 [\s\S]*Retry-After: 1\r\n[\s\S]*TG_UPSTREAM_BUSY/,
    );
    isHolding = false;
    for (const answer of held) answer();
    const statuses = (await Promise.all(answers)).map((text) => text.slice(9, 12));
    expect(statuses.filter((status) => status === "200")).toHaveLength(68);
    expect(statuses.filter((status) => status === "503")).toHaveLength(12);
    expect(await active(rig)).toBe(0);
    expect(await raw(rig.port, get("192.0.2.1"))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("that leaves while its requests wait behind its share leaves nothing there", async () => {
    const app = await openUpstream((req, res) => req.resume().on("end", () => res.end("ok")));
    const rig = await openRig({
      upstreams: [{ urls: [app.url] }],
      proxy: { connections: 4 },
      settings: behindProxy,
    });
    const sockets = Array.from({ length: 30 }, () => client(rig.port, unfinished("192.0.2.1")));
    await eventually(async () => (await active(rig)) === 30);
    for (const socket of sockets.reverse()) socket.destroy();
    await eventually(async () => (await active(rig)) === 0);
    const answers = await Promise.all(Array.from({ length: 30 }, () => raw(rig.port, get("192.0.2.1"))));
    expect(answers.every((text) => text.startsWith("HTTP/1.1 200 "))).toBe(true);
  });
});

describe("WebSockets", () => {
  const upgrade = (address: string): string =>
    `GET / HTTP/1.1\r\n${from(address)}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;

  it("that are not answered count as connections: more are 503", async () => {
    const app = await openUpstream(echo);
    app.server.on("upgrade", () => {});
    const rig = await openRig({
      upstreams: [{ urls: [app.url] }],
      proxy: { connections: 8 },
      settings: behindProxy,
    });
    const sockets = Array.from({ length: 4 }, () => client(rig.port, upgrade("192.0.2.1")));
    await eventually(() => openConnections(app.server) === 4);
    const refusal = /^HTTP\/1\.1 503 [\s\S]*Retry-After: 1\r\n[\s\S]*TG_UPSTREAM_BUSY/;
    expect(await raw(rig.port, upgrade("192.0.2.1"))).toMatch(refusal);
    for (let i = 0; i < 4; i++) client(rig.port, upgrade("192.0.2.2"));
    await eventually(() => openConnections(app.server) === 8);
    expect(await raw(rig.port, upgrade("192.0.2.3"))).toMatch(refusal);
    const waiting = raw(rig.port, get("192.0.2.3"));
    await eventually(async () => (await active(rig)) === 9);
    sockets[0]?.destroy();
    expect(await waiting).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("that are open do not", async () => {
    const app = await openUpstream(echo);
    new WebSocketServer({ server: app.server });
    const rig = await openRig({ upstreams: [{ urls: [app.url] }], proxy: { connections: 1 } });
    const open: WebSocket[] = [];
    for (let i = 0; i < 6; i++) {
      const socket = new WebSocket(rig.url.replace("http", "ws"));
      open.push(socket);
      await new Promise((resolve, reject) => socket.on("open", resolve).on("error", reject));
    }
    expect((await fetch(rig.url)).status).toBe(200);
    for (const socket of open) socket.terminate();
  });
});

describe("what a trusted proxy did not clean", () => {
  it("another spelling of a header that says who is logged in is dropped", async () => {
    const app = await openUpstream(echo);
    const { url } = await openRig({
      upstreams: [{ urls: [app.url] }],
      settings: { ...behindProxy, identify: { customer: "X-Customer-Id" } },
    });
    const response = await fetch(url, {
      headers: {
        "X-Customer-Id": "c1",
        X_Customer_Id: "admin",
        "X-Customer_Id": "admin",
        X_Real_IP: "6.6.6.6",
        X_Forwarded_For: "6.6.6.6",
        X_Mine: "m",
      },
    });
    const { headers } = (await response.json()) as Echoed;
    expect(headers).toMatchObject({ "x-customer-id": "c1", x_mine: "m" });
    expect(Object.keys(headers).filter((name) => name.includes("_"))).toEqual(["x_mine"]);
  });
});

describe("a rule for a path", () => {
  it("holds for the same path in other letters: the app behind may take one for the other", async () => {
    const app = await openUpstream(echo);
    const rig = await openRig({
      upstreams: [{ urls: [app.url] }],
      gate: { rules: [{ name: "login", by: "ip", only: "/login", limits: "2 per hour" }] },
    });
    const statuses: number[] = [];
    for (const path of ["/login", "/LOGIN", "/Login", "/other"])
      statuses.push((await fetch(`${rig.url}${path}`)).status);
    expect(statuses).toEqual([200, 200, 429, 200]);
  });
});

import { once } from "node:events";
import { type IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { TidegateError } from "tidegate";
import { afterEach, describe, expect, it } from "vitest";
import type { Log } from "../log.js";
import { Secret } from "../secret.js";
import { bearerToken } from "./bearer.js";
import { type Listener, type ListenOptions, listen } from "./listen.js";
import { requireToken } from "./require-token.js";

const lines: { level: string; fields: Record<string, unknown>; words: string }[] = [];
const note = (level: string) => (fields: object, words: string) =>
  void lines.push({ level, fields: { ...fields }, words });
const log = Object.fromEntries(
  ["trace", "debug", "info", "warn", "error"].map((level) => [level, note(level)]),
) as unknown as Log;

const open: Listener[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(open.splice(0).map((listener) => listener.close(0)));
  lines.length = 0;
});

/** More than a kernel takes in for who does not read. */
const large = 30_000_000;

async function started(options: Partial<ListenOptions> = {}): Promise<Listener> {
  const listener = await listen({
    name: "admin",
    address: { host: "127.0.0.1", port: 0 },
    handle: (_req, res) => res.end("hello"),
    hosts: [],
    log,
    ...options,
  });
  open.push(listener);
  return listener;
}

interface Wire {
  readonly socket: Socket;
  text(): string;
  /** Resolves when the text has come, or the other side has ended. */
  until(part: string): Promise<string>;
  ended(): Promise<string>;
}

function wire(port: number, host = "127.0.0.1"): Wire {
  const socket = connect({ port, host });
  sockets.push(socket);
  let text = "";
  socket.setEncoding("latin1").on("data", (piece) => {
    text += piece;
  });
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  return {
    socket,
    text: () => text,
    async until(part) {
      while (!text.includes(part) && !socket.destroyed)
        await Promise.race([once(socket, "data"), closed]).catch(() => {});
      return text;
    },
    async ended() {
      await closed;
      return text;
    },
  };
}

async function ask(port: number, headers: string[], target = "/"): Promise<string> {
  const { socket, ended } = wire(port);
  socket.write(
    `GET ${target} HTTP/1.1\r\n${headers.map((line) => `${line}\r\n`).join("")}Connection: close\r\n\r\n`,
  );
  return ended();
}

const statusOf = (answer: string): number => Number(answer.slice(9, 12));

describe("an address", () => {
  it("of port 0 is any free one, and the url says which", async () => {
    const { url, port } = await started();
    expect(port).toBeGreaterThan(0);
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect(await (await fetch(url)).text()).toBe("hello");
  });

  it("of IPv6 stands in brackets", async () => {
    const { url, port } = await started({ address: { host: "::1", port: 0 } });
    expect(url).toBe(`http://[::1]:${port}`);
    expect((await fetch(url)).status).toBe(200);
  });

  it("of all interfaces is named by loopback, so that the url can be called", async () => {
    expect((await started({ address: { host: "0.0.0.0", port: 0 } })).url).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+$/,
    );
    expect((await started({ address: { host: "::", port: 0 } })).url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  });

  it("that is taken is an error that says which listener, which address and what to do", async () => {
    const { port } = await started();
    const failure = started({ name: "decide", address: { host: "127.0.0.1", port } });
    await expect(failure).rejects.toThrow(TidegateError);
    await expect(failure).rejects.toMatchObject({
      code: "TG_LISTEN",
      message: expect.stringContaining(
        `The decide listener can not take 127.0.0.1:${port}: somebody listens there already.`,
      ),
      help: expect.stringContaining("--decide (listen.decide in tidegate.yaml)"),
    });
  });

  it("of another machine is an error too", async () => {
    await expect(started({ address: { host: "203.0.113.1", port: 0 } })).rejects.toMatchObject({
      code: "TG_LISTEN",
    });
  });

  it("that others can reach needs a token", () => {
    const bind = (host: string, token?: string) => () =>
      requireToken({
        name: "admin",
        address: { host, port: 1 },
        token: token === undefined ? undefined : new Secret(token),
      });
    for (const host of ["127.0.0.1", "127.0.0.9", "::1", "localhost"]) expect(bind(host)).not.toThrow();
    for (const host of ["0.0.0.0", "::", "10.0.0.1", "example.com", ""])
      expect(bind(host)).toThrow(/listen\.admin: .*Set admin\.token.*TG_PUBLIC_BIND/);
    expect(bind("0.0.0.0", "t")).not.toThrow();
  });
});

describe("Host and Origin", () => {
  it.each([
    "127.0.0.1",
    "127.0.0.1:1",
    "[::1]:8088",
    "203.0.113.7",
    "localhost",
    "LocalHost:9",
    "localhost.",
    "admin.example.com",
    "ADMIN.example.com:444",
  ])("%s may call", async (host) => {
    const { port } = await started({ hosts: ["Admin.Example.com"] });
    expect(statusOf(await ask(port, [`Host: ${host}`]))).toBe(200);
  });

  it.each([
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.localhost",
    "x@127.0.0.1",
    "127.0.0.1/",
    "127.1",
    "2130706433",
    "0x7f000001",
    "[::1",
    "[localhost]",
    "[127.0.0.1]",
    "127.0.0.1:99999",
    "127.0.0.1, evil.example",
    "localhost\tx",
    "\u00ff",
    "",
  ])("%j is turned away: a name of somebody else's may point here", async (host) => {
    const { port } = await started({ hosts: ["admin.example.com"] });
    const answer = await ask(port, [`Host: ${host}`]);
    expect([400, 421]).toContain(statusOf(answer));
    expect(answer).not.toContain("hello");
  });

  it("says what to do", async () => {
    const { port } = await started();
    const answer = await ask(port, ["Host: evil.example"]);
    expect(answer).toContain("application/problem+json");
    expect(JSON.parse(answer.slice(answer.indexOf("{")))).toMatchObject({ status: 421, code: "TG_HOST" });
  });

  it("two Hosts, none, and a whole URL as target are turned away", async () => {
    const { port } = await started();
    expect([400, 421]).toContain(statusOf(await ask(port, ["Host: localhost", "Host: evil.example"])));
    expect(statusOf(await ask(port, ["Host: localhost"], "http://evil.example/"))).toBe(421);
    const old = wire(port);
    old.socket.write("GET / HTTP/1.0\r\n\r\n");
    expect(statusOf(await old.ended())).toBe(421);
  });

  it.each([
    ["http://localhost:8088", "localhost:8088"],
    ["http://localhost", "localhost"],
    ["http://localhost:80", "localhost"],
    ["https://admin.example.com", "admin.example.com"],
    ["https://admin.example.com", "127.0.0.1:8088"],
    ["http://[::1]:8088", "[::1]:8088"],
  ])("a page of %s may ask %s", async (origin, host) => {
    const { port } = await started({ hosts: ["admin.example.com"] });
    expect(
      statusOf(await ask(port, [`Host: ${host}`, `Origin: ${origin}`, "Sec-Fetch-Site: same-origin"])),
    ).toBe(200);
  });

  it.each([
    "null",
    "",
    "http://evil.example",
    "http://localhost:3000",
    "http://localhost.evil.example:8088",
    "http://localhost:8088@evil.example",
    "file://localhost:8088",
    "localhost:8088",
    "http://localhost:8088, http://evil.example",
  ])("a page of %j may not", async (origin) => {
    const { port } = await started();
    const answer = await ask(port, ["Host: localhost:8088", `Origin: ${origin}`]);
    expect(statusOf(answer)).toBe(403);
    expect(answer).toContain("TG_ORIGIN");
  });

  it("what the browser itself calls cross-site may not", async () => {
    const { port } = await started();
    expect(statusOf(await ask(port, ["Host: localhost", "Sec-Fetch-Site: cross-site"]))).toBe(403);
    expect(statusOf(await ask(port, ["Host: localhost", "Sec-Fetch-Site: none"]))).toBe(200);
  });

  it("are checked for upgrades too", async () => {
    let upgrades = 0;
    const { port } = await started({
      upgrade: (_req, socket) => {
        upgrades++;
        socket.end("HTTP/1.1 101 Switching Protocols\r\n\r\n");
      },
    });
    const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    for (const [headers, status] of [
      ["Host: evil.example\r\n", 421],
      ["Host: localhost\r\nOrigin: http://evil.example\r\n", 403],
      ["Host: localhost\r\nOrigin: http://localhost\r\n", 101],
    ] as const) {
      const { socket, until } = wire(port);
      socket.write(`GET / HTTP/1.1\r\n${headers}${upgrade}`);
      expect(statusOf(await until("\r\n\r\n"))).toBe(status);
    }
    expect(upgrades).toBe(1);
  });

  it("are not checked where any may call", async () => {
    const { port } = await started({ hosts: "any" });
    expect(statusOf(await ask(port, ["Host: evil.example", "Origin: null"]))).toBe(200);
  });
});

describe("an Expect nobody knows", () => {
  it("reaches the handler as any request, behind the same checks", async () => {
    const { port } = await started();
    expect(await ask(port, ["Host: localhost", "Expect: foo"])).toMatch(/^HTTP\/1\.1 200 [\s\S]*hello/);
    expect(statusOf(await ask(port, ["Host: elsewhere.example", "Expect: foo"]))).toBe(421);
  });
});

describe("a listener that passes nothing on", () => {
  it("answers CONNECT in words", async () => {
    const { port } = await started();
    const { socket, ended } = wire(port);
    socket.write("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n");
    const answer = await ended();
    expect(answer).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\nAllow: \r\nConnection: close\r\n/);
    expect(JSON.parse(answer.slice(answer.indexOf("{")))).toMatchObject({ status: 405, code: "TG_METHOD" });
  });

  it("never answers CONNECT in the place of a request before it", async () => {
    const { port } = await started({ handle: () => {} });
    const { socket, ended } = wire(port);
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n");
    expect(await ended()).toBe("");
  });

  it("takes no notice of an Upgrade", async () => {
    const { port } = await started();
    const { socket, until } = wire(port);
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    expect(await until("hello")).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});

describe("what can not be read", () => {
  it.each([
    ["a word", "NONSENSE\r\n\r\n", 400],
    [
      "a body of two lengths",
      "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      400,
    ],
    ["a header with a blank", "GET / HTTP/1.1\r\nHost: localhost\r\nBad Header: x\r\n\r\n", 400],
    ["TLS", "\x16\x03\x01\x02\x00\x01", 400],
    ["a huge header", `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431],
  ])("%s is answered and the connection ended", async (_, text, status) => {
    const { port } = await started();
    const { socket, ended } = wire(port);
    socket.write(text, "latin1");
    const answer = await ended();
    expect(statusOf(answer)).toBe(status);
    expect(answer).toContain("Connection: close");
    expect(answer).toContain("TG_REQUEST");
  });

  it("of a request that has its answer is not answered again", async () => {
    const { port } = await started({
      serverOptions: { headersTimeout: 300, requestTimeout: 300, connectionsCheckingInterval: 50 },
    });
    const head = "POST / HTTP/1.1\r\nHost: localhost\r\n";
    for (const [begin, rest] of [
      ["Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "ZZZ\r\n"],
      ["Content-Length: 1000\r\n\r\nabc", ""],
    ] as const) {
      const { socket, ended } = wire(port);
      socket.write(head + begin);
      await once(socket, "data");
      socket.write(rest);
      expect((await ended()).match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
    }
  });

  it("behind a request whose rest came after its answer is answered as ever", async () => {
    const { port } = await started();
    const { socket, ended } = wire(port);
    socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\nabc");
    await once(socket, "data");
    socket.write("defNONSENSE\r\n\r\n");
    expect((await ended()).match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 400"]);
  });

  it("that comes too slowly is answered 408", async () => {
    const { port } = await started({
      serverOptions: { headersTimeout: 50, connectionsCheckingInterval: 20 },
    });
    const { socket, ended } = wire(port);
    socket.write("GET / HTTP/1.1\r\nHost: local");
    expect(statusOf(await ended())).toBe(408);
  });

  it("is noted with its text escaped, and without what may be a secret", async () => {
    const { port } = await started();
    const { socket, ended } = wire(port);
    socket.write("GET /\x1b[31m?token=hush HTTP/9.9\r\nAuthorization: Bearer hush\r\n\r\n");
    await ended();
    const [line] = lines;
    expect(line?.level).toBe("debug");
    expect(line?.fields).toMatchObject({
      listener: "admin",
      peer: "127.0.0.1",
      failure: expect.stringMatching(/^HPE_/),
    });
    expect(JSON.stringify(line)).not.toMatch(/hush/);
    expect(line?.fields.line).toBe("GET /\\u001b[31m");
  });

  it("behind an answer that has begun is never taken for part of it", async () => {
    const { port } = await started({
      handle: (_req, res) => {
        res.writeHead(200, { "Content-Length": "10" });
        res.write("hello");
      },
    });
    const { socket, until, ended } = wire(port);
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await until("hello");
    socket.write("NONSENSE\r\n\r\n");
    expect((await ended()).endsWith("hello")).toBe(true);
  });
});

describe("requests sent before the first is answered", () => {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

  it("are handled one after another, in their order", async () => {
    const begun: string[] = [];
    const waiting: ServerResponse[] = [];
    const { port } = await started({
      handle(req, res) {
        begun.push(req.url as string);
        waiting.push(res);
      },
    });
    const { socket, until } = wire(port);
    socket.write(get("/1") + get("/2") + get("/3"));
    for (const path of ["/1", "/2", "/3"]) {
      while (begun.at(-1) !== path) await new Promise((resolve) => setTimeout(resolve, 5));
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(begun.at(-1)).toBe(path);
      waiting.pop()?.end(`answer ${path}`);
      await until(`answer ${path}`);
    }
    expect(begun).toEqual(["/1", "/2", "/3"]);
  });

  it("are not handled at all when the answer before them ends the connection", async () => {
    const begun: string[] = [];
    const { port } = await started({
      handle(req, res) {
        begun.push(req.url as string);
        res.writeHead(400, { Connection: "close" }).end("no");
      },
    });
    const { socket, ended } = wire(port);
    socket.write(get("/doubtful") + get("/smuggled"));
    await ended();
    expect(begun).toEqual(["/doubtful"]);
  });

  it("are cut off when they are too many", async () => {
    let handled = 0;
    const { port } = await started({ handle: () => void handled++ });
    const { socket, ended } = wire(port);
    socket.write(get("/").repeat(100));
    await ended();
    expect(handled).toBeLessThanOrEqual(1);
  });
});

describe("a handler that throws", () => {
  it.each([
    [
      "at once",
      () => {
        throw new Error("inner words");
      },
    ],
    [
      "later",
      async () => {
        throw new Error("inner words");
      },
    ],
  ])("%s is answered 500 without its words", async (_, handle) => {
    const { port } = await started({ handle });
    const answer = await ask(port, ["Host: localhost"]);
    expect(statusOf(answer)).toBe(500);
    expect(answer).toContain("TG_INTERNAL");
    expect(answer).not.toContain("inner words");
    expect(lines.some(({ level }) => level === "error")).toBe(true);
  });
});

describe("an answer that is cut never looks whole, to HTTP/1.0 neither", () => {
  /** What HTTP/1.0 is told of how an answer ended. */
  const broken = async ({ socket, ended }: Wire): Promise<unknown> =>
    Promise.race([once(socket, "error"), ended()]);

  it("when the client says that it will say nothing more", async () => {
    const { port } = await started({ handle: (_req, res) => void res.write("first") });
    const client = wire(port);
    client.socket.allowHalfOpen = true;
    client.socket.write("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n");
    await client.until("first");
    client.socket.end();
    expect(await broken(client)).toMatchObject([{ code: "ECONNRESET" }]);
  });

  it("when the request's body does not come in time", async () => {
    const { port } = await started({
      handle: (_req, res) => void res.write("first"),
      serverOptions: { headersTimeout: 200, requestTimeout: 200, connectionsCheckingInterval: 50 },
    });
    const client = wire(port);
    client.socket.write("POST / HTTP/1.0\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc");
    await client.until("first");
    expect(await broken(client)).toMatchObject([{ code: "ECONNRESET" }]);
  });

  it("and one that has been given whole is not cut when the client says nothing more", async () => {
    const { port } = await started({ handle: (_req, res) => void res.end(Buffer.alloc(large, "x")) });
    const { socket, until, ended } = wire(port);
    socket.allowHalfOpen = true;
    socket.write("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n");
    await until("xx");
    socket.end();
    expect((await ended()).length).toBeGreaterThan(large);
  });
});

describe("an answer that does not wait for the request's body, and ends the connection", () => {
  const head = `POST /1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${large}\r\n\r\n`;

  async function refusing() {
    const requests: IncomingMessage[] = [];
    const handle = (req: IncomingMessage, res: ServerResponse): void => {
      requests.push(req);
      res.writeHead(400, { Connection: "close" }).end("refused");
    };
    const listener = await started({ handle });
    return { listener, requests, port: listener.port };
  }

  /** A client that does not end its side when the other has. */
  function stubborn(port: number) {
    const client = wire(port);
    client.socket.allowHalfOpen = true;
    return client;
  }

  it("is read by a client that goes on sending, and its connection is over when all has come", async () => {
    const { port, requests } = await refusing();
    for (let i = 0; i < 5; i++) {
      const { socket, until, text } = stubborn(port);
      const ended = once(socket, "end");
      socket.write(head);
      for (let sent = 0; sent < large && !socket.destroyed; sent += 1_000_000)
        if (!socket.write(Buffer.alloc(1_000_000))) await once(socket, "drain");
      await until("refused");
      await ended;
      expect(text()).toMatch(/^HTTP\/1\.1 400 [\s\S]*refused/);
      await expect.poll(() => requests[i]?.socket.destroyed).toBe(true);
      expect(requests[i]?.complete).toBe(true);
    }
  });

  it("is followed by no other: what comes behind is nobody's", async () => {
    const { port, requests } = await refusing();
    const { socket, until, text } = stubborn(port);
    socket.write("POST /1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\na");
    await until("refused");
    socket.write("bcdGET /2 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await expect.poll(() => requests[0]?.socket.destroyed).toBe(true);
    expect(requests).toHaveLength(1);
    expect(text().match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it("leaves nothing open of a client that sends no more", async () => {
    const { port, requests } = await refusing();
    const { socket, until } = stubborn(port);
    socket.write(`${head}abc`);
    await until("refused");
    await expect.poll(() => requests[0]?.socket.destroyed, { timeout: 20_000 }).toBe(true);
  });

  it("holds a shutdown up for no more than a moment", async () => {
    const { port, listener, requests } = await refusing();
    const { socket, until } = stubborn(port);
    socket.write(`${head}abc`);
    await until("refused");
    const more = setInterval(() => socket.write("d"), 100);
    socket.on("close", () => clearInterval(more));
    await listener.close(60_000);
    expect(requests[0]?.socket.destroyed).toBe(true);
  });

  it("is read in a shutdown too", async () => {
    const answers: ServerResponse[] = [];
    const listener = await started({ handle: (_req, res) => void answers.push(res) });
    const { socket, text } = stubborn(listener.port);
    const ended = once(socket, "end");
    let failed: unknown;
    socket.on("error", (error) => (failed = error));
    socket.write(head);
    await expect.poll(() => answers.length).toBe(1);
    const closed = listener.close(60_000);
    answers[0]?.end("refused");
    for (let i = 0; i < 10 && !socket.destroyed; i++)
      if (!socket.write(Buffer.alloc(1_000_000))) await once(socket, "drain");
    await ended;
    expect([text(), failed]).toEqual([expect.stringContaining("refused"), undefined]);
    socket.destroy();
    await closed;
  });

  it("leaves an idle connection where all has come later, and one that ends where it still comes", async () => {
    const listener = await started({ handle: (_req, res) => res.writeHead(429).end("refused") });
    const [idle, coming] = [wire(listener.port), stubborn(listener.port)];
    for (const { socket, until } of [idle, coming]) {
      socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n");
      await until("refused");
    }
    idle.socket.write("hello");
    idle.socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await expect.poll(() => idle.text().match(/refused/g)?.length).toBe(2);
    idle.socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n");
    await expect.poll(() => idle.text().match(/refused/g)?.length).toBe(3);
    idle.socket.write("hello");
    coming.socket.write("he");
    const heardTheEnd = once(coming.socket, "end");
    await new Promise((resolve) => setTimeout(resolve, 100));
    const closed = listener.close(60_000);
    await heardTheEnd;
    coming.socket.write("llo");
    await closed;
  });
});

describe("a client that leaves its answer unread", () => {
  it("is cut after a while, whoever gave the answer", async () => {
    const answers: ServerResponse[] = [];
    const { port } = await started({
      handle: (_req, res) => void answers.push(res.end(Buffer.alloc(large, "x"))),
      readerTimeoutMs: 200,
    });
    const client = wire(port);
    client.socket.pause().write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await expect.poll(() => answers[0]?.closed, { timeout: 10_000 }).toBe(true);
    client.socket.resume();
    expect((await client.ended()).length).toBeLessThan(large);
  });

  it("is not cut once it has read it, however long the rest takes", async () => {
    const answers: ServerResponse[] = [];
    const { port } = await started({
      handle: (_req, res) => {
        res.write(Buffer.alloc(large, "x"));
        answers.push(res);
      },
      readerTimeoutMs: 2_000,
    });
    const { socket, ended } = wire(port);
    socket.pause().write("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n");
    const timeout = () => answers[0]?.socket?.timeout;
    await expect.poll(timeout, { timeout: 10_000 }).toBe(2_000);
    socket.resume();
    await expect.poll(timeout, { timeout: 10_000 }).toBe(0);
    answers[0]?.end("the end");
    expect((await ended()).slice(-9)).toBe("xxthe end");
  });
});

describe("closing", () => {
  /** Answers are given when the test says so. */
  function slow() {
    const waiting: ServerResponse[] = [];
    let arrived: () => void = () => {};
    return {
      waiting,
      handle(_req: IncomingMessage, res: ServerResponse) {
        waiting.push(res);
        arrived();
      },
      async arrivals(count: number): Promise<void> {
        while (waiting.length < count) await new Promise<void>((resolve) => (arrived = resolve));
      },
    };
  }

  it("ends idle connections at once, and those that never said anything", async () => {
    const listener = await started();
    const silent = wire(listener.port);
    const used = wire(listener.port);
    used.socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await used.until("hello");
    const untidy = wire(listener.port);
    untidy.socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\na");
    await untidy.until("hello");
    untidy.socket.write("\r\n");
    await new Promise((resolve) => setTimeout(resolve, 100));
    const before = performance.now();
    await listener.close(10_000);
    expect(performance.now() - before).toBeLessThan(5_000);
    await Promise.all([silent.ended(), used.ended(), untidy.ended()]);
  });

  it("waits for answers under way, which say that the connection ends", async () => {
    const app = slow();
    const listener = await started({ handle: app.handle });
    const { socket, ended } = wire(listener.port);
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await app.arrivals(1);
    const closed = listener.close(20_000);
    await expect(fetch(listener.url)).rejects.toThrow();
    app.waiting[0]?.end("late but whole");
    expect(await ended()).toMatch(/Connection: close\r\n[\s\S]*late but whole$/);
    await closed;
  });

  it("waits for an answer whose headers are out already, and then ends its connection", async () => {
    const app = slow();
    const listener = await started({ handle: app.handle });
    const { socket, until, ended } = wire(listener.port);
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await app.arrivals(1);
    app.waiting[0]?.writeHead(200, { "Content-Length": "10" }).write("first");
    await until("first");
    const closed = listener.close(20_000);
    app.waiting[0]?.end("after");
    expect(await ended()).toMatch(/firstafter$/);
    await closed;
  });

  it("lets a request that has begun to arrive come in", async () => {
    const listener = await started();
    const { socket, ended } = wire(listener.port);
    await once(socket, "connect");
    socket.write("GET / HTTP/1.1\r\nHost: local");
    await new Promise((resolve) => setTimeout(resolve, 100));
    const closed = listener.close(20_000);
    socket.write("host\r\n\r\n");
    expect(await ended()).toMatch(/Connection: close\r\n[\s\S]*hello$/);
    await closed;
  });

  it("destroys what is left when the time is over", async () => {
    const app = slow();
    const listener = await started({ handle: app.handle });
    const { socket, ended } = wire(listener.port);
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await app.arrivals(1);
    await listener.close(50);
    expect(await ended()).toBe("");
  });

  it("breaks what it cuts of an answer, which would else look whole to HTTP/1.0", async () => {
    const listener = await started({ handle: (_req, res) => void res.write("first") });
    const { socket, until, ended } = wire(listener.port);
    const failed = once(socket, "error");
    socket.write("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n");
    await until("first");
    await listener.close(50);
    expect(await Promise.race([failed, ended()])).toMatchObject([{ code: "ECONNRESET" }]);
  });

  it("waits until a slow client has all of an answer", async () => {
    const answers: ServerResponse[] = [];
    const listener = await started({
      handle: (_req, res) => void answers.push(res.end(Buffer.alloc(large, "x"))),
    });
    const { socket, until, ended } = wire(listener.port);
    socket.write("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n");
    await until("xx");
    socket.pause();
    const closed = listener.close(20_000);
    expect(answers[0]?.writableFinished).toBe(false);
    socket.resume();
    expect((await ended()).length).toBeGreaterThan(large);
    await closed;
  });

  it("ends upgraded connections, and destroys those that do not end", async () => {
    const listener = await started({
      upgrade: (_req, socket) => socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n"),
    });
    const { socket, until } = wire(listener.port);
    // Its side stays open when the other has ended.
    socket.allowHalfOpen = true;
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
    await until("101");
    const heardTheEnd = once(socket, "end");
    await listener.close(60_000);
    await heardTheEnd;
  });

  it("waits for who asked for an upgrade and is answered in HTTP all the same, and says what it cut", async () => {
    const waiting: ServerResponse[] = [];
    const answerable = (): Promise<Listener> =>
      started({
        upgrade(req, socket) {
          const res = new ServerResponse(req);
          res.assignSocket(socket as Socket);
          res.on("finish", () => {
            res.detachSocket(socket as Socket);
            socket.end(() => socket.destroy());
          });
          waiting.push(res);
        },
      });
    const offer = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";
    const first = await answerable();
    const patient = wire(first.port);
    patient.socket.write(offer);
    while (waiting.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    const closed = first.close(20_000);
    setTimeout(() => waiting[0]?.end("late but whole"), 50);
    expect(await patient.ended()).toMatch(/late but whole/);
    await closed;
    expect(lines).toEqual([]);

    const second = await answerable();
    const cut = wire(second.port);
    cut.socket.write(offer);
    while (waiting.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    await second.close(50);
    expect(await cut.ended()).toBe("");
    expect(lines).toMatchObject([{ level: "warn", fields: { listener: "admin", requests: 1, tunnels: 0 } }]);
  });

  it("twice is closing once", async () => {
    const listener = await started();
    await Promise.all([listener.close(10), listener.close(10)]);
  });
});

describe("a bearer", () => {
  it("brings the token, however the scheme is spelt", () => {
    for (const text of ["Bearer s3cret", "bearer s3cret", "BEARER  s3cret "])
      expect(bearerToken(text)).toBe("s3cret");
  });

  it("brings nothing else", () => {
    for (const text of [undefined, "", "Bearer", "Bearer ", "s3cret", "Basic s3cret", "Bearer s3cret x"])
      expect(bearerToken(text)).toBeUndefined();
    for (const text of ["Bearer s3cre", "Bearer s3cret\u0000"]) expect(bearerToken(text)).not.toBe("s3cret");
  });
});

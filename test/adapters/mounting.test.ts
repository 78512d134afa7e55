import { once } from "node:events";
import { createServer, type IncomingMessage, request, ServerResponse } from "node:http";
import { connect as connectHttp2, constants, createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import express from "express";
import { concurrency, createGate, type Gate, type Warning } from "tidegate";
import { tidegate as expressGate } from "tidegate/express";
import { tidegate as fetchGate } from "tidegate/fetch";
import { decisionOf, tidegate } from "tidegate/node";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ask } from "../../packages/tidegate/src/testing/ask.js";
import { listening } from "./serving.js";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function urlOf(server: ReturnType<typeof createServer>): Promise<string> {
  const { url, close } = await listening(server);
  closers.push(close);
  return url;
}

/** A gate that notes how its decisions are finished. */
function watchedGate(limit: "1 per minute" | "5 per minute"): { gate: Gate; outcomes: unknown[] } {
  const gate = createGate({ rules: [{ name: "all", by: "ip", limits: [limit] }] });
  const outcomes: unknown[] = [];
  async function decide(...asked: Parameters<Gate["decide"]>) {
    const decision = await gate.decide(...asked);
    return { ...decision, finish: async (outcome?: object) => void outcomes.push(outcome) };
  }
  return { gate: { ...gate, decide }, outcomes };
}

/** For a machine that has much else to do. */
const patiently = { timeout: 15_000 };

const nobody = { rules: [{ name: "none", by: "ip", limits: ["0 per minute"] }] } as const;

describe("tidegate/express", () => {
  it("matches whole paths also below a mount point", async () => {
    const app = express();
    app.use("/api", expressGate({ rules: [{ ...nobody.rules[0], only: "/api/v1" }] }));
    app.use((_, res) => void res.send("x"));
    const url = await urlOf(createServer(app));
    expect((await ask(url, { target: "/api/v1/users" })).status).toBe(429);
    expect((await ask(url, { target: "/api/v2/users" })).status).toBe(200);
    expect((await ask(url, { target: "/v1/users" })).status).toBe(200);
  });

  it("adds to a Vary that stands there", async () => {
    const app = express();
    app.use((_, res, next) => {
      res.setHeader("Vary", "Origin");
      next();
    });
    app.use(expressGate(nobody));
    const url = await urlOf(createServer(app));
    expect((await ask(url)).headers.vary).toBe("Origin, Accept");
  });

  it("hands out the gate it made", async () => {
    const middleware = expressGate({ limit: "1 per minute" });
    const refused = vi.fn();
    middleware.gate.on("refused", refused);
    const url = await urlOf(createServer(express().use(middleware)));
    await ask(url);
    await ask(url);
    expect(refused).toHaveBeenCalledTimes(1);
  });
});

describe("tidegate/node", () => {
  it("judges a single request where no handler is at hand", async () => {
    const guard = tidegate({ limit: "1 per minute" });
    const url = await urlOf(
      createServer(async (req, res) => {
        if (await guard(req, res)) res.end(decisionOf(req)?.reason);
      }),
    );
    expect((await ask(url)).body).toBe("within-limits");
    expect((await ask(url)).status).toBe(429);
  });

  it("knows a request again that somebody has wrapped, and counts it once", async () => {
    const onWarning = vi.fn<(warning: Warning) => void>();
    const guard = tidegate({ limit: "2 per minute", onWarning });
    const inner = guard((req, res) => res.end(decisionOf(req)?.reason));
    const url = await urlOf(createServer(guard((req, res) => inner(Object.create(req), res))));
    const { body, headers } = await ask(url);
    expect([body, headers.ratelimit]).toEqual(["within-limits", expect.stringContaining(";r=1;")]);
    expect(onWarning.mock.calls.map(([{ code }]) => code)).toEqual(["TG_MOUNTED_TWICE"]);
  });

  it("tells listeners a request's facts, and not the request: they may be logged", async () => {
    const guard = tidegate({ limit: "2 per minute" });
    const told: string[] = [];
    guard.gate.on("decision", ({ subject }) => told.push(JSON.stringify(subject)));
    await ask(await urlOf(createServer(guard((_, res) => res.end()))), { headers: { cookie: "secret=1" } });
    expect(JSON.parse(told.join())).toEqual({
      ip: "127.0.0.1",
      ignoresCase: false,
      method: "GET",
      path: "/",
    });
  });

  it("leaves a request alone whose client left while it was made known, and gives its lease back", async () => {
    let handled = 0;
    let known = () => {};
    const arrived = new Promise<void>((resolve) => {
      known = resolve;
    });
    let goOn = () => {};
    const identified = new Promise<object>((resolve) => {
      goOn = () => resolve({});
    });
    const gate = createGate({
      rules: [{ name: "one", by: "ip", limits: [concurrency({ limit: 1, leaseFor: "1m" })] }],
    });
    const guard = tidegate({
      gate,
      identify: () => {
        known();
        return identified;
      },
    });
    const server = createServer(
      guard((_, res) => {
        handled++;
        res.end("ok");
      }),
    );
    const url = await urlOf(server);
    const left = request(url).on("error", () => {});
    const gone = once(server, "connection").then(([socket]) => once(socket, "close"));
    left.end();
    await arrived;
    left.destroy();
    await gone;
    goOn();
    await vi.waitFor(() => expect(gate.metrics().decisions).toBe(1), patiently);
    expect([handled, (await ask(url)).status, handled]).toEqual([0, 200, 1]);
  });

  it("lets an upgrade in, and finishes it with its socket", async () => {
    const { gate, outcomes } = watchedGate("1 per minute");
    const server = createServer();
    server.on(
      "upgrade",
      tidegate({ gate }).upgrade((_, socket) => {
        socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n");
        socket.on("data", (data) => socket.write(data));
        socket.on("end", () => socket.end());
      }),
    );
    const url = await urlOf(server);
    const upgrade = () =>
      request(url, { headers: { connection: "upgrade", upgrade: "echo" }, agent: false }).end();

    const [, socket] = await once(upgrade(), "upgrade");
    socket.write("hello");
    expect(String((await once(socket, "data"))[0])).toBe("hello");
    expect(outcomes).toEqual([]);

    const [response] = await once(upgrade(), "response");
    expect(response.statusCode).toBe(429);
    expect(response.headers).toMatchObject({ connection: "close", "retry-after": expect.any(String) });
    await vi.waitFor(() => expect(outcomes).toEqual([{ status: 429 }]), patiently);

    socket.destroy();
    await vi.waitFor(() => expect(outcomes).toEqual([{ status: 429 }, { status: 101 }]), patiently);
  });

  it("refuses an upgrade as the app says, also in numbers, and as usual what can not be sent", async () => {
    const refusals: unknown[] = [
      { headers: { "Retry-After": 7, "X-Who": "Jos\u00e9" }, body: "slow" },
      { headers: { "X-Who": "a\r\nb" } },
    ];
    const onWarning = vi.fn();
    const refuse = () => refusals.shift() as { body: string };
    const server = createServer();
    server.on("upgrade", tidegate({ ...nobody, refuse, onWarning }).upgrade(vi.fn()));
    const url = await urlOf(server);
    const upgrade = () => ask(url, { headers: { connection: "upgrade", upgrade: "echo" } });
    expect(await upgrade()).toMatchObject({
      headers: { "retry-after": "7", "x-who": "Jos\u00e9" },
      body: "slow",
    });
    expect(JSON.parse((await upgrade()).body)).toMatchObject({ status: 429 });
    expect(onWarning).toHaveBeenCalledTimes(1);
  });

  it("keeps no socket of a refused upgrade, whether the client hangs up or not", async () => {
    const server = createServer();
    server.on("upgrade", tidegate(nobody).upgrade(vi.fn()));
    const { port, hostname } = new URL(await urlOf(server));
    const client = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    client.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nmore");
    let answer = "";
    client.on("data", (data) => {
      answer += data;
    });
    await once(client, "end");
    expect(answer).toMatch(/^HTTP\/1.1 429 .*"status":429.*}$/s);
    const connections = () => new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
    await vi.waitFor(async () => expect(await connections()).toBe(0));
    client.destroy();
  });

  it("answers 500 in one piece for a handler that throws after it announced a body", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const guard = tidegate({ limit: "5 per minute" });
    const handler = (_: IncomingMessage, res: ServerResponse) => {
      res.setHeader("Content-Length", "100");
      res.setHeader("Content-Encoding", "gzip");
      throw new Error("a fault of the app");
    };
    const { status, headers } = await ask(await urlOf(createServer(guard(handler))));
    expect({ status, length: headers["content-length"] }).toEqual({ status: 500, length: "0" });
    expect(headers).not.toHaveProperty("content-encoding");
    log.mockRestore();
  });

  const refusing = "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n";

  it.each<[string, (socket: Duplex, req: IncomingMessage) => void, object]>([
    ["end", (socket) => socket.end(refusing), { status: 401 }],
    ["write", (socket) => socket.write(refusing, () => socket.destroy()), { status: 401 }],
    ["bytes", (socket) => socket.end(Buffer.from(refusing)), { status: 401 }],
    [
      "letters",
      (socket) => {
        for (const letter of refusing) socket.write(letter);
        socket.end();
      },
      { status: 401 },
    ],
    [
      "a response of node:http",
      (socket, req) => {
        const res = new ServerResponse(req);
        res.assignSocket(socket as Socket);
        res.writeHead(403, { connection: "close" }).end("no", () => socket.end());
      },
      { status: 403 },
    ],
    ["something else", (socket) => socket.end("no HTTP/1.1 401 at all"), {}],
    ["nothing", (socket) => socket.destroy(), {}],
  ])("finishes an upgrade with the status its handler wrote: %s", async (_, answer, expected) => {
    const { gate, outcomes } = watchedGate("5 per minute");
    const server = createServer();
    server.on(
      "upgrade",
      tidegate({ gate }).upgrade((req, socket) => answer(socket, req)),
    );
    const sent = request(await urlOf(server), {
      headers: { connection: "upgrade", upgrade: "echo" },
      agent: false,
    });
    sent.on("error", () => {}).end();
    await vi.waitFor(() => expect(outcomes).toEqual([expected]), patiently);
  });

  describe("judges nobody who left while others were busy with the request", () => {
    it("of node:http", async () => {
      const { gate, outcomes } = watchedGate("5 per minute");
      const guard = tidegate({ gate });
      const server = createServer();
      const arrived = once(server, "request");
      const sent = request(await urlOf(server)).on("error", () => {});
      sent.end();
      const [req, res] = await arrived;
      sent.destroy();
      await once(res, "close");
      expect(await guard(req, res)).toBe(false);
      expect(gate.metrics().decisions).toBe(0);
      expect(outcomes).toEqual([]);
    });

    it("of node:http2", async () => {
      const { gate, outcomes } = watchedGate("5 per minute");
      const guard = tidegate({ gate });
      const server = createHttp2Server();
      const arrived = once(server, "request");
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      const stream = session.request({ ":path": "/" }).on("error", () => {});
      const [req, res] = await arrived;
      stream.close(constants.NGHTTP2_CANCEL);
      await once(res, "close");
      expect(await guard(req, res)).toBe(false);
      expect(gate.metrics().decisions).toBe(0);
      expect(outcomes).toEqual([]);
      session.destroy();
      server.close();
      await once(server, "close");
    });

    it("of an upgrade", async () => {
      const { gate, outcomes } = watchedGate("5 per minute");
      const handler = vi.fn();
      const server = createServer();
      const arrived = once(server, "upgrade");
      const headers = { connection: "upgrade", upgrade: "echo" };
      const sent = request(await urlOf(server), { headers, agent: false }).on("error", () => {});
      sent.end();
      const [req, socket, head] = await arrived;
      socket.destroy();
      await once(socket, "close");
      tidegate({ gate }).upgrade(handler)(req, socket, head);
      await new Promise(setImmediate);
      expect(handler).not.toHaveBeenCalled();
      expect(gate.metrics().decisions).toBe(0);
      expect(outcomes).toEqual([]);
    });
  });

  it("refuses what it can not judge when told to deny, and says so once", async () => {
    const onWarning = vi.fn<(warning: Warning) => void>();
    const guard = tidegate({ limit: "5 per minute", onStoreFailure: "deny", onWarning });
    vi.spyOn(guard.gate, "decide").mockRejectedValue(new Error("broken"));
    const handler = vi.fn();
    const url = await urlOf(createServer(guard(handler)));
    const { status, headers, body } = await ask(url);
    expect(status).toBe(503);
    expect(headers).toMatchObject({ "cache-control": "no-store", vary: "Accept" });
    expect(headers).not.toHaveProperty("tidegate-decision");
    expect(JSON.parse(body)).toMatchObject({ status: 503, title: "Service Unavailable" });
    const text = await ask(url, { headers: { accept: "text/plain" } });
    expect(text).toMatchObject({
      status: 503,
      body: "This request can not be judged now. Try again later.\n",
    });
    expect(handler).not.toHaveBeenCalled();
    expect(onWarning.mock.calls.map(([{ code, help }]) => [code, /refused/.test(help)])).toEqual([
      ["TG_HTTP_FAILED", true],
    ]);
  });

  it("survives a client that resets the connection while its upgrade is judged", async () => {
    const gate = createGate({ rules: [{ name: "ws", by: "ip", limits: ["1 per minute"] }] });
    let decide = () => {};
    const decided = new Promise<void>((resolve) => {
      decide = resolve;
    });
    const slow = {
      ...gate,
      decide: async (...asked: Parameters<typeof gate.decide>) => decided.then(() => gate.decide(...asked)),
    };
    const handler = vi.fn();
    const server = createServer();
    server.on("upgrade", tidegate({ gate: slow }).upgrade(handler));
    const arrived = once(server, "upgrade");
    const { port, hostname } = new URL(await urlOf(server));
    const client = connect(Number(port), hostname);
    client.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n");
    const [, socket] = await arrived;
    client.resetAndDestroy();
    await new Promise((resolve) => socket.on("close", resolve));
    decide();
    await vi.waitFor(() => expect(gate.metrics().decisions).toBe(1), patiently);
    expect(handler).not.toHaveBeenCalled();
  });
});

describe("tidegate/fetch", () => {
  it("judges nobody who has left before", async () => {
    const { gate, outcomes } = watchedGate("5 per minute");
    const handler = vi.fn(() => new Response("x"));
    const guarded = fetchGate({ gate, clientIp: () => "192.0.2.1" })(handler);
    await guarded(new Request("http://x/", { signal: AbortSignal.abort() }));
    expect(handler).not.toHaveBeenCalled();
    expect(gate.metrics().decisions).toBe(0);
    expect(outcomes).toEqual([]);
  });
});

describe("a gate made inside a handler", () => {
  const clientIp = () => "192.0.2.1";

  it("is explained once, whatever the number of requests", async () => {
    const onWarning = vi.fn<(warning: Warning) => void>();
    const app = express();
    app.use((req, res, next) => expressGate({ limit: "1 per minute", onWarning })(req, res, next));
    app.use((_, res) => void res.send("x"));
    const url = await urlOf(createServer(app));
    for (let i = 0; i < 3; i++) expect((await ask(url)).status).toBe(200);
    expect(onWarning.mock.calls.map(([{ code }]) => code)).toEqual(["TG_GATE_IN_HANDLER"]);
    expect(onWarning.mock.calls[0]?.[0].help).toMatch(/once/);
  });

  it("is found out after a while where no server is on the stack", async () => {
    vi.resetModules();
    const { tidegate: freshGate } = await import("tidegate/fetch");
    const onWarning = vi.fn<(warning: Warning) => void>();
    const handler = (request: Request) =>
      freshGate({ limit: "1 per minute", onWarning, clientIp })(() => new Response("x"))(request);
    for (let i = 0; i < 10; i++) await handler(new Request("http://x/"));
    expect(onWarning).not.toHaveBeenCalled();
    for (let i = 0; i < 30; i++) await handler(new Request("http://x/"));
    expect(onWarning.mock.calls.map(([{ code }]) => code)).toEqual(["TG_GATE_IN_HANDLER"]);
  });

  it("is not seen in one gate that gets many requests at once", async () => {
    vi.resetModules();
    const { tidegate: freshGate } = await import("tidegate/fetch");
    const onWarning = vi.fn();
    const handler = freshGate({ limit: "100 per minute", onWarning, clientIp })(() => new Response("x"));
    for (let i = 0; i < 50; i++) await handler(new Request("http://x/"));
    expect(onWarning).not.toHaveBeenCalled();
  });
});

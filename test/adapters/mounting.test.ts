import { once } from "node:events";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import express from "express";
import { createGate, type Warning } from "tidegate";
import { tidegate as expressGate } from "tidegate/express";
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

  it("lets an upgrade in, and finishes it with its socket", async () => {
    const gate = createGate({ rules: [{ name: "ws", by: "ip", limits: ["1 per minute"] }] });
    const outcomes: unknown[] = [];
    const watched = {
      ...gate,
      async decide(...asked: Parameters<typeof gate.decide>) {
        const decision = await gate.decide(...asked);
        return { ...decision, finish: async (outcome?: object) => void outcomes.push(outcome) };
      },
    };
    const server = createServer();
    server.on(
      "upgrade",
      tidegate({ gate: watched }).upgrade((_, socket) => {
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
    await vi.waitFor(() => expect(outcomes).toEqual([{ status: 429 }]));

    socket.destroy();
    await vi.waitFor(() => expect(outcomes).toEqual([{ status: 429 }, { status: 101 }]));
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
    await vi.waitFor(() => expect(gate.metrics().decisions).toBe(1));
    expect(handler).not.toHaveBeenCalled();
  });
});

describe("a gate made inside a handler", () => {
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
      freshGate({ limit: "1 per minute", onWarning })(() => new Response("x"))(request);
    for (let i = 0; i < 10; i++) await handler(new Request("http://x/"));
    expect(onWarning).not.toHaveBeenCalled();
    for (let i = 0; i < 30; i++) await handler(new Request("http://x/"));
    expect(onWarning.mock.calls.map(([{ code }]) => code)).toEqual(["TG_GATE_IN_HANDLER"]);
  });

  it("is not seen in one gate that gets many requests at once", async () => {
    vi.resetModules();
    const { tidegate: freshGate } = await import("tidegate/fetch");
    const onWarning = vi.fn();
    const handler = freshGate({ limit: "100 per minute", onWarning })(() => new Response("x"));
    for (let i = 0; i < 50; i++) await handler(new Request("http://x/"));
    expect(onWarning).not.toHaveBeenCalled();
  });
});

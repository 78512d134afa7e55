import fastify, { type FastifyInstance } from "fastify";
import { createGate, memoryStore } from "tidegate";
import { decisionOf, tidegate } from "tidegate/fastify";
import { afterEach, describe, expect, it } from "vitest";

describe("tidegate/fastify", () => {
  let app: FastifyInstance;
  afterEach(() => app.close());

  const statusOf = async (url: string, method: "GET" | "HEAD" | "POST" = "GET") =>
    (await app.inject({ url, method })).statusCode;

  it("is registered by itself with options, and covers routes declared before and after, and unknown ones", async () => {
    app = fastify();
    app.get("/before", async () => "x");
    app.register(tidegate, { limit: "3 per minute" });
    app.get("/after", async () => "x");
    app.register(async (inner) => {
      inner.get("/inner", async () => "x");
    });
    expect([await statusOf("/before"), await statusOf("/after"), await statusOf("/nowhere")]).toEqual([
      200, 200, 404,
    ]);
    expect([await statusOf("/before"), await statusOf("/inner"), await statusOf("/nowhere")]).toEqual([
      429, 429, 429,
    ]);
  });

  it("takes gates and rules as well as a limit", async () => {
    app = fastify();
    app.register(tidegate, { rules: [{ name: "all", by: "ip", limits: ["1 per minute"] }] });
    app.register(tidegate, {
      gate: createGate({ rules: [{ name: "b", by: "ip", limits: ["1 per hour"] }] }),
    });
    app.get("/", async (request) => decisionOf(request)?.verdict?.name);
    expect((await app.inject("/")).body).toBe("b/3600");
    expect(await statusOf("/")).toBe(429);
  });

  it("leaves a route with tidegate: false alone", async () => {
    app = fastify();
    app.register(tidegate, { limit: "1 per minute" });
    app.get("/", async () => "x");
    app.get("/health", { config: { tidegate: false } }, async () => "x");
    expect([await statusOf("/"), await statusOf("/")]).toEqual([200, 429]);
    const health = await app.inject("/health");
    expect(health.statusCode).toBe(200);
    expect(health.headers).not.toHaveProperty("ratelimit");
  });

  it("judges a route by its own limit, in the plugin's store, HEAD and GET together", async () => {
    app = fastify();
    app.register(tidegate, { limit: "100 per minute", store: memoryStore(), status: 503 });
    app.get("/", async () => "x");
    app.get("/login", { config: { tidegate: { limit: "2 per minute" } } }, async () => "x");
    for (let i = 0; i < 5; i++) expect(await statusOf("/")).toBe(200);
    const first = await app.inject("/login");
    expect(first.headers["ratelimit-policy"]).toBe('"requests /login/60";q=2;w=60');
    expect([await statusOf("/login", "HEAD"), await statusOf("/login")]).toEqual([200, 503]);
    expect(await statusOf("/")).toBe(200);
  });

  it("keeps what a route says beside its limit", async () => {
    app = fastify();
    app.register(tidegate, { limit: "100 per minute" });
    app.get(
      "/quiet",
      { config: { tidegate: { limit: "1 per minute", headers: false, status: 420 } } },
      async () => "x",
    );
    expect((await app.inject("/quiet")).headers).not.toHaveProperty("ratelimit");
    expect(await statusOf("/quiet")).toBe(420);
  });

  it("refuses a route's faulty options when the route is declared", async () => {
    app = fastify();
    await app.register(tidegate, { limit: "100 per minute" });
    const faulty = { limit: "1 per minute", limti: 2 } as { limit: "1 per minute" };
    expect(() => app.get("/x", { config: { tidegate: faulty } }, async () => "x")).toThrow(/limti/);
  });

  it("judges after the body is read when told to", async () => {
    app = fastify();
    app.register(tidegate, {
      rules: [{ name: "login", by: "account", limits: ["1 per minute"] }],
      hook: "preHandler",
      identify: (request) => ({ account: (request.body as { name: string }).name }),
    });
    app.post("/login", async () => "x");
    const login = async (name: string) =>
      (await app.inject({ method: "POST", url: "/login", payload: { name } })).statusCode;
    expect([await login("joe"), await login("joe"), await login("luc")]).toEqual([200, 429, 200]);
  });
});

import fastify, { type FastifyInstance } from "fastify";
import { createGate, memoryStore, type Warning } from "tidegate";
import { decisionOf, tidegate } from "tidegate/fastify";
import { afterEach, describe, expect, it, vi } from "vitest";

describe("tidegate/fastify", () => {
  let app: FastifyInstance;
  afterEach(() => app.close());

  const statusOf = async (url: string, method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE" = "GET") =>
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

  it("knows the options of all routes where its registration is awaited, those of later ones too", async () => {
    app = fastify();
    await app.register(tidegate, { limit: "2 per minute" });
    app.get("/", async () => "x");
    await app.register(async (inner) => {
      inner.get("/health", { config: { tidegate: false } }, async () => "x");
      inner.get("/login", { config: { tidegate: { limit: "1 per minute" } } }, async () => "x");
    });
    expect([await statusOf("/"), await statusOf("/"), await statusOf("/")]).toEqual([200, 200, 429]);
    expect([await statusOf("/health"), await statusOf("/login"), await statusOf("/login")]).toEqual([
      200, 200, 429,
    ]);
  });

  it("hears of options another plugin gives a route", async () => {
    app = fastify();
    await app.register(tidegate, { limit: "1 per minute" });
    app.addHook("onRoute", (route) => {
      if (route.url === "/health") route.config = { ...route.config, tidegate: false };
    });
    app.get("/health", async () => "x");
    expect([await statusOf("/health"), await statusOf("/health")]).toEqual([200, 200]);
  });

  it("judges a route by its own limit, in the plugin's store, HEAD and GET together", async () => {
    app = fastify();
    app.register(tidegate, { limit: "100 per minute", store: memoryStore(), status: 503 });
    app.get("/", async () => "x");
    app.get("/login", { config: { tidegate: { limit: "2 per minute" } } }, async () => "x");
    for (let i = 0; i < 5; i++) expect(await statusOf("/")).toBe(200);
    const first = await app.inject("/login");
    expect(first.headers["ratelimit-policy"]).toBe('"requests GET /login/60";q=2;w=60');
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

  it("counts methods of one route apart, and routes that differ only far into their url", async () => {
    app = fastify();
    await app.register(tidegate, { limit: "100 per minute", store: memoryStore() });
    const once = () => ({ config: { tidegate: { limit: "1 per minute" } } }) as const;
    const long = `/${"x".repeat(70)}`;
    app.get("/x", once(), async () => "x");
    app.post("/x", once(), async () => "x");
    app.route({ url: "/x", method: ["PUT", "DELETE"], ...once(), handler: async () => "x" });
    for (const url of [`${long}/a`, `${long}/b`, "/é", "/è"]) app.get(url, once(), async () => "x");
    const asked = [
      ["/x", "GET"],
      ["/x", "POST"],
      ["/x", "PUT"],
      [`${long}/a`, "GET"],
      [`${long}/b`, "GET"],
      [encodeURI("/é"), "GET"],
      [encodeURI("/è"), "GET"],
    ] as const;
    const names = new Set<unknown>();
    for (const [url, method] of asked) {
      const { statusCode, headers } = await app.inject({ url, method });
      expect([url, statusCode]).toEqual([url, 200]);
      names.add(headers["ratelimit-policy"]);
    }
    for (const [url, method] of asked) expect(await statusOf(url, method)).toBe(429);
    expect(await statusOf("/x", "DELETE")).toBe(429);
    expect(names.size).toBe(asked.length);
    expect(names).toContain('"requests DELETE,PUT /x/60";q=1;w=60');
  });

  it("judges a route by the plugin's limit when its faulty options show only at a request, and says so once", async () => {
    app = fastify();
    const onWarning = vi.fn<(warning: Warning) => void>();
    app.register(tidegate, { limit: "3 per minute", onWarning });
    const faulty = { limit: "1 per minute", limti: 2 } as { limit: "1 per minute" };
    app.get("/x", { config: { tidegate: faulty } }, async () => "x");
    const text = "1 per minute" as unknown as { limit: "1 per minute" };
    app.get("/y", { config: { tidegate: text } }, async () => "x");
    expect([await statusOf("/x"), await statusOf("/x"), await statusOf("/x"), await statusOf("/x")]).toEqual([
      200, 200, 200, 429,
    ]);
    expect(onWarning.mock.calls.map(([{ code, message }]) => [code, message])).toEqual([
      ["TG_HTTP_FAILED", expect.stringMatching(/GET \/x.*limti/)],
    ]);
    expect([await statusOf("/y"), await statusOf("/y")]).toEqual([429, 429]);
    expect(onWarning).toHaveBeenCalledTimes(2);
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

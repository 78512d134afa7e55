import fastify, { type FastifyInstance, type FastifyServerOptions } from "fastify";
import { createGate, type Gate, memoryStore, type Policy, type Warning } from "tidegate";
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

  it.each([{ caseSensitive: false }, { routerOptions: { caseSensitive: false } }])(
    "finds the rule for /login at /LOGIN where the router finds the route there: %j",
    async (options) => {
      app = fastify(options as FastifyServerOptions);
      const rules = [{ name: "login", only: "/login", by: "ip", limits: ["0 per minute"] }] as const;
      app.register(tidegate, { rules });
      app.get("/login", async () => "x");
      expect([await statusOf("/login"), await statusOf("/LOGIN")]).toEqual([429, 429]);
    },
  );

  it("keeps cases apart where the app says so, whatever the router does", async () => {
    app = fastify({ routerOptions: { caseSensitive: false } });
    const rules = [{ name: "login", only: "/login", by: "ip", limits: ["0 per minute"] }] as const;
    app.register(tidegate, { rules, ignoresCase: false });
    app.get("/login", async () => "x");
    expect([await statusOf("/login"), await statusOf("/LOGIN")]).toEqual([429, 200]);
  });

  it.each(["onResponse", "onError", "preParsing", ""])("refuses to judge in hook %j", async (hook) => {
    app = fastify();
    app.register(tidegate, { limit: "1 per minute", hook: hook as "onRequest" });
    await expect(app.ready()).rejects.toMatchObject({ code: "TG_FASTIFY_HOOK" });
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

  describe("a route with a limit of its own, behind a gate", () => {
    const strict = { config: { tidegate: { limit: "2 per minute" } } } as const;
    const everywhere = { after: 1, for: "1h", everywhere: true } as const;

    async function behind(gate: Gate): Promise<void> {
      app = fastify();
      await app.register(tidegate, { gate });
      app.get("/", async () => "x");
      app.get("/probe", async () => "x");
      app.post("/login", strict, async () => "x");
    }

    it("is told of the gate's lists, live and in the policy", async () => {
      const gate = createGate({ rules: [{ name: "all", by: "ip", limits: ["9 per minute"] }] });
      await behind(gate);
      expect(await statusOf("/login", "POST")).toBe(200);
      await gate.blocklist.add("127.0.0.1");
      expect([await statusOf("/"), await statusOf("/login", "POST")]).toEqual([403, 403]);
      await gate.blocklist.remove("127.0.0.1");
      expect(await statusOf("/login", "POST")).toBe(200);
      gate.update({ ...gate.policy, blocklist: ["127.0.0.0/8"] });
      expect([await statusOf("/"), await statusOf("/login", "POST")]).toEqual([403, 403]);
      gate.update({ ...gate.policy, blocklist: [], mode: "off" });
      for (let i = 0; i < 5; i++) expect(await statusOf("/login", "POST")).toBe(200);
    });

    it("refuses whom the gate's rules hold everywhere", async () => {
      const rules: Policy["rules"] = [
        { name: "probes", only: "/probe", by: "ip", limits: ["0 per minute"], hold: everywhere },
      ];
      await behind(createGate({ rules }));
      expect([await statusOf("/login", "POST"), await statusOf("/probe")]).toEqual([200, 429]);
      expect(await statusOf("/login", "POST")).toBe(429);
    });

    it("counts in the gate's store, and tells the gate's listeners and metrics", async () => {
      const store = memoryStore();
      const gate = createGate({ rules: [{ name: "all", by: "ip", limits: ["9 per minute"] }], store });
      const heard: (string | undefined)[] = [];
      gate.on("decision", ({ decision }) => heard.push(decision.verdict?.rule));
      await behind(gate);
      for (let i = 0; i < 3; i++) await statusOf("/login", "POST");
      expect(store.size).toBe(1);
      expect(heard).toEqual(Array(3).fill("requests POST /login"));
      expect(gate.metrics().byRule["requests POST /login"]).toMatchObject({ judged: 3, refused: 1 });
    });

    it("is judged as before when a new policy does not fit it, which is told", async () => {
      const onWarning = vi.fn<(warning: Warning) => void>();
      const tiers = { free: ["2 per minute"] } as const;
      const gate = createGate({ rules: [{ name: "all", by: "ip", limits: ["9 per minute"] }], tiers });
      app = fastify();
      await app.register(tidegate, { gate, onWarning, identify: () => ({ customer: "7" }) });
      const rules: Policy["rules"] = [{ name: "tier", by: "customer", limits: "tier" }];
      app.get("/", { config: { tidegate: { rules } } }, async () => "x");
      expect(await statusOf("/")).toBe(200);
      gate.update({ rules: gate.policy.rules });
      expect([await statusOf("/"), await statusOf("/")]).toEqual([200, 429]);
      expect(onWarning.mock.calls.map(([{ code, message }]) => [code, message])).toEqual([
        ["TG_HTTP_FAILED", expect.stringMatching(/GET \/.*tier/)],
      ]);
    });

    it("needs a gate of its own where the plugin's is wrapped, and says so when it is declared", async () => {
      const gate = createGate({ rules: [{ name: "all", by: "ip", limits: ["9 per minute"] }] });
      await expect(behind({ ...gate })).rejects.toMatchObject({ code: "TG_MOUNT" });
    });
  });

  it("answers by a route's own words when they are all it says", async () => {
    app = fastify();
    await app.register(tidegate, { limit: "1 per minute" });
    app.get("/", { config: { tidegate: { status: 503, headers: false } } }, async () => "x");
    app.get("/usual", async () => "x");
    expect((await app.inject("/")).headers).not.toHaveProperty("ratelimit");
    expect([await statusOf("/"), await statusOf("/usual")]).toEqual([503, 429]);
  });

  it("counts a route that brings a store of its own there", async () => {
    app = fastify();
    const store = memoryStore();
    await app.register(tidegate, { limit: "9 per minute", safelist: ["192.0.2.1"] });
    app.get("/", { config: { tidegate: { limit: "1 per minute", store } } }, async () => "x");
    expect([await statusOf("/"), await statusOf("/")]).toEqual([200, 429]);
    expect(store.size).toBe(1);
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

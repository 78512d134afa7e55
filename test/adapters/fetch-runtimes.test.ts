import { Hono } from "hono";
import type { Warning } from "tidegate";
import { decisionOf, tidegate } from "tidegate/fetch";
import { tidegate as honoGate } from "tidegate/hono";
import { describe, expect, it, vi } from "vitest";

/** What each runtime hands to a fetch handler, as its documentation shows it. */
const address = "203.0.113.5";
const bun = { requestIP: () => ({ address, port: 1, family: "IPv4" }) };
const deno = { remoteAddr: { transport: "tcp", hostname: address, port: 1 } };
const node = { incoming: { socket: { remoteAddress: address } } };

describe("tidegate/fetch", () => {
  const keyOf = async (request: Request, beside?: unknown, options = {}) => {
    let key: string | undefined;
    const handler = tidegate({ limit: "10 per minute", ...options })((seen: Request, _?: unknown) => {
      key = decisionOf(seen)?.verdict?.key;
      return new Response("x");
    });
    await handler(request, beside);
    return key;
  };
  const plain = () => new Request("http://localhost/");

  it.each([
    ["Bun", bun],
    ["Bun by way of Hono", { server: bun }],
    ["Deno", deno],
    ["Node", node],
  ])("knows the client's address on %s", async (_, beside) => {
    expect(await keyOf(plain(), beside)).toBe(address);
  });

  it("knows the client's address on Workers, and believes the header nowhere else", async () => {
    const request = () => new Request("http://localhost/", { headers: { "cf-connecting-ip": address } });
    expect(await keyOf(Object.assign(request(), { cf: { colo: "AMS" } }), {})).toBe(address);
    expect(await keyOf(request(), {})).toBe("unknown");
  });

  it("is made while a module loads on Workers, where there are neither random numbers nor timers yet", async () => {
    const none = () => {
      throw new Error("Disallowed operation called within global scope");
    };
    vi.resetModules();
    vi.stubGlobal("crypto", { getRandomValues: none, randomUUID: none });
    for (const name of ["setTimeout", "setInterval", "setImmediate"]) vi.stubGlobal(name, none);
    let handler: (request: Request, beside: unknown) => Promise<Response>;
    try {
      const fresh = await import("tidegate/fetch");
      handler = fresh.tidegate({ limit: "1 per minute" })((_: Request) => new Response("x"));
    } finally {
      vi.unstubAllGlobals();
    }
    const statuses = [];
    for (let i = 0; i < 2; i++) statuses.push((await handler(plain(), node)).status);
    expect(statuses).toEqual([200, 429]);
  });

  it("suspects no proxy where the address is certain", async () => {
    const headers = { "x-forwarded-for": address };
    const onWarning = vi.fn();
    const told = { ...headers, "cf-connecting-ip": address };
    const onWorkers = Object.assign(new Request("http://localhost/", { headers: told }), { cf: {} });
    await keyOf(onWorkers, {}, { onWarning });
    await keyOf(new Request("http://localhost/", { headers }), {}, { onWarning, clientIp: () => address });
    expect(onWarning).not.toHaveBeenCalled();
    await keyOf(new Request("http://localhost/", { headers }), node, { onWarning });
    expect(onWarning).toHaveBeenCalledWith(expect.objectContaining({ code: "TG_PROXY_UNTRUSTED" }));
  });

  it("asks the app for the address when the app knows it", async () => {
    expect(await keyOf(plain(), "203.0.113.9", { clientIp: (_: Request, ip: string) => ip })).toBe(
      "203.0.113.9",
    );
  });

  it.each<[string, () => unknown]>([
    ["nothing", () => undefined],
    ["null", () => null],
    ["a list", () => "203.0.113.1, 10.0.0.1"],
    ["a promise", async () => address],
  ])("says once that clientIp can not answer %s, and counts all as one", async (_, clientIp) => {
    const onWarning = vi.fn<(warning: Warning) => void>();
    const handler = tidegate({ limit: "1 per minute", clientIp: clientIp as () => string, onWarning })(
      () => new Response("x"),
    );
    expect([(await handler(plain())).status, (await handler(plain())).status]).toEqual([200, 429]);
    expect(onWarning.mock.calls.map(([{ code }]) => code)).toEqual(["TG_PEER_UNKNOWN"]);
  });

  it("goes on when clientIp throws, and says so once", async () => {
    const onWarning = vi.fn<(warning: Warning) => void>();
    const clientIp = () => {
      throw new Error("no such header");
    };
    const handler = tidegate({ limit: "1 per minute", clientIp, onWarning })(() => new Response("x"));
    expect([(await handler(plain())).status, (await handler(plain())).status]).toEqual([200, 429]);
    const app = new Hono().use(honoGate({ limit: "1 per minute", clientIp, onWarning }));
    app.get("/", (c) => c.text("x"));
    expect([(await app.request("/")).status, (await app.request("/")).status]).toEqual([200, 429]);
    const each = ["TG_HTTP_FAILED", "TG_PEER_UNKNOWN"];
    expect(onWarning.mock.calls.map(([{ code }]) => code)).toEqual([...each, ...each]);
  });

  it("counts all clients as one where nothing tells them apart", async () => {
    const handler = tidegate({ limit: "1 per minute" })(() => new Response("x"));
    expect((await handler(plain())).status).toBe(200);
    expect((await handler(plain())).status).toBe(429);
  });

  it("adds its headers to answers that can not be written to", async () => {
    const handler = tidegate({ limit: "1 per minute" })(() => Response.redirect("http://elsewhere/", 302));
    const { status, headers } = await handler(plain());
    expect(status).toBe(302);
    expect(headers.get("location")).toBe("http://elsewhere/");
    expect(headers.get("ratelimit-policy")).toBe('"requests/60";q=1;w=60');
  });

  it("refuses HEAD without a body", async () => {
    const handler = tidegate({ limit: "0 per minute" })(() => new Response("x"));
    const { status, body, headers } = await handler(new Request("http://localhost/", { method: "HEAD" }));
    expect({ status, body }).toEqual({ status: 429, body: null });
    expect(Number(headers.get("content-length"))).toBeGreaterThan(0);
  });

  it("lets an error of the handler through", async () => {
    const handler = tidegate({ limit: "1 per minute" })((_: Request) => {
      throw new Error("a fault of the app");
    });
    await expect(handler(plain())).rejects.toThrow("a fault of the app");
  });
});

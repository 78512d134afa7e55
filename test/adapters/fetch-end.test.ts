import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Hono } from "hono";
import { concurrency, type RuleOptions } from "tidegate";
import { tidegate } from "tidegate/fetch";
import { tidegate as honoGate } from "tidegate/hono";
import { describe, expect, it, vi } from "vitest";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

const clientIp = () => "192.0.2.1";
const failures: RuleOptions = { name: "login", by: "ip", limits: ["2 per minute"], count: "failures" };
const twoAtOnce: RuleOptions = {
  name: "at once",
  by: "ip",
  limits: [concurrency({ limit: 2, leaseFor: "10m" })],
};
const plain = () => new Request("http://localhost/");
const endless = () =>
  new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1)) }));

function guarded(rule: RuleOptions, answer: () => Response): () => Promise<Response> {
  const handler = tidegate({ rules: [rule], clientIp })(answer);
  return () => handler(plain());
}

describe("tidegate/fetch", () => {
  it("counts by the status of an answer that nobody reads", async () => {
    const get = guarded(failures, () => new Response("welcome"));
    for (let i = 0; i < 5; i++) expect((await get()).status).toBe(200);
  });

  it("hands on the app's own answer where no lease depends on its end: the runtime knows its length", async () => {
    const answer = new Response("welcome");
    expect(await guarded(failures, () => answer)()).toBe(answer);
    expect(answer.headers.get("ratelimit-policy")).toBe('"login/60";q=2;w=60');
  });

  it("keeps a lease until the last byte is read", async () => {
    const get = guarded(twoAtOnce, () => new Response("welcome"));
    const first = await get();
    await get();
    expect((await get()).status).toBe(429);
    expect(await first.text()).toBe("welcome");
    expect((await get()).status).toBe(200);
  });

  it("gives a lease back when the runtime wants no more of an answer", async () => {
    const get = guarded(twoAtOnce, endless);
    const first = await get();
    await get();
    const reader = (first.body as ReadableStream).getReader();
    await reader.read();
    expect((await get()).status).toBe(429);
    await reader.cancel();
    expect((await get()).status).toBe(200);
  });

  it("gives a lease back for an answer that was thrown away unread", async () => {
    const get = guarded(twoAtOnce, () => new Response("welcome"));
    await get();
    await get();
    await vi.waitFor(async () => {
      collectGarbage();
      expect((await get()).status).toBe(200);
    });
  });

  it("hands on an answer that somebody else reads already, and gives its lease back", async () => {
    const get = guarded(twoAtOnce, () => {
      const answer = new Response("welcome");
      answer.body?.getReader();
      return answer;
    });
    for (let i = 0; i < 5; i++) expect((await get()).status).toBe(200);
  });

  it("hands on an answer that takes no headers and can not be copied", async () => {
    const get = guarded(failures, () => Response.error());
    expect((await get()).type).toBe("error");
  });
});

describe("tidegate/hono", () => {
  function replacing(rule: RuleOptions): Hono {
    const app = new Hono();
    app.use(async (c, next) => {
      await next();
      c.res = c.json({ wrapped: true }, c.res.status as 200);
    });
    app.use(honoGate({ rules: [rule], clientIp }));
    return app;
  }

  it("counts by the status of an answer that middleware further out replaces", async () => {
    const app = replacing(failures).get("/", (c) => c.text("welcome"));
    for (let i = 0; i < 5; i++) expect((await app.request("/")).status).toBe(200);
  });

  it("gives a lease back for an answer that was thrown away, replaced or not", async () => {
    for (const app of [replacing(twoAtOnce), new Hono().use(honoGate({ rules: [twoAtOnce], clientIp }))]) {
      app.get("/", (c) => c.text("welcome"));
      await app.request("/");
      await app.request("/");
      await vi.waitFor(async () => {
        collectGarbage();
        expect((await app.request("/")).status).toBe(200);
      });
    }
  });

  it("leaves the length of a refusal to whoever sends it", async () => {
    const app = replacing({ name: "none", by: "ip", limits: ["0 per minute"] });
    const answer = await app.request("/");
    expect(answer.headers.get("content-length")).toBeNull();
    expect({ status: answer.status, body: await answer.json() }).toEqual({
      status: 429,
      body: { wrapped: true },
    });
  });
});

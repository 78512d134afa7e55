import { randomInt, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { createClient } from "@redis/client";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { createClient as createClient5 } from "redis-client5";
import { ConfigError, memoryStore } from "tidegate";
import { memcachedClient, memcachedStore } from "tidegate/memcached";
import { type ApiThrottling, type ApiThrottlingOptions, apiThrottling, type Cache } from "tidegate/presets";
import { redisStore } from "tidegate/redis";
import { virtualClock } from "tidegate/testing";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { type ChildServer, faultProxy, startMemcached, startRedis } from "../servers/index.js";
import { watchScripts } from "../servers/watch-scripts.js";
import { as, fetchHello, frameworks, type HelloWorld, type Reply, serveHello } from "./hello-world.js";

/** Friday, half past noon. */
const noon = Date.UTC(2009, 4, 1, 12, 34, 56, 789);
const hour = 3_600_000;
/** Time enough: these tests are about what is answered, not how fast on a busy machine. */
const patient = { deadlineMs: 15_000 };

let redis: Redis;
const opened: (() => unknown)[] = [];
beforeAll(() => {
  redis = new Redis(inject("redisPort"));
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});
afterAll(() => redis.disconnect());

/** A name nobody else uses on the shared servers. */
const someone = (name = "joe") => `${name}-${randomUUID()}`;

function throttle<Req = IncomingMessage>(options: ApiThrottlingOptions<Req>): ApiThrottling {
  const throttling = apiThrottling({ ...patient, ...options });
  opened.push(() => throttling.close());
  return throttling;
}

async function serve(throttling: ApiThrottling, framework?: string): Promise<HelloWorld> {
  const app = await serveHello(throttling, framework);
  opened.push(() => app.close());
  return app;
}

async function app(options: ApiThrottlingOptions): Promise<HelloWorld> {
  return serve(throttle(options));
}

async function statuses(
  { get }: Pick<HelloWorld, "get">,
  times: number,
  path = "/",
  headers = {},
): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < times; i++) seen.push((await get(path, headers)).status);
  return seen;
}

/** Each header once, as a list of name and value; without what the server adds to every answer. */
function wellFormed({ headers, body }: Reply): void {
  for (const value of Object.values(headers)) expect(typeof value).toBe("string");
  expect(headers["content-length"]).toBe(String(Buffer.byteLength(body)));
  expect(headers["content-type"]).toBe("text/plain");
}

const overRateLimit = { status: 503, body: "Over Rate Limit" };
const badRequest = { status: 400, body: "Bad Request" };
const authorizationRequired = { status: 401, body: "Authorization Required" };
const helloWorld = { status: 200, body: "Hello World!" };

describe.each(Object.keys(frameworks))("on %s", (framework) => {
  it("D20, D10, D11, D23: three calls say Hello World!, the fourth 503 Over Rate Limit of length 15", async () => {
    const { get } = await serve(throttle({ requestsPerHour: 3, cache: "hash" }), framework);
    for (let call = 0; call < 3; call++) {
      const reply = await get("/", as("joe"));
      expect(reply).toMatchObject(helloWorld);
      expect(reply.headers["content-length"]).toBe("12");
      wellFormed(reply);
    }
    const refused = await get("/", as("joe"));
    expect(refused).toMatchObject(overRateLimit);
    expect(refused.headers["content-length"]).toBe("15");
    wellFormed(refused);
    expect(refused.headers["retry-after"]).toMatch(/^\d+$/);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(3600);
  });

  it("D12, D21: credentials that are not Basic get 400 Bad Request of length 11", async () => {
    const { get } = await serve(throttle({ cache: "hash" }), framework);
    for (const authorization of ["Bearer x", "Digest a=b", "Basic", "x"]) {
      const reply = await get("/", { authorization });
      expect(reply).toMatchObject(badRequest);
      expect(reply.headers["content-length"]).toBe("11");
      wellFormed(reply);
    }
  });

  it("D13, D21: without credentials the gem's mode answers 401 Authorization Required of length 22, with a challenge", async () => {
    const { get } = await serve(throttle({ cache: "hash", mode: "gem" }), framework);
    const reply = await get();
    expect(reply).toMatchObject(authorizationRequired);
    expect(reply.headers["content-length"]).toBe("22");
    expect(reply.headers["www-authenticate"]).toMatch(/^Basic /);
    wellFormed(reply);
  });
});

describe("on fetch handlers", () => {
  it("D1: the same options give the same answers as on every framework, one after the other", async () => {
    const asked: [path: string, headers: Record<string, string>][] = [
      ["/api/v1/x", as("joe")],
      ["/api/v1/x", as("joe")],
      ["/api/v1/x", as("joe")],
      ["/api/v1/x?y", { authorization: "Bearer x" }],
      ["/api/v1/x", {}],
      ["/home", as("joe")],
    ];
    const answersOf = async ({ get }: Pick<HelloWorld, "get">) => {
      const answers = [];
      for (const [path, headers] of asked) {
        const { status, body, headers: given } = await get(path, headers);
        const told = ["content-type", "content-length", "retry-after", "www-authenticate"];
        answers.push([status, body, ...told.map((name) => given[name])]);
      }
      return answers;
    };
    const options = () => ({
      requestsPerHour: 2,
      cache: "hash" as const,
      mode: "gem" as const,
      only: "/api/v1",
      clock: virtualClock(noon),
    });
    const answers = await answersOf(fetchHello(throttle<Request>(options())));
    expect(answers.map(([status]) => status)).toEqual([200, 200, 503, 400, 401, 200]);
    for (const framework of Object.keys(frameworks))
      expect(await answersOf(await serve(throttle(options()), framework)), framework).toEqual(answers);
  });
});

describe("who is counted", () => {
  it("D2, W26: by default sixty pass in an hour, the sixtieth included, and the 61st is refused", async () => {
    const joe = await statuses(await app({ cache: "hash" }), 61, "/", as("joe"));
    expect(joe).toEqual([...Array(60).fill(200), 503]);
  });

  it("D3: users are told apart by their HTTP Basic names, whatever their passwords", async () => {
    const served = await app({ cache: "hash", requestsPerHour: 1 });
    expect(await statuses(served, 1, "/", as("joe", "one"))).toEqual([200]);
    expect(await statuses(served, 1, "/", as("joe", "other"))).toEqual([503]);
    expect(await statuses(served, 1, "/", as("luc"))).toEqual([200]);
  });

  it("D6: with auth: false nobody is asked who he is, and all are counted as one", async () => {
    const served = await app({ cache: "hash", auth: false, requestsPerHour: 2 });
    const seen = [
      (await served.get()).status,
      (await served.get("/", as("joe"))).status,
      (await served.get("/", { authorization: "Bearer x" })).status,
    ];
    expect(seen).toEqual([200, 200, 503]);
  });

  it("D7, D8: 100 an hour for each URL: /home used up leaves /users untouched", async () => {
    const served = await app({
      cache: "hash",
      requestsPerHour: 100,
      auth: false,
      key: (request) => `${request.url}_${new Date().toISOString().slice(0, 13)}`,
    });
    expect(await statuses(served, 101, "/home")).toEqual([...Array(100).fill(200), 503]);
    expect(await statuses(served, 1, "/users")).toEqual([200]);
  });

  it("D7: the key function is told the request and the user, or no user with auth: false", async () => {
    const told: unknown[] = [];
    const key = (request: IncomingMessage, auth: unknown) => {
      told.push([request.url, auth]);
      return "k";
    };
    await (await app({ cache: "hash", key })).get("/x", as("joe"));
    await (await app({ cache: "hash", key, auth: false })).get("/y", as("joe"));
    expect(told).toEqual([
      ["/x", { username: "joe" }],
      ["/y", undefined],
    ]);
  });

  it("D7: a key function that throws, or answers no key, is the app's error and no way through", async () => {
    const thrown = () => {
      throw new Error("broken");
    };
    for (const key of [thrown, () => undefined as never, () => ""]) {
      const throttling = throttle({ cache: "hash", auth: false, key });
      const error = await new Promise((next) =>
        throttling({ url: "/", headers: {}, socket: {} } as never, {} as never, next),
      );
      expect(error).toBeInstanceOf(Error);
      await expect(fetchHello(throttling).get()).rejects.toThrow();
    }
  });

  it("D13: without credentials the printed mode lets through, uncounted, whatever is asked for", async () => {
    expect(await statuses(await app({ cache: "hash", requestsPerHour: 0 }), 5)).toEqual(Array(5).fill(200));
  });

  it('D13, W31: anonymous: "limitByIp" counts by address, and no Basic name can use up an address\'s share', async () => {
    const served = await app({ cache: "hash", requestsPerHour: 2, anonymous: "limitByIp" });
    await statuses(served, 3, "/", as("ip:127.0.0.1"));
    await statuses(served, 3, "/", as("127.0.0.1"));
    expect(await statuses(served, 3)).toEqual([200, 200, 503]);
    expect(await statuses(served, 1, "/", as("luc"))).toEqual([200]);
  });

  it("D13: addresses are counted in canonical form, IPv6 by its /64, and unreadable ones as one", async () => {
    const served = await app({
      cache: "hash",
      requestsPerHour: 1,
      anonymous: "limitByIp",
      clientIp: (request) => request.headers["x-test-ip"] as string | undefined,
    });
    const from = async (ip: string) => (await served.get("/", { "x-test-ip": ip })).status;
    expect([await from("::ffff:192.0.2.1"), await from("192.0.2.1"), await from("192.0.2.2")]).toEqual([
      200, 503, 200,
    ]);
    expect([
      await from("2001:db8::1"),
      await from("2001:DB8:0:0:9::7"),
      await from("2001:db8:0:1::1"),
    ]).toEqual([200, 503, 200]);
    expect([await from("garbage"), await from("other garbage")]).toEqual([200, 503]);
  });

  it("D22: another scheme takes Basic's place by a function that says who it is", async () => {
    const served = await app({
      cache: "hash",
      requestsPerHour: 1,
      mode: "gem",
      auth: (request) => request.headers.authorization?.replace("Bearer ", ""),
    });
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    expect(await statuses(served, 2, "/", bearer("a"))).toEqual([200, 503]);
    expect(await statuses(served, 1, "/", bearer("b"))).toEqual([200]);
    expect(await served.get()).toMatchObject(authorizationRequired);
  });

  it("hostile names are counted each for itself, and none breaks anything", async () => {
    const served = await app({ cache: redis, requestsPerHour: 1 });
    const names = [
      "constructor",
      "__proto__",
      "a\0b",
      "a\nb",
      "a{b}",
      "*",
      "é",
      "x".repeat(5000),
      "x".repeat(5001),
    ];
    for (const name of names.map((name) => someone(name)))
      expect(await statuses(served, 2, "/", as(name))).toEqual([200, 503]);
  });
});

describe("where", () => {
  async function freed(options: { only?: string; except?: string }, path: string): Promise<boolean> {
    const served = await app({ cache: "hash", requestsPerHour: 0, ...options });
    return (await served.get(path, as("joe"))).status === 200;
  }

  it.each([
    ["/api/v1/x", false],
    ["/api/v1", false],
    ["/api/v1/", false],
    ["/api/v1?x=/home", false],
    ["/home", true],
    ["/api/v10/x", true],
    ["/api", true],
    ["/home?x=/api/v1", true],
  ])("D17: only /api/v1 limits whole segments: %s goes free: %s", async (path, free) => {
    expect(await freed({ only: "/api/v1" }, path)).toBe(free);
  });

  it.each([
    ["/home", true],
    ["/home/anything", true],
    ["/homes", false],
    ["/", false],
  ])("D18: except /home frees it and all below: %s goes free: %s", async (path, free) => {
    expect(await freed({ except: "/home" }, path)).toBe(free);
  });

  it.each([
    ["/api/v1/users", true],
    ["/api/v1/users/7", true],
    ["/api/v1/usersX", false],
    ["/api/v1/orders", false],
    ["/home", true],
  ])("D19: except wins over only: %s goes free: %s", async (path, free) => {
    expect(await freed({ only: "/api/v1", except: "/api/v1/users" }, path)).toBe(free);
  });

  it.each([
    "//api//v1/x",
    "/./api/v1/x",
    "/home/../api/v1/x",
    "/%61pi/v1/x",
    "http://localhost/api/v1/x",
    "/api/v1/x#/home",
  ])("W32: the path is read as servers read it: %s is under /api/v1", async (path) => {
    expect(await freed({ only: "/api/v1" }, path)).toBe(false);
  });

  it("where it is mounted changes nothing: Express's cut path is not what is matched", async () => {
    const { default: express } = await import("express");
    const throttling = throttle({ cache: "hash", requestsPerHour: 0, only: "/api/v1" });
    const { get } = await serve(((request, response, next) =>
      express().use("/api", throttling)(request as never, response as never, next)) as ApiThrottling);
    expect((await get("/api/v1/x", as("joe"))).status).toBe(503);
    expect((await get("/api/v2/x", as("joe"))).status).toBe(200);
  });
});

describe("when", () => {
  it("D23, W30: Retry-After is the exact rest of the hour, rounded up to a second", async () => {
    const clock = virtualClock(noon);
    const { get } = await app({ cache: "hash", requestsPerHour: 0, clock });
    const waitAt = async (at: number) => {
      clock.set(at);
      return (await get("/", as("joe"))).headers["retry-after"];
    };
    expect(await waitAt(noon)).toBe("1504");
    expect(await waitAt(Date.UTC(2009, 4, 1, 12))).toBe("3600");
    expect(await waitAt(Date.UTC(2009, 4, 1, 12, 59, 59, 999))).toBe("1");
  });

  it("D23: a key that does not name the hour is told its own wait, an hour at most", async () => {
    const clock = virtualClock(noon);
    const { get } = await app({ cache: "hash", requestsPerHour: 1, auth: false, key: () => "all", clock });
    await get();
    expect((await get()).headers["retry-after"]).toBe("3600");
    clock.advance("59m");
    expect((await get()).headers["retry-after"]).toBe("60");
    clock.advance("1m");
    expect((await get()).status).toBe(200);
  });

  it("each hour begins anew, and not before", async () => {
    const clock = virtualClock(noon);
    const served = await app({ cache: "hash", requestsPerHour: 2, clock });
    expect(await statuses(served, 3, "/", as("joe"))).toEqual([200, 200, 503]);
    clock.set(Date.UTC(2009, 4, 1, 12, 59, 59, 999));
    expect(await statuses(served, 1, "/", as("joe"))).toEqual([503]);
    clock.advance(1);
    expect(await statuses(served, 3, "/", as("joe"))).toEqual([200, 200, 503]);
  });

  it("W30: hours are those of UTC, wherever the process runs", async () => {
    const zone = process.env.TZ;
    process.env.TZ = "Asia/Kolkata";
    try {
      expect(new Date(noon).getMinutes()).toBe(4);
      const joe = someone();
      await (await app({ cache: redis, clock: virtualClock(noon) })).get("/", as(joe));
      expect(await redis.get(`${joe}_2009-05-01-12`)).toBe("1");
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });
});

/** Somewhere to count, by instance. The closer is called at the end of the test. */
const caches: Record<string, () => Promise<[Cache, close: () => unknown]>> = {
  "ioredis 6": async () => own(new Redis(inject("redisPort")), (client) => client.disconnect()),
  "ioredis 5": async () => own(new Redis5(inject("redisPort")), (client) => client.disconnect()),
  "node-redis 6": async () =>
    own(await createClient({ url: redisUrl() }).connect(), (client) => client.destroy()),
  "node-redis 5": async () =>
    own(await createClient5({ url: redisUrl() }).connect(), (client) => client.destroy()),
  "a Tidegate store on Redis": async () => own(redisStore({ client: redis, prefix: someone("t") }), () => {}),
  "a client of memcached": async () =>
    own(memcachedClient({ servers: [memcachedServer()] }), (client) => client.close()),
  "a Tidegate store on memcached": async () =>
    own(memcachedStore({ servers: [memcachedServer()] }), (store) => store.close?.()),
  "a Tidegate store in memory": async () => own(memoryStore(), () => {}),
  '"hash"': async () => ["hash", () => {}],
};

function own<Instance extends Cache>(
  cache: Instance,
  close: (cache: Instance) => unknown,
): [Cache, () => unknown] {
  return [cache, () => close(cache)];
}
const redisUrl = () => `redis://127.0.0.1:${inject("redisPort")}`;
const memcachedServer = () => `127.0.0.1:${inject("memcachedPort")}`;

describe.each(Object.keys(caches))("D5: with %s as its cache", (name) => {
  async function open(): Promise<Cache> {
    const [cache, close] = await (caches[name] as (typeof caches)[string])();
    opened.push(close);
    return cache;
  }

  it("the limit passes, the next is refused, another user is not, and another hour begins anew", async () => {
    const clock = virtualClock(noon);
    const served = await app({ cache: await open(), requestsPerHour: 3, clock });
    const [joe, luc] = [someone("joe"), someone("luc")];
    expect(await statuses(served, 5, "/", as(joe))).toEqual([200, 200, 200, 503, 503]);
    expect(await statuses(served, 1, "/", as(luc))).toEqual([200]);
    clock.advance("1h");
    expect(await statuses(served, 4, "/", as(joe))).toEqual([200, 200, 200, 503]);
  });

  it("W28: of a hundred at once exactly the limit passes, from two processes' worth of middleware", async () => {
    const joe = someone();
    const cache = await open();
    // What counts in this process can not be shared by name.
    const served =
      cache === "hash"
        ? [await app({ cache, requestsPerHour: 10 })]
        : [
            await app({ cache, requestsPerHour: 10, clock: virtualClock(noon) }),
            await app({ cache, requestsPerHour: 10, clock: virtualClock(noon) }),
          ];
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, i) => (served[i % served.length] as HelloWorld).get("/", as(joe))),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
  });
});

describe("by name", () => {
  /** What is already there serves as well: the tests use names of their own. */
  async function at(port: number, start: (options: { port: number }) => Promise<ChildServer>): Promise<void> {
    if (await isOpen(port)) return;
    const server = await start({ port });
    opened.push(() => server.stop());
  }

  it('D4, D5: without options it counts in the Redis at 127.0.0.1:6379, as it does with cache: "redis"', async () => {
    await at(6379, startRedis);
    const own = new Redis(6379, "127.0.0.1");
    opened.push(() => own.disconnect());
    for (const options of [{}, { cache: "redis" as const }]) {
      const joe = someone();
      const clock = virtualClock(noon);
      expect(await statuses(await app({ ...options, clock }), 2, "/", as(joe))).toEqual([200, 200]);
      expect(await own.get(`${joe}_2009-05-01-12`)).toBe("2");
    }
  });

  it('D5: cache: "memcache" counts in the memcached at 127.0.0.1:11211', async () => {
    await at(11211, startMemcached);
    const joe = someone();
    const [one, other] = [
      await app({ cache: "memcache", requestsPerHour: 1 }),
      await app({ cache: "memcache", requestsPerHour: 1 }),
    ];
    expect(await statuses(one, 2, "/", as(joe))).toEqual([200, 503]);
    expect(await statuses(other, 1, "/", as(joe))).toEqual([503]);
  });

  it.each<[string, unknown]>([
    ["a name nobody knows", "rails"],
    ["a Map, which gets and then sets", new Map()],
    ["a cache with get and set only", { get() {}, set() {} }],
    ["nothing", null],
  ])("W28: %s is refused when built", (_, cache) => {
    expect(() => apiThrottling({ cache: cache as Cache })).toThrow(ConfigError);
    expect(() => apiThrottling({ cache: cache as Cache })).toThrow("TG_CACHE");
  });

  it.each<[object, code: string]>([
    [{ requestPerHour: 3 }, "TG_OPTION_UNKNOWN"],
    [{ requestsPerHour: -1 }, "TG_LIMIT"],
    [{ requestsPerHour: 1.5 }, "TG_LIMIT"],
    [{ anonymous: "allow" }, "TG_PRESET_OPTION"],
    [{ mode: "rack" }, "TG_PRESET_OPTION"],
    [{ auth: "basic" }, "TG_PRESET_OPTION"],
    [{ key: "joe" }, "TG_PRESET_OPTION"],
    [{ only: 7 }, "TG_PRESET_OPTION"],
    [{ clock: 7 }, "TG_CLOCK"],
    [{ deadlineMs: -1 }, "TG_DEADLINE"],
  ])("%j is refused when built", (options, code) => {
    expect(() => apiThrottling({ cache: "hash", ...options } as never)).toThrow(code);
  });
});

describe("in Redis", () => {
  it("D9: at 12:34 on 2009-05-01 the key is joe_2009-05-01-12, and holds the plain count, refused calls included", async () => {
    const joe = someone();
    const served = await app({ cache: redis, requestsPerHour: 3, clock: virtualClock(noon) });
    await statuses(served, 5, "/", as(joe));
    expect(await redis.get(`${joe}_2009-05-01-12`)).toBe("5");
  });

  it("D9: what another server of the printed kind counted under that key counts here, and the other way round", async () => {
    const joe = someone();
    const key = `${joe}_2009-05-01-12`;
    const served = await app({ cache: redis, requestsPerHour: 3, clock: virtualClock(noon) });
    await redis.incr(key);
    expect(await statuses(served, 3, "/", as(joe))).toEqual([200, 200, 503]);
    expect(await redis.incr(key)).toBe(5);
  });

  it("D6: with auth: false the key is the hour alone", async () => {
    const clock = virtualClock(randomInt(1_000_000) * hour);
    await (await app({ cache: redis, auth: false, clock })).get();
    const [date, time] = new Date(clock()).toISOString().split("T") as [string, string];
    const key = `${date}-${time.slice(0, 2)}`;
    expect(await redis.get(key)).toBe("1");
    await redis.del(key);
  });

  it("W27: a key lives until the end of its hour and a minute more, however often it is hit", async () => {
    const [joe, clock] = [someone(), virtualClock(noon)];
    const served = await app({ cache: redis, clock });
    const restMs = 1_503_211;
    await served.get("/", as(joe));
    const first = await redis.pttl(`${joe}_2009-05-01-12`);
    expect(first).toBeGreaterThan(restMs);
    expect(first).toBeLessThanOrEqual(restMs + 60_000);
    await redis.pexpire(`${joe}_2009-05-01-12`, 5000);
    await served.get("/", as(joe));
    expect(await redis.pttl(`${joe}_2009-05-01-12`)).toBeLessThanOrEqual(5000);
  });

  it("W27: a key someone left without an end is given one", async () => {
    const joe = someone();
    await redis.set(`${joe}_2009-05-01-12`, "1");
    await (await app({ cache: redis, clock: virtualClock(noon) })).get("/", as(joe));
    expect(await redis.pttl(`${joe}_2009-05-01-12`)).toBeGreaterThan(0);
  });

  it("D16, W28: a request is one command sent to Redis, and the count is that command's own answer", async () => {
    const joe = someone();
    const served = await app({ cache: redis, requestsPerHour: 3, clock: virtualClock(noon) });
    await served.get("/", as(joe));
    const { outside } = await watchScripts(inject("redisPort"), joe, async () => {
      await statuses(served, 4, "/", as(joe));
    });
    expect(outside.map(([command]) => command)).toEqual(Array(4).fill("evalsha"));
  });

  it("a key that holds somebody else's data is left alone: that user goes uncounted, nobody else does", async () => {
    const [joe, luc] = [someone("joe"), someone("luc")];
    await redis.lpush(`${joe}_2009-05-01-12`, "theirs");
    const onDegraded = vi.fn();
    const served = await app({ cache: redis, requestsPerHour: 1, clock: virtualClock(noon), onDegraded });
    expect(await statuses(served, 10, "/", as(joe))).toEqual(Array(10).fill(200));
    expect(await statuses(served, 2, "/", as(luc))).toEqual([200, 503]);
    expect(onDegraded).not.toHaveBeenCalled();
    expect(await redis.lrange(`${joe}_2009-05-01-12`, 0, -1)).toEqual(["theirs"]);
    await redis.del(`${joe}_2009-05-01-12`);
  });
});

describe("without the cache", () => {
  /** A user over the limit, on a Redis of the test's own. */
  async function overLimit(args: readonly string[] = []) {
    const server = await startRedis({ args });
    opened.push(() => server.stop());
    const client = new Redis(server.port, { retryStrategy: () => 50, maxRetriesPerRequest: 1 });
    client.on("error", () => {});
    opened.push(() => client.disconnect());
    const [onDegraded, onRecovered] = [vi.fn(), vi.fn()];
    const throttling = throttle({
      cache: client,
      requestsPerHour: 1,
      deadlineMs: 200,
      breaker: { failures: 2, pauseMs: 50 },
      onDegraded,
      onRecovered,
      clock: virtualClock(noon),
    });
    const served = await serve(throttling);
    const joe = () => served.get("/", as("joe"));
    await vi.waitFor(async () => expect((await joe()).status).toBe(503), { timeout: 10_000 });
    return { server, client, throttling, joe, onDegraded, onRecovered };
  }

  type Over = Awaited<ReturnType<typeof overLimit>>;

  /** Ways to lose a Redis, each with the way back. */
  const outages: [what: string, lose: (over: Over) => unknown, restore: (over: Over) => unknown][] = [
    ["killed", ({ server }) => server.kill(), ({ server }) => server.restart()],
    ["frozen", ({ server }) => server.freeze(), ({ server }) => server.thaw()],
    [
      "read-only",
      ({ client }) => client.replicaof("127.0.0.1", 1),
      ({ client }) => client.replicaof("NO", "ONE"),
    ],
    [
      "full",
      ({ client }) => client.config("SET", "maxmemory", "1"),
      ({ client }) => client.config("SET", "maxmemory", "0"),
    ],
  ];

  it.each(outages)(
    "D14, D15, W29: a Redis that is %s lets everyone through, says so at once, and limits again by itself",
    async (_, lose, restore) => {
      const over = await overLimit();
      const { joe, throttling, onDegraded, onRecovered } = over;
      await lose(over);
      for (let i = 0; i < 10; i++) expect(await joe()).toMatchObject(helloWorld);
      expect(throttling.metrics()).toEqual({ degraded: true, withoutCache: expect.any(Number) });
      expect(throttling.metrics().withoutCache).toBeGreaterThanOrEqual(10);
      expect(onDegraded).toHaveBeenCalledWith(expect.any(Error));
      await restore(over);
      await vi.waitFor(async () => expect((await joe()).status).toBe(503), { timeout: 10_000, interval: 50 });
      expect(throttling.metrics().degraded).toBe(false);
      expect(onRecovered).toHaveBeenCalled();
    },
  );

  it("D14, W29: a Redis that asks for a password nobody gave lets everyone through", async () => {
    const { client, joe, throttling } = await overLimit();
    await client.config("SET", "requirepass", "secret");
    client.disconnect(true);
    await vi.waitFor(async () => expect((await joe()).status).toBe(200), { timeout: 10_000, interval: 50 });
    expect(throttling.metrics().degraded).toBe(true);
  });

  it("D14, W29: a cache that fails is left alone for a while: of a hundred requests only a few wait for it", async () => {
    const server = await startRedis();
    opened.push(() => server.stop());
    const proxy = await faultProxy(server.port);
    opened.push(() => proxy.stop());
    const [client, direct] = [new Redis(proxy.port), new Redis(server.port)];
    client.on("error", () => {});
    opened.push(
      () => client.disconnect(),
      () => direct.disconnect(),
    );
    const served = await app({
      cache: client,
      requestsPerHour: 0,
      deadlineMs: 300,
      breaker: { failures: 2, pauseMs: 60_000 },
      clock: virtualClock(noon),
    });
    await vi.waitFor(async () => expect((await served.get("/", as("joe"))).status).toBe(503), 15_000);
    const before = Number(await direct.get("joe_2009-05-01-12"));
    proxy.swallowReplies(true);
    expect(await statuses(served, 100, "/", as("joe"))).toEqual(Array(100).fill(200));
    expect(Number(await direct.get("joe_2009-05-01-12")) - before).toBe(2);
  });
});

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

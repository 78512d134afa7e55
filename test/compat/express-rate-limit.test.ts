import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type Express } from "express";
import { type Options, rateLimit, type Store } from "express-rate-limit";
import { ConfigError, memoryStore, StoreError } from "tidegate";
import { expressRateLimitStore, TidegateStore } from "tidegate/compat";
import { virtualClock } from "tidegate/testing";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { everyPlace } from "../holes/places.js";

const minute = 60_000;
const start = 1_700_000_000_000;

const places = everyPlace();
const servers = new Set<Server>();
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all([...servers].map((server) => new Promise((done) => server.close(done))));
  servers.clear();
});
afterAll(async () => {
  await Promise.all(places.map((place) => place.close()));
});

const window = (windowMs: number) => ({ windowMs }) as Options;
const prefix = () => `${randomUUID()}:`;

describe("where express-rate-limit's own memory store would stand", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: start });
  });

  function open(windowMs: number = minute): TidegateStore {
    const store = new TidegateStore();
    store.init(window(windowMs));
    return store;
  }

  it("is a Store by type, made with or without new, and says its keys are its own", () => {
    const stores: Store[] = [new TidegateStore(), expressRateLimitStore()];
    for (const store of stores) {
      expect(store).toBeInstanceOf(TidegateStore);
      expect(store.localKeys).toBe(true);
    }
  });

  it("the first hit is 1, each further one more, far above any limit", async () => {
    const store = open();
    for (let hit = 1; hit <= 1000; hit++) expect((await store.increment("a")).totalHits).toBe(hit);
    expect((await store.increment("b")).totalHits).toBe(1);
  });

  it("the window begins with a client's own first hit and ends at the same instant for all its hits", async () => {
    const store = open();
    expect((await store.increment("a")).resetTime).toEqual(new Date(start + minute));
    vi.advanceTimersByTime(20_000);
    expect((await store.increment("a")).resetTime).toEqual(new Date(start + minute));
    expect((await store.increment("b")).resetTime).toEqual(new Date(start + 20_000 + minute));
    vi.advanceTimersByTime(39_999);
    expect((await store.increment("a")).totalHits).toBe(3);
    vi.advanceTimersByTime(1);
    expect(await store.increment("a")).toEqual({ totalHits: 1, resetTime: new Date(start + 2 * minute) });
    expect((await store.increment("b")).totalHits).toBe(2);
  });

  it("get tells what increment told and counts nothing; it knows no stranger and no window that is over", async () => {
    const store = open();
    expect(await store.get("a")).toBeUndefined();
    const told = await store.increment("a");
    for (let i = 0; i < 3; i++) expect(await store.get("a")).toEqual(told);
    vi.advanceTimersByTime(minute);
    expect(await store.get("a")).toBeUndefined();
  });

  it("decrement takes one hit back, never below zero, and makes no credit for a stranger", async () => {
    const store = open();
    await store.increment("a");
    await store.increment("a");
    await store.decrement("a");
    expect((await store.get("a"))?.totalHits).toBe(1);
    for (let i = 0; i < 5; i++) await store.decrement("a");
    expect((await store.increment("a")).totalHits).toBe(1);
    await store.decrement("stranger");
    expect((await store.increment("stranger")).totalHits).toBe(1);
  });

  it("resetKey forgets one client, resetAll forgets all", async () => {
    const store = open();
    for (const key of ["a", "b", "c"]) await store.increment(key);
    await store.resetKey("a");
    expect([await store.get("a"), (await store.get("b"))?.totalHits]).toEqual([undefined, 1]);
    await store.resetAll?.();
    for (const key of ["a", "b", "c"]) expect((await store.increment(key)).totalHits).toBe(1);
  });

  it("shutdown stops its timer and drops its counts", async () => {
    const store = open();
    await store.increment("a");
    expect(vi.getTimerCount()).toBeGreaterThan(0);
    const { interval } = store;
    const cleared = vi.spyOn(globalThis, "clearInterval");
    store.shutdown();
    expect(interval).toBeDefined();
    expect(cleared).toHaveBeenCalledWith(interval);
    expect(await store.get("a")).toBeUndefined();
    cleared.mockRestore();
  });

  it("the timer that gives idle memory back loses no count that still holds", async () => {
    const store = open();
    vi.advanceTimersByTime(minute - 1);
    await store.increment("a");
    for (let hits = 2; hits < 6; hits++) {
      vi.advanceTimersByTime(10_000);
      expect((await store.increment("a")).totalHits).toBe(hits);
    }
    vi.advanceTimersByTime(3 * minute);
    expect(await store.get("a")).toBeUndefined();
    expect((await store.increment("a")).totalHits).toBe(1);
  });

  it("a window that express-rate-limit only complains about still counts", async () => {
    for (const windowMs of [-1, 0, 0.5, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY]) {
      const store = open(windowMs);
      expect((await store.increment("a")).totalHits).toBe(1);
      expect((await store.increment("a")).totalHits).toBe(2);
      store.shutdown();
    }
  });

  it("runs where setInterval answers a number, as in Electron", async () => {
    const timers = vi.spyOn(globalThis, "setInterval").mockReturnValue(7 as never);
    const store = open();
    expect((await store.increment("a")).totalHits).toBe(1);
    expect(store.interval).toBe(7);
    timers.mockRestore();
  });

  it("takes the validations express-rate-limit hands to the store it makes, and lets them judge the window", () => {
    const judged: number[] = [];
    const store = new TidegateStore({ windowMs: (ms) => judged.push(ms) });
    store.init(window(2 ** 40));
    expect(judged).toEqual([2 ** 40]);
    expect(store.localKeys).toBe(true);
  });

  it("hostile and missing keys are counted apart, none of them throws", async () => {
    const store = open();
    const keys = ["", "__proto__", "constructor", "a\0b", "a\nb", "a{b}", "x".repeat(65_536), undefined];
    for (const key of keys) expect((await store.increment(key as string)).totalHits).toBe(1);
    for (const key of keys) expect((await store.get(key as string))?.totalHits).toBe(1);
  });
});

describe("misuse is told when the store is made", () => {
  it.each([
    [{ stoer: memoryStore() }, "TG_OPTION_UNKNOWN"],
    [{ prefix: "" }, "TG_PREFIX"],
    [{ prefix: 7 }, "TG_PREFIX"],
    [{ store: {} }, "TG_STORE"],
    [{ deadlineMs: 0 }, "TG_DEADLINE"],
  ])("%j", (options, code) => {
    expect(() => expressRateLimitStore(options as never)).toThrow(ConfigError);
    expect(() => expressRateLimitStore(options as never)).toThrow(code);
  });
});

describe.each(places.map((place) => [place.name, place] as const))("on a store in %s", (_, place) => {
  it("counts, gives back, tells and forgets as in memory, window by window", async () => {
    const clock = virtualClock(start);
    const store = expressRateLimitStore({ store: place.open(clock), prefix: prefix(), deadlineMs: 15_000 });
    store.init(window(minute));
    for (let hit = 1; hit <= 4; hit++) expect((await store.increment("a")).totalHits).toBe(hit);
    await store.decrement("a");
    expect((await store.get("a"))?.totalHits).toBe(3);
    expect(await store.get("b")).toBeUndefined();
    clock.advance(minute - 1);
    expect((await store.increment("a")).totalHits).toBe(4);
    clock.advance(1);
    expect((await store.increment("a")).totalHits).toBe(1);
    await store.resetKey("a");
    expect(await store.get("a")).toBeUndefined();
  });

  it("its keys are not its own: two of one prefix count together, of two prefixes apart", async () => {
    const shared = place.open(virtualClock(start));
    const [one, other] = [prefix(), prefix()];
    const stores = [one, one, other].map((prefix) =>
      expressRateLimitStore({ store: shared, prefix, deadlineMs: 15_000 }),
    );
    const hits = [];
    for (const store of stores) {
      store.init(window(minute));
      expect(store.localKeys).toBe(false);
      expect(store.resetAll).toBeUndefined();
      hits.push((await store.increment("a")).totalHits);
    }
    expect(hits).toEqual([1, 2, 1]);
  });

  it("the end of the window is told by this process's clock, whatever the store's says", async () => {
    const store = expressRateLimitStore({
      store: place.open(virtualClock(start)),
      prefix: prefix(),
      deadlineMs: 15_000,
    });
    store.init(window(minute));
    const before = Date.now();
    const { resetTime } = await store.increment("a");
    expect(resetTime.getTime()).toBeGreaterThanOrEqual(before + minute);
    expect(resetTime.getTime()).toBeLessThanOrEqual(Date.now() + minute);
  });
});

describe("a store out of reach", () => {
  const gone = () => Promise.reject(new Error("gone"));
  const broken = { decide: gone, peek: gone, refund: gone, hold: gone, forget: gone };

  it("is counted for in this process, so the limit goes on holding and no request fails", async () => {
    const degraded = vi.fn();
    const store = expressRateLimitStore({ store: broken, onDegraded: degraded, breaker: { failures: 2 } });
    store.init(window(minute));
    const hits = [];
    for (let i = 0; i < 4; i++) hits.push((await store.increment("a")).totalHits);
    expect(hits).toEqual([1, 2, 3, 4]);
    expect(degraded).toHaveBeenCalledOnce();
    await expect(store.resetKey("a")).rejects.toBeInstanceOf(StoreError);
  });
});

describe("under the real express-rate-limit on Express 5", () => {
  async function listen(app: Express): Promise<string> {
    const server = createServer(app).listen(0, "127.0.0.1");
    servers.add(server);
    await new Promise((ready) => server.once("listening", ready));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function serve(options: Partial<Options>): Promise<string> {
    const app = express();
    app.use(rateLimit({ ...options, store: options.store ?? expressRateLimitStore() }));
    app.get("/", (_, response) => void response.send("hi"));
    app.get("/bad", (_, response) => void response.status(400).send("bad"));
    return listen(app);
  }

  async function statuses(url: string, times: number): Promise<number[]> {
    const seen: number[] = [];
    for (let i = 0; i < times; i++) seen.push((await fetch(url)).status);
    return seen;
  }

  it("passes the limit, then answers 429 with what is left and when to come back", async () => {
    const complaints = vi.spyOn(console, "error");
    const url = await serve({ limit: 2, windowMs: minute, standardHeaders: "draft-6" });
    expect(await statuses(url, 2)).toEqual([200, 200]);
    const refused = await fetch(url);
    expect(refused.status).toBe(429);
    const header = (name: string) => refused.headers.get(name);
    expect([header("ratelimit-limit"), header("ratelimit-remaining")]).toEqual(["2", "0"]);
    expect(header("x-ratelimit-limit")).toBe("2");
    for (const name of ["retry-after", "ratelimit-reset"]) {
      expect(Number(header(name))).toBeGreaterThan(0);
      expect(Number(header(name))).toBeLessThanOrEqual(60);
    }
    expect(complaints).not.toHaveBeenCalled();
    complaints.mockRestore();
  });

  it("lets a client in again when its window is over", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: start });
    const url = await serve({ limit: 1, windowMs: minute });
    expect(await statuses(url, 2)).toEqual([200, 429]);
    vi.setSystemTime(start + minute);
    expect(await statuses(url, 2)).toEqual([200, 429]);
  });

  it.each([
    ["skipFailedRequests", "/bad", 400],
    ["skipSuccessfulRequests", "/", 200],
  ])("%s gives hits back", async (option, path, status) => {
    const url = await serve({ limit: 2, [option]: true });
    for (let i = 0; i < 6; i++) {
      expect((await fetch(url + path)).status).toBe(status);
      // The hit is given back just after the answer went out.
      await new Promise(setImmediate);
    }
    const other = path === "/" ? "/bad" : "/";
    expect(await statuses(url + other, 3)).toEqual([path === "/" ? 400 : 200, path === "/" ? 400 : 200, 429]);
  });

  it("resetKey and getKey of the middleware reach the store", async () => {
    const app = express();
    const limiter = rateLimit({ limit: 1, keyGenerator: () => "me", store: expressRateLimitStore() });
    app.use(limiter);
    app.get("/", (_, response) => void response.send("hi"));
    const url = await listen(app);
    expect(await statuses(url, 2)).toEqual([200, 429]);
    expect(await limiter.getKey("me")).toMatchObject({ totalHits: 2, resetTime: expect.any(Date) });
    limiter.resetKey("me");
    expect(await limiter.getKey("me")).toBeUndefined();
    expect(await statuses(url, 2)).toEqual([200, 429]);
  });

  it("a changed window starts fresh counts on the same store, a changed limit keeps them", async () => {
    const shared = memoryStore();
    const mounted = (limit: number, windowMs: number) =>
      serve({ limit, windowMs, store: expressRateLimitStore({ store: shared }) });
    expect(await statuses(await mounted(2, minute), 3)).toEqual([200, 200, 429]);
    expect(await statuses(await mounted(5, minute), 3)).toEqual([200, 200, 429]);
    expect(await statuses(await mounted(2, 2 * minute), 3)).toEqual([200, 200, 429]);
  });

  it("one store shared by two limiters is reported by express-rate-limit", async () => {
    const complaints = vi.spyOn(console, "error").mockImplementation(() => {});
    const store = expressRateLimitStore();
    rateLimit({ store });
    rateLimit({ store });
    expect(String(complaints.mock.calls[0]?.[0])).toContain("ERR_ERL_STORE_REUSE");
    complaints.mockRestore();
  });
});

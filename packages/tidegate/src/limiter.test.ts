import { describe, expect, expectTypeOf, it, vi } from "vitest";
import type { Verdict } from "./decision.js";
import { ConfigError, StoreError } from "./errors.js";
import * as tidegate from "./index.js";
import {
  concurrency,
  createLimiter,
  earrrl,
  fixedWindow,
  type LeaseLimiter,
  type Limit,
  type Limiter,
  type LimiterOptions,
  memoryStore,
  slidingCounter,
  slidingLog,
  tokenBucket,
} from "./index.js";
import { hostileKeys } from "./testing/store-contract.js";
import { virtualClock } from "./testing/virtual-clock.js";

const start = 1_700_000_000_000;

function setUp(options: Omit<Partial<LimiterOptions>, "name"> = { limit: "5 per hour" }) {
  const clock = virtualClock(start);
  const store = memoryStore({ clock });
  return { clock, store, limiter: createLimiter({ name: "sms", store, ...options }) };
}

const remaining = async (limiter: Limiter, key = "k") => (await limiter.peek(key)).remaining;

describe("consume", () => {
  it("charges until the limit, then refuses and says for how long", async () => {
    const { limiter } = setUp();
    for (let left = 4; left >= 0; left--)
      expect(await limiter.consume("k")).toMatchObject({ allowed: true, remaining: left, retryAfterMs: 0 });
    const refused = await limiter.consume("k");
    expect(refused).toMatchObject({
      rule: "sms",
      name: "sms/3600",
      key: "k",
      allowed: false,
      shadow: false,
      cost: 1,
      limit: 5,
      windowMs: 3_600_000,
      remaining: 0,
      at: start,
      source: "store",
    });
    expect(refused.retryAfterMs).toBe(3_600_000 - (start % 3_600_000));
    expect(await limiter.consume("other")).toMatchObject({ allowed: true });
  });

  it("a refused call costs nothing", async () => {
    const { limiter } = setUp();
    await limiter.consume("k", { cost: 3 });
    expect(await limiter.consume("k", { cost: 3 })).toMatchObject({ allowed: false, remaining: 2 });
    expect(await limiter.consume("k", { cost: 2 })).toMatchObject({ allowed: true, remaining: 0 });
  });

  it("a cost the limit can never hold is refused for ever, not for a while", async () => {
    const { limiter } = setUp();
    expect(await limiter.consume("k", { cost: 6 })).toMatchObject({
      allowed: false,
      remaining: 5,
      retryAfterMs: Number.POSITIVE_INFINITY,
    });
  });

  it("a limit of 0 refuses everything", async () => {
    const { limiter } = setUp({ limit: "0 per hour" });
    expect(await limiter.consume("k")).toMatchObject({ allowed: false, limit: 0, remaining: 0 });
  });

  it("windows of 1 ms and of 400 days work", async () => {
    for (const window of ["1ms", "400d"] as const) {
      const { limiter, clock } = setUp({ limit: fixedWindow({ limit: 1, window }) });
      expect((await limiter.consume("k")).allowed).toBe(true);
      expect((await limiter.consume("k")).allowed).toBe(false);
      clock.advance(window);
      expect((await limiter.consume("k")).allowed).toBe(true);
    }
  });
});

describe("peek", () => {
  it("says what consume would say, and leaves no trace", async () => {
    const { limiter, store } = setUp();
    expect(await limiter.peek("k", { cost: 6 })).toMatchObject({ allowed: false });
    expect(await limiter.peek("k")).toMatchObject({ allowed: true, remaining: 5 });
    expect(store.size).toBe(0);
  });
});

describe("several limits", () => {
  const limits = ["3 per minute", "5 per hour"] as const;

  it("pass together or not at all", async () => {
    const { limiter, clock } = setUp({ limits });
    for (let i = 0; i < 3; i++) expect((await limiter.consume("k")).allowed).toBe(true);
    for (let i = 0; i < 3; i++) expect((await limiter.consume("k")).allowed).toBe(false);
    clock.advance("1m");
    expect(await limiter.consume("k")).toMatchObject({ allowed: true, name: "sms/3600", remaining: 1 });
  });

  it("the one with the smallest share left speaks when allowed, the one with the longest wait when refused", async () => {
    const { limiter, clock } = setUp({ limits });
    expect(await limiter.consume("k")).toMatchObject({ name: "sms/60", remaining: 2 });
    await limiter.consume("k", { cost: 2 });
    expect(await limiter.consume("k", { cost: 3 })).toMatchObject({ allowed: false, name: "sms/3600" });
    expect(await limiter.consume("k")).toMatchObject({ allowed: false, name: "sms/60" });
    clock.advance("1m");
    expect(await limiter.consume("k", { cost: 2 })).toMatchObject({
      allowed: true,
      name: "sms/3600",
      remaining: 0,
    });
  });
});

describe("refund", () => {
  it("gives back what a verdict charged, to every limit", async () => {
    const { limiter } = setUp({ limits: ["3 per minute", "5 per hour"] });
    const verdict = await limiter.consume("k", { cost: 3 });
    await limiter.refund(verdict);
    expect(await limiter.consume("k", { cost: 3 })).toMatchObject({ allowed: true });
    expect(await limiter.peek("k", { cost: 2 })).toMatchObject({ allowed: false, name: "sms/60" });
  });

  it("twice is once", async () => {
    const { limiter } = setUp();
    await limiter.consume("k", { cost: 2 });
    const verdict = await limiter.consume("k");
    await Promise.all([limiter.refund(verdict), limiter.refund(verdict)]);
    await limiter.refund(verdict);
    expect(await remaining(limiter)).toBe(3);
  });

  it("of a refused verdict is nothing", async () => {
    const { limiter } = setUp();
    await limiter.consume("k", { cost: 5 });
    await limiter.refund(await limiter.consume("k", { cost: 2 }));
    expect(await remaining(limiter)).toBe(0);
  });

  it("of a verdict that was only peeked is nothing", async () => {
    const { limiter } = setUp();
    await limiter.consume("k", { cost: 3 });
    await limiter.refund(await limiter.peek("k"));
    expect(await remaining(limiter)).toBe(2);
  });

  it("of a verdict nobody counted is nothing", async () => {
    const store = memoryStore();
    const down = { ...store, decide: () => Promise.reject(new Error("down")), refund: vi.fn() } as never;
    const limiter = createLimiter({ name: "sms", limit: "5 per hour", store: down, onStoreFailure: "allow" });
    const verdict = await limiter.consume("k");
    expect(verdict.source).toBe("none");
    await limiter.refund(verdict);
    expect((down as { refund: unknown }).refund).not.toHaveBeenCalled();
  });

  it("takes a verdict that went through JSON", async () => {
    for (const limits of [["5 per hour"], ["3 per minute", "5 per hour"]] as const) {
      const { limiter } = setUp({ limits });
      const verdict = JSON.parse(JSON.stringify(await limiter.consume("k", { cost: 2 }))) as Verdict;
      await limiter.refund(verdict);
      expect(await limiter.peek("k")).toMatchObject({ remaining: limits.length === 1 ? 5 : 3 });
    }
  });

  it("takes a key and a cost, by default 1", async () => {
    const { limiter } = setUp();
    await limiter.consume("k", { cost: 4 });
    await limiter.refund("k", 2);
    await limiter.refund("k");
    expect(await remaining(limiter)).toBe(4);
  });

  it("never credits more than was charged", async () => {
    const { limiter } = setUp();
    await limiter.consume("k");
    await limiter.refund("k", 1000);
    await limiter.refund("k", 1000);
    expect(await remaining(limiter)).toBe(5);
  });

  it("never gives an older window's charge to the present one", async () => {
    const { limiter, clock } = setUp();
    const verdict = await limiter.consume("k", { cost: 3 });
    clock.advance("1h");
    await limiter.consume("k", { cost: 2 });
    await limiter.refund(verdict);
    expect(await remaining(limiter)).toBe(3);
  });

  it.each([
    [undefined, /^refund: undefined/],
    [null, /^refund: null/],
    [7, /^refund: 7/],
    [{}, /^refund: an object/],
    [{ rule: "other", allowed: true }, /^refund: an object .*"sms"/],
    [
      { rule: "sms", allowed: true, key: "k", cost: 1, at: start, resetAfterMs: "soon" },
      /^refund: an object/,
    ],
    [{ rule: "sms", allowed: true, key: "k", cost: 1, at: null, resetAfterMs: 1 }, /^refund: an object/],
    [{ rule: "sms", allowed: true, key: "k", cost: 1, at: start, resetAfterMs: 1, id: 7 }, /^id: 7/],
    [{ rule: "sms", allowed: true, key: 7, cost: 1, at: start, resetAfterMs: 1, source: "store" }, /^key: 7/],
    [
      { rule: "sms", allowed: true, key: "k", cost: -1, at: start, resetAfterMs: 1, source: "store" },
      /^cost: -1/,
    ],
    [
      { rule: "sms", allowed: true, key: "k", at: start, resetAfterMs: 1, source: "store" },
      /^cost: undefined/,
    ],
    ["", /^key: ""/],
  ])("of %o is refused by name, and never trips the breaker", async (what, message) => {
    const onDegraded = vi.fn();
    const { limiter } = setUp({ limit: "5 per hour", breaker: { failures: 1 }, onDegraded });
    await limiter.consume("k");
    const refund = limiter.refund(what as never);
    await expect(refund).rejects.toThrow(message);
    await expect(refund).rejects.toBeInstanceOf(TypeError);
    expect(await limiter.consume("k")).toMatchObject({ source: "store", remaining: 3 });
    expect(onDegraded).not.toHaveBeenCalled();
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, "2", null])(
    "of a key with cost %o is refused by name",
    async (cost) => {
      const { limiter } = setUp();
      await expect(limiter.refund("k", cost as number)).rejects.toThrow(/^cost: /);
    },
  );
});

describe("forget and hold", () => {
  it("a held key is refused, charges nothing, and says until when; forget lifts it", async () => {
    const { limiter } = setUp();
    await limiter.consume("k");
    await limiter.hold("k", "10m");
    expect(await limiter.consume("k")).toMatchObject({
      allowed: false,
      remaining: 4,
      retryAfterMs: 600_000,
      heldUntil: start + 600_000,
    });
    await limiter.forget("k");
    const after = await limiter.consume("k");
    expect(after).toMatchObject({ allowed: true, remaining: 4 });
    expect(after.heldUntil).toBeUndefined();
  });

  it("the wait is the hold's or the limit's own, whichever is longer", async () => {
    const { limiter } = setUp();
    await limiter.consume("k", { cost: 5 });
    await limiter.hold("k", "1s");
    expect((await limiter.consume("k")).retryAfterMs).toBe(3_600_000 - (start % 3_600_000));
    await limiter.hold("k", "1d");
    expect((await limiter.consume("k")).retryAfterMs).toBe(86_400_000);
  });

  it("a hold ends by itself", async () => {
    const { limiter, clock } = setUp();
    await limiter.hold("k", "1s");
    clock.advance(999);
    expect((await limiter.consume("k")).allowed).toBe(false);
    clock.advance(1);
    expect((await limiter.consume("k")).allowed).toBe(true);
  });

  it("a hold that is shorter than the last shortens it", async () => {
    const { limiter, clock } = setUp();
    await limiter.hold("k", "1h");
    await limiter.hold("k", "1s");
    clock.advance("1s");
    expect((await limiter.consume("k")).allowed).toBe(true);
  });

  it.each([0, -1, Number.NaN, "1y", "", null, undefined])(
    "a hold for %o is refused by name",
    async (duration) => {
      const { limiter } = setUp();
      await expect(limiter.hold("k", duration as never)).rejects.toMatchObject({
        code: "TG_DURATION",
        path: "hold.duration",
      });
    },
  );
});

describe("names", () => {
  it("two limiters of one name on one store share counts", async () => {
    const { limiter, store } = setUp();
    const twin = createLimiter({ name: "sms", limit: "5 per hour", store });
    await limiter.consume("k", { cost: 3 });
    expect(await twin.consume("k")).toMatchObject({ remaining: 1 });
    await twin.forget("k");
    expect(await remaining(limiter)).toBe(5);
  });

  it("two names do not, nor do two stores", async () => {
    const { limiter, store } = setUp();
    await limiter.consume("k", { cost: 3 });
    expect(await remaining(createLimiter({ name: "mail", limit: "5 per hour", store }))).toBe(5);
    expect(await remaining(createLimiter({ name: "sms", limit: "5 per hour" }))).toBe(5);
  });

  it("a name and a key can not be confused with another pair", async () => {
    const store = memoryStore();
    const of = (name: string) => createLimiter({ name, limit: "5 per hour", store });
    await of("a").consume("b:c");
    await of("a:b").consume("c");
    expect(await remaining(of("a"), "b:c")).toBe(4);
    expect(await remaining(of("a:b"), "c")).toBe(4);
  });
});

describe("a misconfigured limiter is refused when it is made", () => {
  const stores = { memory: memoryStore() };
  const good = { name: "sms", limit: "5 per hour" };

  it.each<[string, unknown, string, string, string]>([
    ["nothing", undefined, "TG_OPTIONS", "createLimiter", "undefined"],
    ["null", null, "TG_OPTIONS", "createLimiter", "null"],
    ["a text", "5 per hour", "TG_OPTIONS", "createLimiter", '"5 per hour"'],
    ["an unknown option", { ...good, burst: 3 }, "TG_OPTION_UNKNOWN", "createLimiter.burst", "Known: name"],
    [
      "a misspelt option",
      { ...good, onStoreFailiure: "deny" },
      "TG_OPTION_UNKNOWN",
      "createLimiter.onStoreFailiure",
      "onStoreFailure",
    ],
    ["no name", { limit: "5 per hour" }, "TG_NAME", "createLimiter.name", "undefined"],
    ["an empty name", { ...good, name: "" }, "TG_NAME", "createLimiter.name", '""'],
    ["a name with a newline", { ...good, name: "a\nb" }, "TG_NAME", "createLimiter.name", '"a\\nb"'],
    ["a long name", { ...good, name: "x".repeat(65) }, "TG_NAME", "createLimiter.name", "64"],
    ["neither limit nor limits", { name: "sms" }, "TG_LIMITS", "createLimiter", "limit or limits"],
    ["both limit and limits", { ...good, limits: ["1 per day"] }, "TG_LIMITS", "createLimiter", "not both"],
    ["no limits", { name: "sms", limits: [] }, "TG_LIMITS", "createLimiter.limits", "an array of 0"],
    [
      "33 limits",
      { name: "sms", limits: Array.from({ length: 33 }, (_, i) => `1 per ${i + 1}s`) },
      "TG_LIMITS",
      "createLimiter.limits",
      "33",
    ],
    [
      "limits that are no list",
      { name: "sms", limits: "5 per hour" },
      "TG_LIMITS",
      "createLimiter.limits",
      '"5 per hour"',
    ],
    ["a null limit", { name: "sms", limit: null }, "TG_LIMIT", "createLimiter.limit", "null"],
    ["a number for a limit", { name: "sms", limit: 100 }, "TG_LIMIT", "createLimiter.limit", "100"],
    [
      "options for a limit",
      { name: "sms", limit: { limit: 5, window: "1h" } },
      "TG_LIMIT",
      "createLimiter.limit",
      "fixedWindow",
    ],
    [
      "a factory for a limit",
      { name: "sms", limit: fixedWindow },
      "TG_LIMIT",
      "createLimiter.limit",
      "a function",
    ],
    [
      "a rate with a typo",
      { name: "sms", limit: "100 per huor" },
      "TG_RATE",
      "createLimiter.limit",
      '"100 per huor"',
    ],
    [
      "a typo in the second",
      { name: "sms", limits: ["1 per day", "5 par hour"] },
      "TG_RATE",
      "createLimiter.limits[1]",
      '"5 par hour"',
    ],
    ["a rate over 0 s", { name: "sms", limit: "5 per 0s" }, "TG_RATE", "createLimiter.limit", '"5 per 0s"'],
    [
      "a rate over a century",
      { name: "sms", limit: "5 per 36500d" },
      "TG_DURATION",
      "createLimiter.limit",
      "ten years",
    ],
    [
      "one window twice",
      { name: "sms", limits: ["5 per hour", "9 per 60m"] },
      "TG_LIMITS_CLASH",
      "createLimiter.limits[1]",
      "the same place",
    ],
    ["a null store", { ...good, store: null }, "TG_STORE", "createLimiter.store", "null"],
    ["a store that is none", { ...good, store: {} }, "TG_STORE", "createLimiter.store", "memoryStore()"],
    ["a store not called", { ...good, store: memoryStore }, "TG_STORE", "createLimiter.store", "a function"],
    [
      "a Redis client for a store",
      { ...good, store: { callBuffer() {} } },
      "TG_STORE",
      "createLimiter.store",
      "redisStore({ client })",
    ],
    ["a deadline of 0", { ...good, deadlineMs: 0 }, "TG_DEADLINE", "deadlineMs", "0"],
    ["a text for a deadline", { ...good, deadlineMs: "100" }, "TG_DEADLINE", "deadlineMs", '"100"'],
    [
      "an unknown way to go on",
      { ...good, onStoreFailure: "open" },
      "TG_STORE_FAILURE",
      "onStoreFailure",
      '"open"',
    ],
    [
      "an unknown breaker option",
      { ...good, breaker: { pause: 1 } },
      "TG_OPTION_UNKNOWN",
      "breaker.pause",
      "pauseMs",
    ],
  ])("%s", (_, options, code, path, says) => {
    const make = () => createLimiter(options as LimiterOptions);
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(expect.objectContaining({ code, path, help: expect.stringMatching(/\S/) }));
    expect(make).toThrow(expect.objectContaining({ message: expect.stringContaining(says) }));
    expect(make).toThrow(expect.objectContaining({ message: expect.stringContaining(`[${code}]`) }));
  });

  it("a store that can not keep a limit says so then, not at the first call", () => {
    const picky = {
      ...stores.memory,
      decide: () => [],
      accept(limit: Limit) {
        throw new ConfigError("TG_LIMIT_KIND", "limit", `not ${limit.kind}.`, "Use another.");
      },
    };
    expect(() => createLimiter({ name: "sms", limit: "5 per hour", store: picky as never })).toThrow(
      "TG_LIMIT_KIND",
    );
  });

  it("many mistakes do not even compile", () => {
    expectTypeOf(createLimiter).returns.toExtend<Limiter>();
    const mistakes = [
      // @ts-expect-error huor is not a unit
      () => createLimiter({ name: "sms", limit: "100 per huor" }),
      // @ts-expect-error nor is it in a list
      () => createLimiter({ name: "sms", limits: ["1 per day", "100 per huor"] }),
      // @ts-expect-error a window is a duration
      () => createLimiter({ name: "sms", limit: fixedWindow({ limit: 5, window: "5 minutes" }) }),
      // @ts-expect-error there is no such option
      () => createLimiter({ name: "sms", limit: "5 per hour", burst: 3 }),
      // @ts-expect-error every limiter has a name
      () => createLimiter({ limit: "5 per hour" }),
      // @ts-expect-error there is no such way to go on
      () => createLimiter({ name: "sms", limit: "5 per hour", onStoreFailure: "open" }),
    ];
    for (const mistake of mistakes) expect(mistake).toThrow(ConfigError);
  });

  it("acquire is there on limiters with leases only", async () => {
    const leases = createLimiter({ name: "calls", limit: concurrency({ limit: 1, leaseFor: "1m" }) });
    expectTypeOf(leases).toEqualTypeOf<LeaseLimiter>();
    const mixed = createLimiter({
      name: "both",
      limits: ["5 per hour", concurrency({ limit: 1, leaseFor: "1m" })],
    });
    expectTypeOf(mixed).toEqualTypeOf<LeaseLimiter>();
    const plain = createLimiter({ name: "sms", limit: "5 per hour" });
    expectTypeOf(plain).not.toExtend<LeaseLimiter>();
    await expect((plain as LeaseLimiter).acquire("k")).rejects.toThrow(
      /^acquire: limiter "sms" has no concurrency limit/,
    );
  });
});

describe("bad input of a call", () => {
  it.each([
    0,
    -0,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    2 ** 53,
    1e300,
    "1",
    null,
    {},
    true,
    1n,
  ])("a cost of %o is a TypeError by name, and counts nothing", async (cost) => {
    const { limiter, store } = setUp();
    const options = { cost: cost as number };
    await expect(limiter.consume("k", options)).rejects.toBeInstanceOf(TypeError);
    await expect(limiter.consume("k", options)).rejects.toThrow(/^cost: /);
    await expect(limiter.peek("k", options)).rejects.toThrow(/^cost: /);
    expect(store.size).toBe(0);
  });

  it.each(["", undefined, null, 7, Number.NaN, {}, ["k"], Symbol("k")])(
    "a key %o is a TypeError by name",
    async (key) => {
      const { limiter, store } = setUp();
      const bad = key as string;
      for (const act of [
        () => limiter.consume(bad),
        () => limiter.peek(bad),
        () => limiter.forget(bad),
        () => limiter.hold(bad, "1s"),
      ]) {
        await expect(act()).rejects.toBeInstanceOf(TypeError);
        await expect(act()).rejects.toThrow(/^key: /);
      }
      expect(store.size).toBe(0);
    },
  );

  it.each(["", 7, {}, true, "x".repeat(257)])("an id %o is a TypeError by name", async (id) => {
    const { limiter } = setUp({ limit: slidingLog({ limit: 5, window: "1h" }) });
    await expect(limiter.consume("k", { id: id as string })).rejects.toThrow(/^id: /);
  });

  it.each([5, "5", true])("consume(key, %o) does not silently cost 1", async (options) => {
    const { limiter } = setUp();
    await expect(limiter.consume("k", options as never)).rejects.toThrow(/^options: .*\{ cost/);
  });

  it("hostile keys and ids are counted apart, each as any other", async () => {
    for (const limit of [fixedWindow({ limit: 2, window: "1h" }), slidingLog({ limit: 2, window: "1h" })]) {
      const { limiter } = setUp({ limit });
      for (const key of hostileKeys) {
        expect(await limiter.consume(key)).toMatchObject({ key, allowed: true, remaining: 1 });
      }
      for (const key of hostileKeys) {
        expect((await limiter.consume(key)).allowed).toBe(true);
        expect((await limiter.consume(key)).allowed).toBe(false);
        await limiter.forget(key);
        expect(await remaining(limiter, key)).toBe(2);
      }
    }
    const { limiter } = setUp({ limit: slidingLog({ limit: 100, window: "1h" }) });
    const ids = hostileKeys.filter((key) => key.length <= 256);
    for (let retry = 0; retry < 2; retry++) for (const id of ids) await limiter.consume("k", { id });
    expect(await remaining(limiter)).toBe(100 - ids.length);
  });

  it("is never taken for a failure of the store", async () => {
    const onDegraded = vi.fn();
    const { limiter } = setUp({
      limit: slidingLog({ limit: 5, window: "1h", encoding: "list" }),
      onDegraded,
    });
    for (let i = 0; i < 10; i++) {
      await limiter.consume("").catch(() => {});
      await limiter.consume("k", { cost: Number.NaN }).catch(() => {});
      await expect(limiter.consume("k", { cost: 2 })).rejects.toBeInstanceOf(ConfigError);
      await limiter.hold("k", "1y" as never).catch(() => {});
      await limiter.refund({} as never).catch(() => {});
    }
    expect(onDegraded).not.toHaveBeenCalled();
    expect(await limiter.consume("k")).toMatchObject({ source: "store" });
  });
});

describe("a limiter on a store that fails", () => {
  const down = () => Promise.reject(new Error("ECONNREFUSED"));
  const downStore = () => ({ decide: down, peek: down, refund: down, hold: down, forget: down });

  it("decides all the same; what must have happened rejects", async () => {
    const limiter = createLimiter({ name: "sms", limit: "2 per hour", store: downStore() });
    expect(await limiter.consume("k")).toMatchObject({ allowed: true, source: "local" });
    expect(await limiter.peek("k")).toMatchObject({ remaining: 1, source: "local" });
    await expect(limiter.hold("k", "1h")).rejects.toBeInstanceOf(StoreError);
    await expect(limiter.forget("k")).rejects.toBeInstanceOf(StoreError);
    expect(await limiter.consume("k")).toMatchObject({ source: "local" });
  });

  it("gives back here what was charged here", async () => {
    const limiter = createLimiter({
      name: "sms",
      limits: ["2 per minute", "3 per hour"],
      store: downStore(),
    });
    const verdict = await limiter.consume("k", { cost: 2 });
    expect(await limiter.consume("k")).toMatchObject({ allowed: false, source: "local" });
    await limiter.refund(verdict);
    expect(await limiter.consume("k", { cost: 2 })).toMatchObject({ allowed: true, source: "local" });
  });

  it("every method answers with a promise, even when the store throws at once", async () => {
    const boom = () => {
      throw new Error("at once");
    };
    const store = { decide: boom, peek: boom, refund: boom, hold: boom, forget: boom };
    const limiter = createLimiter({ name: "sms", limit: "2 per hour", store: store as never });
    const acts = [
      limiter.consume("k"),
      limiter.peek("k"),
      limiter.refund("k"),
      limiter.hold("k", "1h"),
      limiter.forget("k"),
      limiter.consume(7 as never),
    ];
    for (const act of acts) expect(act).toBeInstanceOf(Promise);
    await Promise.allSettled(acts);
  });
});

describe("a clock that jumps an hour", () => {
  const hour = 3_600_000;
  const limits: Record<string, Limit> = {
    "fixedWindow, from the epoch": fixedWindow({ limit: 5, window: "1m" }),
    "fixedWindow, from the first hit": fixedWindow({ limit: 5, window: "1m", align: "first-hit" }),
    "fixedWindow, counting refusals": fixedWindow({ limit: 5, window: "1m", countRefused: true }),
    slidingLog: slidingLog({ limit: 5, window: "1m" }),
    "slidingLog, list": slidingLog({ limit: 5, window: "1m", encoding: "list" }),
    slidingCounter: slidingCounter({ limit: 5, window: "1m" }),
    tokenBucket: tokenBucket({ rate: "5 per minute", burst: 5 }),
    earrrl: earrrl({ rate: "5 per minute", halfLife: "40s" }),
    concurrency: concurrency({ limit: 5, leaseFor: "1m" }),
  };

  it("every algorithm there is stands in this table", () => {
    const factories = Object.keys(tidegate).filter((name) => {
      const known = ["createLimiter", "memoryStore", "ConfigError", "StoreError", "TidegateError"];
      known.push("createGate", "backoff", "loginRules", "memoryDirectory", "parseDuration");
      return !known.includes(name);
    });
    expect(factories.sort()).toEqual(
      [...new Set(Object.keys(limits).map((title) => title.split(",")[0]))].sort(),
    );
  });

  async function drain(limiter: Limiter): Promise<number> {
    let allowed = 0;
    for (let i = 0; i < 50; i++) {
      const verdict = await limiter.consume("k");
      for (const fact of ["remaining", "resetAfterMs", "retryAfterMs"] as const) {
        expect(verdict[fact], fact).toBeGreaterThanOrEqual(0);
        expect(Number.isFinite(verdict[fact]), fact).toBe(true);
      }
      if (verdict.allowed) allowed++;
      else expect(verdict.retryAfterMs).toBeGreaterThan(0);
    }
    return allowed;
  }

  describe.each(Object.entries(limits))("%s", (_, limit) => {
    it("back: lets nobody through a second time, and says when it will", async () => {
      const { limiter, clock } = setUp({ limit });
      const burst = await drain(limiter);
      expect(burst).toBe(limit.limit);
      clock.set(start - hour);
      expect(await drain(limiter)).toBe(0);
      const { retryAfterMs } = await limiter.peek("k");
      expect(retryAfterMs).toBeGreaterThan(0);
      clock.advance(Math.ceil(retryAfterMs));
      expect((await limiter.consume("k")).allowed).toBe(true);
    });

    it("back: others are not touched by it", async () => {
      const { limiter, clock } = setUp({ limit });
      await drain(limiter);
      clock.set(start - hour);
      expect((await limiter.consume("other")).allowed).toBe(true);
    });

    it("forward: the past is over, and no more than a fresh quota passes", async () => {
      const { limiter, clock } = setUp({ limit });
      await drain(limiter);
      clock.set(start + hour);
      expect(await drain(limiter)).toBe(limit.limit);
    });

    it("to and fro: never more than one quota for each time it went forward", async () => {
      const { limiter, clock } = setUp({ limit });
      let allowed = await drain(limiter);
      for (let i = 1; i <= 4; i++) {
        clock.set(start + (i % 2) * hour);
        allowed += await drain(limiter);
      }
      expect(allowed).toBe(2 * limit.limit);
    });

    it("a refund across the jump gives nobody more than the quota", async () => {
      const { limiter, clock } = setUp({ limit });
      const verdict = await limiter.consume("k");
      clock.set(start - hour);
      await limiter.refund(verdict);
      await limiter.refund("k", 1);
      expect(await drain(limiter)).toBeLessThanOrEqual(limit.limit);
      clock.set(start + hour);
      await limiter.refund(verdict);
      expect(await drain(limiter)).toBe(limit.limit);
    });
  });
});

import { setTimeout as sleep } from "node:timers/promises";
import { StoreError, type Verdict } from "tidegate";
import { describe, expect, it, vi } from "vitest";
import { ask } from "../servers/child-server.js";
import { faultProxy, freePort, startRedis } from "../servers/index.js";
import {
  clients,
  countedIn,
  ioredis,
  isImmediate,
  limiterOn,
  nodeRedis,
  own,
  uniquePrefix,
  until,
  untilStoreAnswers,
} from "./support.js";

/** Far beyond any deadline here, far below what a client by itself would wait. */
const muchTooLongMs = 5_000;

/** Long enough for a busy machine, short enough to be waited for. */
const deadlineMs = 250;
const quickBreaker = { failures: 2, pauseMs: 50 };
const longBreaker = { failures: 5, pauseMs: 600_000 };

async function timed(answer: Promise<Verdict>): Promise<{ verdict: Verdict; ms: number }> {
  const began = performance.now();
  const verdict = await answer;
  return { verdict, ms: performance.now() - began };
}

describe.each(Object.entries(clients))("%s", (_, connect) => {
  it("Redis down at boot: answered here in time; once it is up it counts, without help, and only what it answered", async () => {
    const port = await freePort();
    const prefix = uniquePrefix();
    const limiter = limiterOn(connect(port), { prefix, breaker: quickBreaker, deadlineMs });
    for (let i = 0; i < 8; i++) {
      const { verdict, ms } = await timed(limiter.consume("k"));
      expect(verdict).toMatchObject({ allowed: true, source: "local" });
      expect(ms).toBeLessThan(muchTooLongMs);
    }
    await own(startRedis({ port }));
    await untilStoreAnswers(limiter);
    for (let i = 0; i < 10; i++) expect((await limiter.consume("k")).source).toBe("store");
    expect(await countedIn(port, prefix)).toBe(11);
  });

  it("killed and restarted: nobody waits long, and counting resumes by itself", async () => {
    const redis = await own(startRedis());
    const prefix = uniquePrefix();
    const limiter = limiterOn(connect(redis.port), { prefix, breaker: quickBreaker, deadlineMs });
    await untilStoreAnswers(limiter);
    await redis.kill();
    for (let i = 0; i < 20; i++) {
      const { verdict, ms } = await timed(limiter.consume("k"));
      expect(verdict).toMatchObject({ allowed: true, source: "local" });
      expect(ms).toBeLessThan(muchTooLongMs);
    }
    await redis.restart();
    await untilStoreAnswers(limiter);
    expect(await countedIn(redis.port, prefix)).toBe(1);
  });

  it("connection cut while replies are lost: a call counts once at most, though clients send again", async () => {
    const redis = await own(startRedis());
    const proxy = await own(faultProxy(redis.port));
    const prefix = uniquePrefix();
    const limiter = limiterOn(connect(proxy.port), { prefix, breaker: quickBreaker, deadlineMs: 20_000 });
    await untilStoreAnswers(limiter);
    proxy.swallowReplies(true);
    const lost = Array.from({ length: 20 }, () => limiter.consume("k"));
    await until("Redis to count what is lost", async () => (await countedIn(redis.port, prefix)) === 21);
    proxy.swallowReplies(false);
    proxy.cut();
    expect(new Set((await Promise.all(lost)).map(({ source }) => source))).toEqual(new Set(["local"]));
    await untilStoreAnswers(limiter);
    expect(await countedIn(redis.port, prefix)).toBe(22);
  });

  it("SCRIPT FLUSH under load: every call counts, exactly once", async () => {
    const redis = await own(startRedis());
    const prefix = uniquePrefix();
    const limiter = limiterOn(connect(redis.port), { prefix, deadlineMs: 20_000 });
    await untilStoreAnswers(limiter);
    for (let round = 0; round < 10; round++) {
      const half = Array.from({ length: 25 }, () => limiter.consume("k"));
      const flushed = ask(redis.port, "SCRIPT FLUSH\r\n");
      await sleep(round % 3);
      const verdicts = await Promise.all([
        ...half,
        ...Array.from({ length: 25 }, () => limiter.consume("k")),
      ]);
      expect(verdicts.every(({ source }) => source === "store")).toBe(true);
      expect(await flushed).toBe("+OK\r\n");
    }
    expect(await countedIn(redis.port, prefix)).toBe(501);
  });
});

describe.each([
  ["ioredis", ioredis],
  ["node-redis", nodeRedis],
] as const)("a frozen Redis (%s)", (_, connect) => {
  it("makes the first few wait for the deadline, nobody after them, and thaws without charging what was answered here", async () => {
    const redis = await own(startRedis());
    const prefix = uniquePrefix();
    const onDegraded = vi.fn();
    const limiter = limiterOn(connect(redis.port), { prefix, breaker: longBreaker, deadlineMs, onDegraded });
    await untilStoreAnswers(limiter);
    const before = await countedIn(redis.port, prefix);
    redis.freeze();
    let waited = 0;
    for (let i = 0; i < 100; i++) {
      const began = performance.now();
      const answer = limiter.consume("k");
      if (!(await isImmediate(answer))) waited++;
      expect(await answer).toMatchObject({ allowed: true, source: "local" });
      expect(performance.now() - began).toBeLessThan(muchTooLongMs);
    }
    expect(waited).toBe(5);
    expect(onDegraded).toHaveBeenCalledTimes(1);
    expect(onDegraded.mock.lastCall?.[0]).toMatchObject({ code: "TG_STORE_DEADLINE" });
    redis.thaw();
    await ask(redis.port, "PING\r\n");
    expect(await countedIn(redis.port, prefix)).toBe(before);
  });

  it("a hundred at once wait once, together", async () => {
    const redis = await own(startRedis());
    const prefix = uniquePrefix();
    const limiter = limiterOn(connect(redis.port), { prefix, breaker: longBreaker, deadlineMs });
    await untilStoreAnswers(limiter);
    const before = await countedIn(redis.port, prefix);
    redis.freeze();
    const answers = await Promise.all(Array.from({ length: 100 }, () => timed(limiter.consume("k"))));
    for (const { verdict, ms } of answers) {
      expect(verdict.source).toBe("local");
      expect(ms).toBeLessThan(muchTooLongMs);
    }
    const next = Array.from({ length: 100 }, () => limiter.consume("k"));
    expect(await isImmediate(Promise.all(next))).toBe(true);
    redis.thaw();
    await ask(redis.port, "PING\r\n");
    expect(await countedIn(redis.port, prefix)).toBe(before);
  });

  it("is asked again after the pause, and counts again once it thaws", async () => {
    const redis = await own(startRedis());
    const prefix = uniquePrefix();
    const onRecovered = vi.fn();
    const limiter = limiterOn(connect(redis.port), {
      prefix,
      breaker: quickBreaker,
      deadlineMs,
      onRecovered,
    });
    await untilStoreAnswers(limiter);
    const before = await countedIn(redis.port, prefix);
    redis.freeze();
    for (let i = 0; i < 10; i++) expect((await limiter.consume("k")).source).toBe("local");
    await sleep(100);
    expect((await limiter.consume("k")).source).toBe("local");
    expect(onRecovered).not.toHaveBeenCalled();
    redis.thaw();
    await untilStoreAnswers(limiter);
    expect(onRecovered).toHaveBeenCalledTimes(1);
    expect(await countedIn(redis.port, prefix)).toBe(before + 1);
  });

  it("hold, forget and refund do not hang on it; the first two say they failed", async () => {
    const redis = await own(startRedis());
    const limiter = limiterOn(connect(redis.port), { breaker: { failures: 100 }, deadlineMs });
    await untilStoreAnswers(limiter);
    const verdict = await limiter.consume("k");
    redis.freeze();
    const began = performance.now();
    await expect(limiter.hold("k", "1h")).rejects.toBeInstanceOf(StoreError);
    await expect(limiter.forget("other")).rejects.toBeInstanceOf(StoreError);
    await limiter.refund(verdict);
    expect(performance.now() - began).toBeLessThan(muchTooLongMs);
    expect(await limiter.consume("k")).toMatchObject({ allowed: false, source: "local" });
  });

  it("from the very first call on costs no more, and charges nothing when it thaws", async () => {
    const redis = await own(startRedis());
    const prefix = uniquePrefix();
    redis.freeze();
    const limiter = limiterOn(connect(redis.port), { prefix, breaker: longBreaker, deadlineMs });
    for (let i = 0; i < 5; i++) {
      const { verdict, ms } = await timed(limiter.consume("k"));
      expect(verdict.source).toBe("local");
      expect(ms).toBeLessThan(muchTooLongMs);
    }
    expect(await isImmediate(limiter.consume("k"))).toBe(true);
    redis.thaw();
    await ask(redis.port, "PING\r\n");
    await sleep(100);
    expect(await countedIn(redis.port, prefix)).toBe(0);
  });
});

describe("a Redis that refuses to write", () => {
  it("out of memory: answered here, said why, and counted again once there is room", async () => {
    const redis = await own(startRedis({ args: ["--maxmemory", "1mb", "--maxmemory-policy", "noeviction"] }));
    const onDegraded = vi.fn();
    const limiter = limiterOn(ioredis(redis.port), { breaker: quickBreaker, deadlineMs, onDegraded });
    for (let i = 0; i < 6; i++) expect(await limiter.consume("k")).toMatchObject({ source: "local" });
    expect(onDegraded.mock.lastCall?.[0]).toMatchObject({
      code: "TG_STORE_UNREACHABLE",
      transient: true,
      message: expect.stringContaining("OOM"),
    });
    await ask(redis.port, "CONFIG SET maxmemory 0\r\n");
    await untilStoreAnswers(limiter);
  });

  it("a read-only replica: answered here, said why, and counted once it is a master", async () => {
    const nowhere = await freePort();
    const redis = await own(startRedis({ args: ["--replicaof", `127.0.0.1 ${nowhere}`] }));
    const onDegraded = vi.fn();
    const limiter = limiterOn(nodeRedis(redis.port), { breaker: quickBreaker, deadlineMs, onDegraded });
    for (let i = 0; i < 6; i++) expect(await limiter.consume("k")).toMatchObject({ source: "local" });
    expect(onDegraded.mock.lastCall?.[0]).toMatchObject({ message: expect.stringContaining("READONLY") });
    await expect(limiter.hold("k", "1h")).rejects.toBeInstanceOf(StoreError);
    await ask(redis.port, "REPLICAOF NO ONE\r\n");
    await untilStoreAnswers(limiter, "another");
  });

  it.each([
    ["no password", undefined],
    ["a wrong password", "guess"],
  ])("%s: answered here, and counted once it is let in", async (_, password) => {
    const redis = await own(startRedis());
    await ask(redis.port, "CONFIG SET requirepass secret\r\n");
    const client = ioredis(redis.port, password === undefined ? {} : { password });
    const limiter = limiterOn(client, { breaker: quickBreaker, deadlineMs });
    for (let i = 0; i < 6; i++) {
      const { verdict, ms } = await timed(limiter.consume("k"));
      expect(verdict).toMatchObject({ allowed: true, source: "local" });
      expect(ms).toBeLessThan(muchTooLongMs);
    }
    const admin = ioredis(redis.port, { password: "secret" });
    await admin.config("SET", "requirepass", "");
    await untilStoreAnswers(limiter);
  });

  it("one that is still loading its data: answered here, and counted once it has loaded", async () => {
    const redis = await own(
      startRedis({ args: ["--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024"] }),
    );
    const admin = ioredis(redis.port);
    const filler = Array.from({ length: 600 }, (_, i) => [`filler:${i}`, "x".repeat(100)]).flat();
    await admin.mset(...filler);
    await admin.save();
    const limiter = limiterOn(nodeRedis(redis.port), { breaker: quickBreaker, deadlineMs });
    await untilStoreAnswers(limiter);
    const restarted = redis.restart();
    const loading = await sawLoading(redis.port);
    const { verdict } = await timed(limiter.consume("k"));
    await restarted;
    await untilStoreAnswers(limiter);
    expect(loading).toBe(true);
    expect(verdict.source).toBe("local");
  });
});

async function sawLoading(port: number): Promise<boolean> {
  for (let i = 0; i < 500; i++) {
    const answer = await ask(port, "GET x\r\n", 200).catch(() => "");
    if (answer.startsWith("-LOADING")) return true;
    if (answer.startsWith("$")) return false;
    await sleep(5);
  }
  return false;
}

it("a process that itself stood still does not blame the store", async () => {
  const redis = await own(startRedis());
  const onDegraded = vi.fn();
  const limiter = limiterOn(ioredis(redis.port), { onDegraded });
  await untilStoreAnswers(limiter);
  const answers = Array.from({ length: 20 }, () => limiter.consume("k"));
  await new Promise((resolve) => setImmediate(resolve));
  const wakeAt = performance.now() + 400;
  while (performance.now() < wakeAt);
  const sources = (await Promise.all(answers)).map(({ source }) => source);
  expect(new Set(sources)).toEqual(new Set(["store"]));
  expect(onDegraded).not.toHaveBeenCalled();
});

it("an ioredis left to itself does send again: what the stores above are tested against", async () => {
  const redis = await own(startRedis());
  const proxy = await own(faultProxy(redis.port));
  const client = ioredis(proxy.port);
  await client.ping();
  proxy.swallowReplies(true);
  const counted = client.incr("n");
  await until("the first", async () => (await ask(redis.port, "GET n\r\n")).includes("1"));
  proxy.swallowReplies(false);
  proxy.cut();
  expect(await counted).toBe(2);
});

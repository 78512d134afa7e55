import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concurrency } from "../../algorithms/concurrency/concurrency.js";
import { earrrl } from "../../algorithms/earrrl/earrrl.js";
import { fixedWindow } from "../../algorithms/fixed-window/fixed-window.js";
import { slidingCounter } from "../../algorithms/sliding-counter/sliding-counter.js";
import { slidingLog } from "../../algorithms/sliding-log/sliding-log.js";
import { tokenBucket } from "../../algorithms/token-bucket/token-bucket.js";
import type { Verdict } from "../../decision.js";
import { HashedKey } from "../../key-hash.js";
import type { Limit } from "../../limit.js";
import { storeContract } from "../../testing/store-contract.js";
import { virtualClock } from "../../testing/virtual-clock.js";
import { type MemoryStore, memoryStore } from "./memory-store.js";

storeContract("memoryStore", { open: (clock) => memoryStore({ clock }) });

const start = Date.UTC(2017, 3, 28);

const oneOfEach: readonly Limit[] = [
  fixedWindow({ limit: 5, window: "1h" }),
  earrrl({ rate: 0.01, halfLife: "10m" }),
  slidingCounter({ limit: 5, window: "1h" }),
  tokenBucket({ rate: "5 per hour", burst: 5 }),
  slidingLog({ limit: 5, window: "1h" }),
  concurrency({ limit: 5, leaseFor: "1h" }),
];

function ask(store: MemoryStore, limit: Limit, key: string, rule = limit.kind): Verdict {
  return store.decide([{ rule, key, limit, id: key }])[0] as Verdict;
}

describe("memoryStore, full", () => {
  it("stays within maxKeys whatever the mix of limits, ledgers and holds", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.array(fc.tuple(fc.nat(oneOfEach.length), fc.nat(200)), { maxLength: 400 }),
        (maxKeys, acts) => {
          const store = memoryStore({ maxKeys, clock: virtualClock(start) });
          for (const [which, who] of acts) {
            const limit = oneOfEach[which];
            if (limit === undefined) store.hold("held", `k${who}`, 60_000);
            else ask(store, limit, `k${who}`);
            expect(store.size).toBeLessThanOrEqual(maxKeys);
          }
        },
      ),
    );
  });

  it("stays within maxKeys when one decision adds more than fit", () => {
    const store = memoryStore({ maxKeys: 3, clock: virtualClock(start) });
    const verdicts = store.decide(oneOfEach.map((limit, i) => ({ rule: `r${i}`, key: "k", limit, id: "x" })));
    expect(verdicts.every(({ allowed }) => allowed)).toBe(true);
    expect(store.size).toBeLessThanOrEqual(3);
  });

  it.each(oneOfEach.map((limit) => [limit.kind, limit] as const))(
    "%s: 200,000 filler keys and quiet users do not wash out an offender (the LRU hole)",
    (_kind, limit) => {
      const clock = virtualClock(start);
      const store = memoryStore({ maxKeys: 5000, clock });
      let n = 0;
      const hit = () => store.decide([{ rule: "r", key: "offender", limit, id: `hit ${n++}` }])[0] as Verdict;
      while (hit().allowed);
      const filler = fixedWindow({ limit: 5, window: "1h" });
      const quiet = fixedWindow({ limit: 1000, window: "1h" });
      for (let i = 0; i < 200_000; i++) {
        ask(store, filler, `filler ${i}`, "fill");
        if (i % 4 === 0) ask(store, quiet, `user ${i % 4000}`, "quiet");
      }
      expect(store.size).toBe(5000);
      expect(hit().allowed).toBe(false);
    },
  );

  it("an offender survives fillers under its own rule and limit", () => {
    for (const limit of oneOfEach) {
      const store = memoryStore({ maxKeys: 2000, clock: virtualClock(start) });
      for (let i = 0; i < 20; i++) store.decide([{ rule: "r", key: "offender", limit, id: `hit ${i}` }]);
      for (let i = 0; i < 20_000; i++) store.decide([{ rule: "r", key: `f${i}`, limit, id: "x" }]);
      const [verdict] = store.peek([{ rule: "r", key: "offender", limit, id: "new" }]);
      expect(verdict?.allowed, limit.kind).toBe(false);
    }
  });

  it("a hold survives 200,000 filler keys, and even offenders", () => {
    const clock = virtualClock(start);
    const store = memoryStore({ maxKeys: 1000, clock });
    store.hold("r", "held", 600_000);
    const limit = fixedWindow({ limit: 1, window: "1h" });
    for (let i = 0; i < 200_000; i++) ask(store, limit, `offender ${i}`, "r");
    expect(ask(store, limit, "held", "r")).toMatchObject({ allowed: false, heldUntil: start + 600_000 });
  });

  it("drops what has expired before anything that counts", () => {
    const clock = virtualClock(start);
    const store = memoryStore({ maxKeys: 1000, clock });
    for (let i = 0; i < 500; i++) ask(store, fixedWindow({ limit: 5, window: "1m" }), `old ${i}`, "old");
    const limit = fixedWindow({ limit: 1, window: "1h" });
    for (let i = 0; i < 500; i++) ask(store, limit, `new ${i}`, "new");
    clock.advance("1m");
    for (let i = 500; i < 600; i++) ask(store, limit, `new ${i}`, "new");
    let kept = 0;
    for (let i = 0; i < 600; i++) {
      const [verdict] = store.peek([{ rule: "new", key: `new ${i}`, limit }]);
      if (verdict?.allowed === false) kept++;
    }
    expect(kept).toBeGreaterThan(597);
  });
});

it("counts more rules apart than an owner's number can tell", () => {
  const store = memoryStore({ clock: virtualClock(start) });
  const limit = fixedWindow({ limit: 2, window: "1h" });
  for (let pass = 1; pass <= 2; pass++) {
    for (let i = 0; i < 70_000; i++) {
      if (ask(store, limit, "k", `rule ${i}`).remaining !== 2 - pass) expect.fail(`rule ${i} is not its own`);
    }
  }
});

describe("memoryStore's memory", () => {
  it("is used again once everything has expired", () => {
    const clock = virtualClock(start);
    const store = memoryStore({ clock });
    const limit = fixedWindow({ limit: 5, window: "1m" });
    const before = process.memoryUsage().arrayBuffers;
    for (let minute = 0; minute < 8; minute++) {
      for (let i = 0; i < 50_000; i++) ask(store, limit, `minute ${minute} client ${i}`);
      clock.advance("1m");
    }
    // 50,000 keys take 2.3 MB, all 400,000 would take 18.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(5_000_000);
  });

  it("is less than 60 bytes a key, at any number of keys", () => {
    const limit = fixedWindow({ limit: 5, window: "1h" });
    const store = memoryStore({ clock: virtualClock(start) });
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 1; i <= 400_000; i++) {
      ask(store, limit, `client ${i}`);
      if (i % 25_000 === 0) {
        expect((process.memoryUsage().arrayBuffers - before) / i).toBeLessThan(60);
      }
    }
  });

  it("keeps no request's AsyncLocalStorage, and no timer, alive", async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--expose-gc", "--import", "tsx", "--input-type=module", "--eval", pinning],
      { cwd: fileURLToPath(new URL("../../../../..", import.meta.url)) },
    );
    const { kept, timers } = JSON.parse(stdout) as { kept: number; timers: number };
    expect(kept).toBeLessThan(10);
    expect(timers).toBe(0);
  });
});

/** 200 requests, each with 1 MiB in its AsyncLocalStorage, each limited by a key of its own. */
const pinning = `
  import { AsyncLocalStorage } from "node:async_hooks";
  import { createLimiter, memoryStore, slidingLog } from ${JSON.stringify(new URL("../../index.ts", import.meta.url).href)};
  const store = memoryStore();
  const limiters = [
    createLimiter({ name: "window", limit: "5 per minute", store }),
    createLimiter({ name: "log", limit: slidingLog({ limit: 5, window: "1m" }), store }),
  ];
  const context = new AsyncLocalStorage();
  let kept = 200;
  const registry = new FinalizationRegistry(() => kept--);
  async function request(i) {
    for (const limiter of limiters) {
      await limiter.consume("client " + i);
      if (i % 2 === 0) await limiter.hold("client " + i, "1h");
    }
  }
  for (let i = 0; i < 200; i++) {
    const body = new Uint8Array(1 << 20).fill(1);
    registry.register(body);
    await context.run(body, request, i);
  }
  for (let i = 0; i < 10 && kept > 0; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    gc();
  }
  const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  console.log(JSON.stringify({ kept, timers, size: store.size }));
`;

describe("memoryStore, several checks at once", () => {
  const limits = oneOfEach.filter(({ cells }) => cells > 0);

  it("whichever check refuses, whether keys are new or known, all are as they were but those that count refusals", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(2), fc.nat(2), fc.nat(90_000), fc.boolean()), {
          minLength: 20,
          maxLength: 60,
        }),
        (hits) => {
          const clock = virtualClock(start);
          // An hour-long hold of somebody else makes the second one go the long way.
          const [short, long] = [memoryStore({ clock }), memoryStore({ clock })];
          long.hold("other", "somebody", 1e9);
          for (const [user, customer, pauseMs, isShadow] of hits) {
            clock.advance(pauseMs);
            const checks = limits.flatMap((limit, i) => [
              { rule: `user ${i % 2}`, key: `user ${user}`, limit, shadow: isShadow },
              { rule: `customer ${i % 2}`, key: `customer ${customer}`, limit },
            ]);
            expect(short.decide(checks)).toEqual(long.decide(checks));
          }
          expect(short.size).toBe(long.size - 1);
        },
      ),
    );
  });

  it("what throws in the middle leaves nothing charged", () => {
    const store = memoryStore({ clock: virtualClock(start) });
    const check = { rule: "r", key: "k", limit: fixedWindow({ limit: 10, window: "1h" }) };
    const odd = {
      ...slidingCounter({ limit: 5, window: "1h" }),
      step() {
        throw new Error("boom");
      },
    };
    const known = { rule: "odd", key: "k", limit: slidingCounter({ limit: 5, window: "1h" }) };
    store.decide([check, known]);
    expect(() => store.decide([check, { ...known, limit: odd }])).toThrow("boom");
    expect(() => store.decide([check, { rule: "odd", key: "k" } as typeof check])).toThrow(TypeError);
    expect(store.peek([check])[0]?.remaining).toBe(9);
  });

  it("a generous tier does not make a poor one's clients free again, when segments fill and when the store is full", () => {
    const tiers = [
      [
        tokenBucket({ rate: 10, per: "1h", burst: 10 }),
        tokenBucket({ rate: 1_000_000, per: "1h", burst: 1000 }),
      ],
      [fixedWindow({ limit: 10, window: "1h" }), fixedWindow({ limit: 100_000, window: "1h" })],
    ] as const;
    for (const [poor, generous] of tiers) {
      const clock = virtualClock(start);
      const store = memoryStore({ clock, maxKeys: 2000 });
      const ask = (key: string, limit: Limit, rule = "api") =>
        store.decide([{ rule, key, limit }])[0]?.allowed;
      for (let i = 0; i < 10; i++) expect(ask("mallory", poor)).toBe(true);
      ask("rich", generous);
      for (let i = 0; i < 20_000; i++) {
        if (i % 100 === 0) clock.advance(1);
        ask(`filler ${i}`, fixedWindow({ limit: 100, window: "1h" }), "req/ip");
        ask(`customer ${i}`, i % 9 === 0 ? generous : poor);
        if (i % 500 === 0) expect(ask("mallory", poor)).toBe(false);
      }
    }
  });

  it("a hash is believed for its own key only", () => {
    const store = memoryStore({ clock: virtualClock(start) });
    const limit = fixedWindow({ limit: 10, window: "1h" });
    const hashed = new HashedKey("k");
    const ask = (key: string, rules: string[]) =>
      store.decide(rules.map((rule) => ({ rule, key, limit, hashed })))[0]?.remaining;
    expect([ask("k", ["r"]), ask("k", ["r"]), ask("k", ["r", "s"])]).toEqual([9, 8, 7]);
    expect([ask("a:k", ["r"]), ask("b:k", ["r", "s"])]).toEqual([9, 9]);
    store.forget([{ rule: "r", key: "k", limit }]);
    expect(ask("k", ["r"])).toBe(9);
    const odd = ["r", "s"].map((rule) => ({ rule, key: "k", limit, hashed: null as unknown as HashedKey }));
    expect(store.decide(odd)[0]?.remaining).toBe(8);
  });
});

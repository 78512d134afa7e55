import { concurrency } from "../algorithms/concurrency/concurrency.js";
import { concurrencyVectors } from "../algorithms/concurrency/vectors.js";
import { earrrl } from "../algorithms/earrrl/earrrl.js";
import { earrrlVectors } from "../algorithms/earrrl/vectors.js";
import { fixedWindow } from "../algorithms/fixed-window/fixed-window.js";
import { fixedWindowVectors } from "../algorithms/fixed-window/vectors.js";
import { offences } from "../algorithms/offences/offences.js";
import { slidingCounterVectors } from "../algorithms/sliding-counter/vectors.js";
import { slidingLog } from "../algorithms/sliding-log/sliding-log.js";
import { slidingLogVectors } from "../algorithms/sliding-log/vectors.js";
import { tokenBucket } from "../algorithms/token-bucket/token-bucket.js";
import { tokenBucketVectors } from "../algorithms/token-bucket/vectors.js";
import type { Check } from "../check.js";
import type { Verdict } from "../decision.js";
import type { Limit } from "../limit.js";
import type { Store } from "../store.js";
import { differences, playVector, type Vector } from "./vector.js";
import { type VirtualClock, virtualClock } from "./virtual-clock.js";

/** The rest of this entry point serves any test runner: only the contract needs vitest. */
const vitest = await import("vitest").catch(() => undefined);

export interface StoreContractOptions {
  /** Opens a store on this clock that shares nothing with any other. */
  open: (clock: VirtualClock) => Store | Promise<Store>;
  /** Whether it keeps logs and leases. Default true. */
  ledgers?: boolean;
}

const constantVectors: readonly Vector[] = [
  ...fixedWindowVectors,
  ...slidingCounterVectors,
  ...tokenBucketVectors,
  ...earrrlVectors,
];
const ledgerVectors: readonly Vector[] = [...slidingLogVectors, ...concurrencyVectors];

const start = 1_700_000_000_000;
const perMinute = (limit: number) => fixedWindow({ limit, window: "1m" });
const ledgerLimits = (limit: number) => [
  slidingLog({ limit, window: "1m" }),
  slidingLog({ limit, window: "1m", encoding: "list" }),
  concurrency({ limit, leaseFor: "1m" }),
];
const perHour = (limit: number) => fixedWindow({ limit, window: "1h" });

/** What every store promises. Run it with vitest on a store of your own. */
export function storeContract(name: string, options: StoreContractOptions): void {
  if (vitest === undefined)
    throw new Error("storeContract runs in a vitest test file: npm install --save-dev vitest");
  const { describe, expect, it } = vitest;
  describe(`${name} keeps the store contract`, () => {
    async function open(): Promise<{ store: Store; clock: VirtualClock }> {
      const clock = virtualClock(start);
      return { store: await options.open(clock), clock };
    }

    function itOfLedgers(title: string, body: () => Promise<void>): void {
      if (options.ledgers !== false) it(title, body);
    }

    const vectors = options.ledgers === false ? constantVectors : [...constantVectors, ...ledgerVectors];
    it.each(vectors.map((vector) => [vector.limit.kind, vector.title, vector] as const))(
      "%s: %s",
      async (_kind, _title, vector) => {
        const { store, clock } = await open();
        for (const { step, index, verdict } of await playVector(store, clock, vector, {
          rule: "vector",
          key: "k",
        })) {
          expect(differences(verdict, step.expect ?? {}), `step ${index}`).toEqual([]);
        }
      },
    );

    it("answers one verdict per check, in order, with all its facts", async () => {
      const { store } = await open();
      const [first, second] = await store.decide([
        { rule: "a", key: "x", limit: perMinute(10), cost: 2 },
        { rule: "b", key: "y", limit: perHour(20), cost: 3, name: "custom", tier: "pro", shadow: true },
      ]);
      expect(first).toMatchObject({
        rule: "a",
        name: "a/60",
        key: "x",
        allowed: true,
        shadow: false,
        cost: 2,
        limit: 10,
        remaining: 8,
        at: start,
        source: "store",
      });
      expect(second).toMatchObject({
        rule: "b",
        name: "custom",
        key: "y",
        tier: "pro",
        shadow: true,
        cost: 3,
        limit: 20,
        remaining: 17,
      });
    });

    it("says of each check only what its own limit knows", async () => {
      const { store } = await open();
      const ask = async (limit: Limit) =>
        (await store.decide([{ rule: limit.kind, key: "k", limit }]))[0] as Verdict;
      expect(await ask(tokenBucket({ rate: "1 per second", burst: 5 }))).toMatchObject({ delayMs: 0 });
      expect(await ask(earrrl({ rate: 1, halfLife: "10s" }))).toMatchObject({ estimate: 0 });
      expect(Object.keys(await ask(perMinute(5)))).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/delayMs|estimate/)]),
      );
    });

    it("decides one check alone, if it can, as it does in a list", async () => {
      const alone = await open();
      const { store: listed } = await open();
      if (alone.store.decideOne === undefined) return;
      for (const limit of [perMinute(3), tokenBucket({ rate: "3 per minute", burst: 3 })]) {
        for (let i = 0; i < 5; i++) {
          const check = { rule: limit.kind, key: "k", limit, cost: 1, id: "i", tier: "t" };
          expect([alone.store.decideOne(check)]).toEqual(await listed.decide([check]));
        }
        await alone.store.hold(limit.kind, "k", 1000);
        expect(alone.store.decideOne({ rule: limit.kind, key: "k", limit })).toMatchObject({
          allowed: false,
          heldUntil: start + 1000,
        });
        await alone.store.forget([{ rule: limit.kind, key: "k", limit }]);
      }
    });

    it("charges all checks of a request or none", async () => {
      const { store } = await open();
      const both = (): Check[] => [
        { rule: "wide", key: "client", limit: perMinute(10) },
        { rule: "narrow", key: "other", limit: perMinute(2) },
      ];
      await store.decide(both());
      await store.decide(both());
      const refused = await store.decide(both());
      expect(refused.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
        [true, 8],
        [false, 0],
      ]);
      expect((await store.peek(both())).map(({ remaining }) => remaining)).toEqual([8, 0]);
    });

    it("keeps several limits of one rule and key apart", async () => {
      const { store, clock } = await open();
      const checks = (): Check[] =>
        [perMinute(2), perHour(3)].map((limit) => ({ rule: "api", key: "client", limit }));
      for (let i = 0; i < 2; i++)
        expect((await store.decide(checks())).every(({ allowed }) => allowed)).toBe(true);
      expect((await store.decide(checks())).map(({ allowed }) => allowed)).toEqual([false, true]);
      clock.advance("1m");
      expect((await store.decide(checks())).map(({ remaining }) => remaining)).toEqual([1, 0]);
      expect((await store.decide(checks())).map(({ allowed }) => allowed)).toEqual([true, false]);
    });

    it("counts a refused hit where refusals count, whichever check refused it", async () => {
      const { store } = await open();
      const checks = (): Check[] => [
        { rule: "closed", key: "k", limit: perMinute(0) },
        { rule: "flood", key: "k", limit: earrrl({ rate: 1, halfLife: "10s", overage: 0.5 }) },
        { rule: "all", key: "other", limit: fixedWindow({ limit: 5, window: "1m", countRefused: true }) },
        { rule: "plain", key: "k", limit: perMinute(5) },
      ];
      await store.decide(checks());
      await store.decide(checks());
      const [, flood, all, plain] = (await store.peek(checks())) as Verdict[];
      expect(flood?.estimate).toBeCloseTo(Math.LN2 / 10, 12);
      expect(all?.remaining).toBe(3);
      expect(plain?.remaining).toBe(5);
    });

    it("a shadow check refuses nobody, and counts as if it could", async () => {
      const { store } = await open();
      const checks = (): Check[] => [
        { rule: "shade", key: "k", limit: perMinute(1), shadow: true },
        { rule: "real", key: "k", limit: perMinute(3) },
      ];
      await store.decide(checks());
      expect((await store.decide(checks())).map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
        [false, 0],
        [true, 1],
      ]);
      await store.decide(checks());
      await store.decide(checks());
      expect((await store.peek(checks())).map(({ remaining }) => remaining)).toEqual([0, 0]);
    });

    it("a shadow check is not charged when another refuses", async () => {
      const { store } = await open();
      const checks = (): Check[] => [
        { rule: "shade", key: "k", limit: perMinute(5), shadow: true },
        { rule: "closed", key: "k", limit: perMinute(0) },
      ];
      await store.decide(checks());
      expect((await store.peek(checks()))[0]?.remaining).toBe(5);
    });

    it("peek changes nothing", async () => {
      const { store } = await open();
      for (const limit of [perMinute(2), earrrl({ rate: 0.1, halfLife: "10s" })]) {
        const check = { rule: limit.kind, key: "k", limit };
        await store.decide([check]);
        const seen = await store.peek([check]);
        for (let i = 0; i < 5; i++) expect(await store.peek([check])).toEqual(seen);
      }
    });

    it("a limit whose number changed keeps its count, one whose window changed starts fresh", async () => {
      const { store } = await open();
      const ask = async (limit: Limit) =>
        (await store.decide([{ rule: "r", key: "k", limit }]))[0] as Verdict;
      for (let i = 0; i < 4; i++) await ask(perMinute(5));
      expect((await ask(perMinute(10))).remaining).toBe(5);
      expect((await ask(perMinute(3))).allowed).toBe(false);
      expect((await ask(perHour(3))).remaining).toBe(2);
    });

    it("pro, then free, then pro again resets nothing", async () => {
      const { store, clock } = await open();
      const ask = (limits: Limit[]) =>
        store.decide(limits.map((limit) => ({ rule: "tier", key: "customer", limit })));
      const pro = [perMinute(100), fixedWindow({ limit: 5000, window: "1d" })];
      const free = [perHour(100)];
      await ask(pro);
      await ask(free);
      await ask(free);
      expect((await ask(pro)).map(({ remaining }) => remaining)).toEqual([98, 4998]);
      expect((await ask(free)).map(({ remaining }) => remaining)).toEqual([97]);
      clock.advance("2m");
      expect((await ask(pro)).map(({ remaining }) => remaining)).toEqual([99, 4997]);
    });

    it("a hold reaches every limit of its rule and key, and no other", async () => {
      const { store, clock } = await open();
      await store.hold("api", "client", 30_000);
      const ask = (rule: string, key: string) =>
        store.decide([perMinute(5), perHour(50)].map((limit) => ({ rule, key, limit })));
      expect((await ask("api", "client")).map(({ allowed, heldUntil }) => [allowed, heldUntil])).toEqual([
        [false, start + 30_000],
        [false, start + 30_000],
      ]);
      expect((await ask("api", "other")).every(({ allowed }) => allowed)).toBe(true);
      expect((await ask("web", "client")).every(({ allowed }) => allowed)).toBe(true);
      clock.advance("30s");
      expect((await ask("api", "client")).map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
        [true, 4],
        [true, 49],
      ]);
    });

    describe("offences", () => {
      const ladder = offences({ after: 2, withinMs: 60_000, holdsMs: [10_000, 50_000], forgetMs: 600_000 });
      const ofClient = (rule: string, limit: Limit): Check[] => [
        { rule, key: "client", limit },
        { rule, key: "client", limit: ladder },
      ];
      const api = ofClient("api", perHour(1));

      it("so many refusals by a rule's own limits make it hold the key, and the next time longer", async () => {
        const { store, clock } = await open();
        await store.decide(api);
        const [, first] = await store.decide(api);
        expect(first).toMatchObject({ allowed: true, remaining: 1 });
        expect(first?.crossed).toBeUndefined();
        const [refused, crossed] = await store.decide(api);
        expect(refused?.allowed).toBe(false);
        expect(crossed).toMatchObject({ crossed: true, heldUntil: start + 10_000 });
        clock.advance(5000);
        const [held, silent] = await store.decide(api);
        expect(held).toMatchObject({ allowed: false, heldUntil: start + 10_000 });
        expect(silent?.crossed).toBeUndefined();
        clock.advance(5000);
        await store.decide(api);
        const [, again] = await store.decide(api);
        expect(again).toMatchObject({ crossed: true, heldUntil: start + 60_000 });
      });

      it("a step is forgiven after so long without an offence", async () => {
        const { store, clock } = await open();
        for (let i = 0; i < 3; i++) await store.decide(api);
        // The ladder remembers one offence until ten minutes after the hold.
        clock.advance(610_000);
        await store.decide(api);
        const [, crossed] = await store.decide(api);
        expect(crossed?.heldUntil).toBe(start + 620_000);
      });

      it("refusals too far apart are no offence", async () => {
        const { store, clock } = await open();
        await store.decide(api);
        for (let i = 0; i < 5; i++) {
          const [, verdict] = await store.decide(api);
          expect(verdict?.crossed).toBeUndefined();
          clock.advance(60_000);
        }
      });

      it("what another rule or key refuses is no offence, nor what is only looked at", async () => {
        const { store } = await open();
        const quiet = ofClient("quiet", perHour(100));
        await store.decide(api);
        for (let i = 0; i < 4; i++) {
          await store.peek(api);
          const verdicts = await store.decide([...quiet, { rule: "api", key: "client", limit: perHour(1) }]);
          expect(verdicts[1]?.crossed).toBeUndefined();
        }
        expect((await store.peek(quiet))[1]?.remaining).toBe(2);
      });

      it("alone it refuses only while the key is held, and counts nothing", async () => {
        const { store, clock } = await open();
        const [, watch] = api;
        expect((await store.decide([watch as Check]))[0]).toMatchObject({ allowed: true, remaining: 2 });
        for (let i = 0; i < 3; i++) await store.decide(api);
        expect((await store.decide([watch as Check]))[0]).toMatchObject({
          allowed: false,
          heldUntil: start + 10_000,
          retryAfterMs: 10_000,
        });
        clock.advance(10_000);
        expect((await store.decide([watch as Check]))[0]).toMatchObject({ allowed: true, remaining: 2 });
      });

      it("forget drops the ladder with the rest", async () => {
        const { store } = await open();
        for (let i = 0; i < 3; i++) await store.decide(api);
        await store.forget(api);
        await store.decide(api);
        await store.decide(api);
        const [, crossed] = await store.decide(api);
        expect(crossed?.heldUntil).toBe(start + 10_000);
      });
    });

    it("forget drops counts and hold of these keys, and no others", async () => {
      const { store } = await open();
      const check = (key: string): Check => ({ rule: "r", key, limit: perMinute(5) });
      await store.decide([check("a")]);
      await store.decide([check("b")]);
      await store.hold("r", "a", 60_000);
      await store.forget([check("a")]);
      expect((await store.peek([check("a")]))[0]).toMatchObject({ allowed: true, remaining: 5 });
      expect((await store.peek([check("b")]))[0]).toMatchObject({ remaining: 4 });
      await store.forget([check("*")]);
      expect((await store.peek([check("b")]))[0]).toMatchObject({ remaining: 4 });
    });

    itOfLedgers("peek of a log or of leases changes nothing", async () => {
      const { store, clock } = await open();
      for (const limit of ledgerLimits(3)) {
        const check = { rule: limit.kind, key: "k", limit };
        await store.decide([check]);
        clock.advance("1s");
        await store.decide([check]);
        for (const wait of ["1s", "58s", "1s", "1m"] as const) {
          clock.advance(wait);
          const seen = await store.peek([check]);
          for (let i = 0; i < 3; i++) expect(await store.peek([check])).toEqual(seen);
        }
      }
    });

    itOfLedgers("charges a log, leases and counters together or none of them", async () => {
      const { store } = await open();
      for (const limit of [
        slidingLog({ limit: 2, window: "1m" }),
        concurrency({ limit: 2, leaseFor: "1m" }),
      ]) {
        const together = (): Check[] => [
          { rule: limit.kind, key: "client", limit },
          { rule: limit.kind, key: "client", limit: perHour(10) },
          { rule: `${limit.kind}-elsewhere`, key: "other", limit: perHour(3) },
        ];
        const apart = () => store.decide([together()[2] as Check]);
        await store.decide(together());
        await store.decide(together());
        expect((await store.decide(together())).map(({ allowed }) => allowed)).toEqual([false, true, true]);
        expect((await store.peek(together())).map(({ remaining }) => remaining)).toEqual([0, 8, 1]);
        await store.forget(together().slice(0, 2));
        await apart();
        expect((await store.decide(together())).map(({ allowed }) => allowed)).toEqual([true, true, false]);
        expect((await store.peek(together())).map(({ remaining }) => remaining)).toEqual([2, 10, 0]);
      }
    });

    itOfLedgers("a retried id that is refused elsewhere keeps what it was charged", async () => {
      const { store } = await open();
      for (const limit of [
        slidingLog({ limit: 5, window: "1m" }),
        concurrency({ limit: 5, leaseFor: "1m" }),
      ]) {
        const ask = (id: string): Check[] => [
          { rule: limit.kind, key: "client", limit, id },
          { rule: `${limit.kind}-elsewhere`, key: "other", limit: perHour(1), id },
        ];
        await store.decide(ask("a"));
        expect((await store.decide(ask("a"))).map(({ allowed }) => allowed)).toEqual([true, false]);
        expect((await store.decide(ask("b"))).map(({ allowed }) => allowed)).toEqual([true, false]);
        expect((await store.peek(ask("a"))).map(({ remaining }) => remaining)).toEqual([4, 0]);
      }
    });

    itOfLedgers("a shadow log counts as if it could refuse", async () => {
      const { store } = await open();
      const checks = (): Check[] => [
        { rule: "shade", key: "k", limit: slidingLog({ limit: 1, window: "1m" }), shadow: true },
        { rule: "real", key: "k", limit: perMinute(2) },
      ];
      await store.decide(checks());
      expect((await store.decide(checks())).map(({ allowed }) => allowed)).toEqual([false, true]);
      expect((await store.decide(checks())).map(({ allowed }) => allowed)).toEqual([false, false]);
    });

    itOfLedgers("forget drops log, leases and hold of a key, and no other's", async () => {
      const { store } = await open();
      for (const limit of ledgerLimits(5)) {
        const check = (key: string): Check => ({ rule: limit.kind, key, limit });
        await store.decide([check("a")]);
        await store.decide([check("b")]);
        await store.hold(limit.kind, "a", 60_000);
        await store.forget([check("a")]);
        expect((await store.peek([check("a")]))[0]).toMatchObject({ allowed: true, remaining: 5 });
        expect((await store.peek([check("b")]))[0]).toMatchObject({ allowed: true, remaining: 4 });
      }
    });

    itOfLedgers("of many that ask a log at once exactly the limit passes", async () => {
      const { store } = await open();
      for (const limit of ledgerLimits(5)) {
        const answers = await Promise.all(
          Array.from({ length: 200 }, () => store.decide([{ rule: limit.kind, key: "k", limit }])),
        );
        expect(answers.filter(([verdict]) => verdict?.allowed)).toHaveLength(5);
      }
    });

    itOfLedgers("counts hostile keys and ids apart in logs and leases", async () => {
      const { store } = await open();
      for (const limit of ledgerLimits(2)) {
        for (const key of hostileKeys) {
          expect((await store.decide([{ rule: limit.kind, key, limit }]))[0]?.remaining).toBe(1);
        }
      }
      const ids = hostileKeys.filter((id) => id.length <= 256);
      for (const limit of [
        slidingLog({ limit: 50, window: "1m" }),
        concurrency({ limit: 50, leaseFor: "1m" }),
      ]) {
        for (const [i, id] of [...ids, ...ids].entries()) {
          const [verdict] = await store.decide([{ rule: "ids", key: "k", limit, id }]);
          expect(verdict?.remaining).toBe(50 - Math.min(i + 1, ids.length));
        }
      }
    });

    itOfLedgers("refuses by name a cost or id that a list can not keep, and half a slot", async () => {
      const { store } = await open();
      const list = { rule: "r", key: "k", limit: slidingLog({ limit: 5, window: "1m", encoding: "list" }) };
      const leases = { rule: "s", key: "k", limit: concurrency({ limit: 5, leaseFor: "1m" }) };
      await expect(async () => store.decide([{ ...list, cost: 2 }])).rejects.toThrow(/^cost: .*TG_ENCODING/);
      await expect(async () => store.decide([{ ...list, id: "a" }])).rejects.toThrow(/^id: .*TG_ENCODING/);
      await expect(async () => store.decide([{ ...leases, cost: 0.5 }])).rejects.toThrow(/^cost: .*TG_SLOTS/);
      expect((await store.peek([list]))[0]?.remaining).toBe(5);
      expect((await store.peek([leases]))[0]?.remaining).toBe(5);
    });

    it("counts hostile keys apart and survives them", async () => {
      const { store } = await open();
      for (const key of hostileKeys) {
        const check = { rule: "r", key, limit: perMinute(2) };
        expect((await store.decide([check]))[0], JSON.stringify(key.slice(0, 40))).toMatchObject({
          allowed: true,
          remaining: 1,
          key,
        });
      }
      for (const key of hostileKeys) {
        const check = { rule: "r", key, limit: perMinute(2) };
        await store.decide([check]);
        expect((await store.decide([check]))[0], JSON.stringify(key.slice(0, 40))).toMatchObject({
          allowed: false,
        });
      }
    });

    it("counts rules with hostile names apart", async () => {
      const { store } = await open();
      for (const rule of ["constructor", "__proto__", "a:b", "a", "a:fw:60000", "}x{", "100%", "a%3Ab"]) {
        expect((await store.decide([{ rule, key: "k", limit: perMinute(2) }]))[0]).toMatchObject({
          remaining: 1,
        });
      }
    });

    it("lets exactly the limit through when many ask at once", async () => {
      const { store } = await open();
      const answers = await Promise.all(
        Array.from({ length: 200 }, () =>
          store.decide([perMinute(5), perHour(50)].map((limit) => ({ rule: "r", key: "k", limit }))),
        ),
      );
      expect(answers.filter((verdicts) => verdicts.every(({ allowed }) => allowed))).toHaveLength(5);
    });

    it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 54, "1", null])(
      "refuses a cost of %s by name, and counts nothing",
      async (cost) => {
        const { store } = await open();
        const check = { rule: "r", key: "k", limit: perMinute(5) };
        await expect(async () => store.decide([{ ...check, cost: cost as number }])).rejects.toThrow(
          /^cost: /,
        );
        expect((await store.peek([check]))[0]?.remaining).toBe(5);
      },
    );

    it.each(["", undefined, null, 7, {}])("refuses %s as a key by name", async (key) => {
      const { store } = await open();
      await expect(async () =>
        store.decide([{ rule: "r", key: key as string, limit: perMinute(5) }]),
      ).rejects.toThrow(/^key: /);
    });

    it("refuses to judge one key twice by one window", async () => {
      const { store } = await open();
      const checks = [perMinute(1), perMinute(2)].map((limit) => ({ rule: "r", key: "k", limit }));
      await expect(async () => store.decide(checks)).rejects.toThrow("TG_CHECK_TWICE");
    });
  });
}

export const hostileKeys: readonly string[] = [
  "constructor",
  "__proto__",
  "toString",
  "hasOwnProperty",
  "}x",
  "a{b}",
  "{a}b",
  "a",
  "a%7Bb%7D",
  "*",
  "a b",
  "new\nline",
  "nul\0",
  "nul",
  "\u007f",
  "é",
  "e\u0301",
  "\ud83c\udf0a",
  "\ud83c",
  "\ud83d",
  "k".repeat(256),
  "k".repeat(257),
  "k".repeat(65_536),
  `${"k".repeat(65_535)}l`,
  "k:r:fw:60000",
];

import { Registry } from "prom-client";
import { memoryStore, type Store } from "tidegate";
import { subjectOf, virtualClock } from "tidegate/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Log } from "../log.js";
import type { Offender, Offenders } from "../offenders.js";
import { openTracker, type Tracker } from "./tracker.js";
import { forgetTracked } from "./tracking/tracked-rules.js";

const log: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const settings = {
  methods: [] as readonly string[],
  // From rest 3 and 4 pass at once, so the next crosses.
  standard: "3 per minute",
  broad: "5 per minute",
  halfLifeMs: 30_000,
  holdFor: [60_000, 300_000],
};

const trackers: Tracker[] = [];
afterEach(async () => {
  for (const tracker of trackers.splice(0)) await tracker.close();
});

/** Notes what it is told. */
function notebook(fails: () => boolean = () => false) {
  const told: Offender[] = [];
  const offenders: Pick<Offenders, "add"> = {
    async add(offender) {
      if (fails()) throw new Error("away");
      told.push(offender);
      return true;
    },
  };
  return { told, offenders: offenders as Offenders };
}

interface Terms {
  readonly store?: Store;
  readonly methods?: readonly string[];
  readonly mostUnderWay?: number;
  readonly fails?: () => boolean;
  readonly fingerprint?: "seed";
  readonly address?: string;
  readonly standard?: string;
  readonly halfLifeMs?: number;
}

function tracker(terms: Terms = {}) {
  const clock = virtualClock(1_700_000_000_000);
  const registry = new Registry();
  const { told, offenders } = notebook(terms.fails);
  const { store = memoryStore({ clock }), methods = [], mostUnderWay, fingerprint, address } = terms;
  const { standard = settings.standard, halfLifeMs = settings.halfLifeMs } = terms;
  const opened = openTracker({
    settings: { ...settings, standard, halfLifeMs, methods, ...(address !== undefined && { address }) },
    store,
    offenders,
    log,
    registry,
    clock,
    ...(fingerprint && { identity: { fingerprint } }),
    ...(mostUnderWay !== undefined && { mostUnderWay }),
  });
  trackers.push(opened);
  async function send(count: number, ...about: Parameters<typeof subjectOf>): Promise<void> {
    for (let i = 0; i < count; i++) opened.track(subjectOf(...about));
    await gathered();
  }
  const metric = async (line: string): Promise<boolean> => (await registry.metrics()).includes(line);
  return { ...opened, told, clock, store, send, metric };
}

/** What came within a few milliseconds goes to the store together. */
const gathered = () => new Promise((resolve) => setTimeout(resolve, 20));

const client = "203.0.113.7";
const atA = { path: "/a?token=hush", host: "example.com", headers: { "user-agent": "x".repeat(300) } };

describe("a client that crosses", () => {
  test("becomes an offender by its digest at that very request, with what is known of it", async () => {
    const { send, told, clock, metric } = tracker();
    await send(3, client, atA);
    expect(told).toEqual([]);
    await send(1, `::ffff:${client}`, atA);
    expect(told).toEqual([
      {
        key: expect.stringMatching(/^[0-9a-f]{64}$/),
        rule: "edge/standard",
        crossedAt: clock(),
        until: clock() + 60_000,
        score: expect.any(Number),
        leaked: 0,
        edges: [],
        about: {
          ip: client,
          host: "example.com",
          method: "GET",
          path: "/a",
          userAgent: "x".repeat(200),
        },
        share: expect.any(Number),
      },
    ]);
    expect(told[0]?.score).toBeGreaterThanOrEqual(1);
    expect(await metric('tidegate_crossed_total{rule="edge/standard"} 1')).toBe(true);
    expect(await metric('tidegate_tracked_total{outcome="counted"} 4')).toBe(true);
  });

  test("as a known tool is counted on all paths together, a browser on each", async () => {
    const { track, told } = tracker();
    const visit = (agent: string) => {
      for (let i = 0; i < 6; i++)
        track(subjectOf(client, { path: `/${i}`, headers: { "user-agent": agent } }));
    };
    visit("Mozilla/5.0");
    await gathered();
    expect(told).toEqual([]);
    visit("sqlmap/1.4#stable (http://sqlmap.org)");
    await gathered();
    expect(told).toMatchObject([{ rule: "edge/broad" }]);
  });

  test("by other methods than those named does not count", async () => {
    const { send, told } = tracker({ methods: ["POST"] });
    await send(9, client, { method: "GET", path: "/a" });
    expect(told).toEqual([]);
    await send(4, client, { method: "POST", path: "/a" });
    expect(told).toHaveLength(1);
  });

  test("is named as the edges name it, in the seed's form too", async () => {
    const { send, told } = tracker({ fingerprint: "seed" });
    await send(4, client, atA);
    expect(told[0]?.key).toMatch(/^[0-9a-f]{40}$/);
  });

  test("leaves others behind the same address alone", async () => {
    const { send, told } = tracker();
    for (let i = 0; i < 50; i++) await send(3, client, { headers: { "user-agent": `browser ${i}` } });
    expect(told).toEqual([]);
    await send(1, client, { headers: { "user-agent": "browser 7" } });
    expect(told).toHaveLength(1);
    expect(told[0]?.share).toBe(1);
  });

  test("is told with the share of clients held", async () => {
    const { send, track, told, metric } = tracker();
    for (let i = 0; i < 199; i++) track(subjectOf(`198.51.100.${i}`));
    await send(4, client);
    expect(told[0]?.share).toBeCloseTo(1 / 200, 3);
    const estimates = await Promise.all(
      [198, 199, 200, 201].map((n) => metric(`tidegate_tracked_clients ${n}\n`)),
    );
    expect(estimates).toContain(true);
  });
});

describe("many addresses", () => {
  test("of one /64 are one client: its share of those seen does not grow with them", async () => {
    const { send, track, told, clock } = tracker();
    for (let i = 0; i < 19; i++) track(subjectOf(`198.51.100.${i}`));
    for (let i = 1; i <= 60; i++) {
      await send(4, `2001:db8:1:2::${i.toString(16)}`);
      clock.advance(101);
    }
    expect(told).toHaveLength(60);
    for (const { share = 1 } of told) expect(share).toBeLessThan(0.06);
  });
});

describe("a client that calls itself another with each request", () => {
  test("is held by its address where addresses are tracked, of IPv6 by its /64, and can be cleared", async () => {
    const { track, told, store } = tracker({ address: "6 per minute" });
    const visit = async (ip: (i: number) => string, count: number) => {
      for (let i = 0; i < count; i++) track(subjectOf(ip(i), { headers: { "user-agent": `agent ${i}` } }));
      await gathered();
    };
    await visit(() => client, 5);
    expect(told).toEqual([]);
    await visit(() => client, 2);
    expect(told).toMatchObject([{ key: client, rule: "edge/address", about: { ip: client } }]);
    await visit((i) => `2001:db8:1:2::${i}`, 8);
    expect(told[1]).toMatchObject({ key: "2001:db8:1:2::/64", rule: "edge/address" });
    await forgetTracked(store, told);
    await visit(() => client, 5);
    expect(told).toHaveLength(2);
  });

  test("is not, where they are not", async () => {
    const { track, told } = tracker();
    for (let i = 0; i < 50; i++) track(subjectOf(client, { headers: { "user-agent": `agent ${i}` } }));
    await gathered();
    expect(told).toEqual([]);
  });
});

describe("a client that goes on", () => {
  test("is held until its estimate falls below the rate, and that is told, but no more than once a second", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { track, told, clock, metric } = tracker();
      for (let i = 0; i < 404; i++) track(subjectOf(client, atA));
      await vi.advanceTimersByTimeAsync(10);
      expect(told).toHaveLength(1);
      clock.advance(1_000);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(told).toHaveLength(2);
      // 404 hits weigh 404 · ln 2 / 30 s = 9.3 a second, 187 times 3 a minute: log2(187) half-lives, from when they came.
      const until = 1_700_000_000_000 + 30_000 * Math.log2((404 * Math.LN2) / 30 / (3 / 60));
      expect(told[1]).toMatchObject({ until: Math.ceil(until), leaked: 400, key: told[0]?.key });
      expect(told[1]?.score).toBeGreaterThan(180);
      expect(told[1]?.crossedAt).toBe(told[0]?.crossedAt);
      expect(await metric("tidegate_leaked_total 400")).toBe(true);
      // Nothing more to tell: it stopped.
      clock.advance(10_000);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(told).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });

  test("is told of again now and then, lest it was lost", async () => {
    const { send, told, clock } = tracker();
    await send(4, client, atA);
    for (const tells of [1, 2, 2, 3]) {
      clock.advance(3_000);
      await send(1, client, atA);
      expect(told).toHaveLength(tells);
    }
    expect(told.map(({ leaked }) => leaked)).toEqual([0, 2, 4]);
  });

  test("is told by a process that did not see it cross", async () => {
    const first = tracker();
    await first.send(4, client, atA);
    const second = tracker({ store: first.store });
    await second.send(1, client, atA);
    expect(second.told).toMatchObject([{ key: first.told[0]?.key, leaked: 1 }]);
  });

  test("after its hold has ended crosses again, and is held longer; who calmed down is let in", async () => {
    const { send, told, clock } = tracker();
    await send(4, client, atA);
    clock.advance("61s");
    await send(1, client, atA);
    expect(told).toHaveLength(1);
    await send(3, client, atA);
    expect(told).toHaveLength(2);
    expect(told[1]).toMatchObject({ crossedAt: clock(), until: clock() + 300_000, leaked: 0 });
  });
});

test("a client that crosses by what several processes counted of it is told of, whoever finds out", async () => {
  const clock = virtualClock(1_700_000_000_000);
  const store = memoryStore({ clock });
  // From rest 44 pass at once.
  const all = Array.from({ length: 8 }, () => tracker({ store, standard: "60 per minute" }));
  for (const each of all) await each.send(1, client, atA);
  for (const each of all) await each.send(7, client, atA);
  const told = () => all.flatMap((each) => each.told);
  await vi.waitFor(() => expect(told().length).toBeGreaterThan(0), { timeout: 5_000 });
  expect(told().filter(({ leaked }) => leaked === 0)).toMatchObject([
    { rule: "edge/standard", about: { ip: client, path: "/a" }, until: expect.any(Number) },
  ]);
  const crossed = await Promise.all(
    all.map((each) => each.metric('tidegate_crossed_total{rule="edge/standard"} 1')),
  );
  expect(crossed.filter(Boolean)).toHaveLength(1);
});

test("one client whose calls fail costs the others nothing", async () => {
  const counts = memoryStore();
  const partly: Store = Object.assign(Object.create(counts), {
    decide(checks: Parameters<Store["decide"]>[0]) {
      if (checks.some(({ key }) => key === client)) throw new Error("away");
      return counts.decide(checks);
    },
    accept: undefined,
  });
  const { track, close, metric } = tracker({
    store: partly,
    standard: "6000 per minute",
    address: "6000 per minute",
  });
  for (let turn = 0; turn < 60; turn++) {
    for (let i = 0; i < 20; i++) track(subjectOf(`198.51.100.${i}`));
    track(subjectOf(client));
    await gathered();
  }
  await close();
  expect(await metric('tidegate_tracked_total{outcome="counted"} 1200')).toBe(true);
  expect(await metric('tidegate_tracked_total{outcome="dropped"} 60')).toBe(true);
});

test("who was cleared starts afresh", async () => {
  const { send, told, store } = tracker();
  await send(4, client, atA);
  await forgetTracked(store, told);
  await send(3, client, atA);
  expect(told).toHaveLength(1);
  await send(1, client, atA);
  expect(told).toHaveLength(2);
  expect(told[1]).toMatchObject({ leaked: 0, until: told[0]?.until });
});

test("offenders that can not be told of are told of later, while they are held", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    let isAway = true;
    const { track, told, clock } = tracker({ fails: () => isAway });
    const tick = async (ms: number) => {
      clock.advance(ms);
      await vi.advanceTimersByTimeAsync(ms);
    };
    for (let i = 0; i < 4; i++) track(subjectOf(client, atA));
    await tick(10);
    await tick(3_000);
    expect(told).toEqual([]);
    isAway = false;
    await tick(1_500);
    expect(told).toMatchObject([{ leaked: 0 }]);
    await tick(5_000);
    expect(told).toHaveLength(1);
    isAway = true;
    for (let i = 0; i < 4; i++) track(subjectOf("203.0.113.8", atA));
    await tick(10);
    await tick(70_000);
    isAway = false;
    await tick(5_000);
    expect(told).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});

describe("a client far below the rate", () => {
  const often = { standard: "100 per minute" };

  test("is counted without being asked about, and crosses at the very request it would have", async () => {
    const counts = memoryStore({ clock: virtualClock(1_700_000_000_000) });
    let asked = 0;
    const noting: Store = Object.assign(Object.create(counts), {
      decide(checks: Parameters<Store["decide"]>[0]) {
        asked++;
        return counts.decide(checks);
      },
    });
    const { send, told, metric } = tracker({ store: noting, ...often });
    // From rest 73 pass at once.
    for (let i = 0; i < 73; i++) await send(1, client, { path: `/a?page=${i}` });
    expect(told).toEqual([]);
    expect(asked).toBeLessThan(60);
    await send(1, client, { path: "/a" });
    expect(told).toMatchObject([{ rule: "edge/standard", leaked: 0 }]);
    expect(await metric('tidegate_tracked_total{outcome="counted"} 74')).toBe(true);
  });

  test.each([
    [60_000, 20, 40],
    [12_000, 100, 200],
    // Every 150 ms, or a little later.
    [1_000, 400, 700],
  ])(
    "is told of once in five seconds, but sooner where half of the past is forgotten in %d ms",
    async (halfLifeMs, least, most) => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
      try {
        const counts = memoryStore();
        let asked = 0;
        const noting: Store = Object.assign(Object.create(counts), {
          decide(checks: Parameters<Store["decide"]>[0]) {
            asked++;
            return counts.decide(checks);
          },
        });
        const { track } = tracker({ store: noting, standard: "1000000 per minute", halfLifeMs });
        const seconds = async (count: number) => {
          for (let ms = 0; ms < count * 1_000; ms += 10) {
            for (let i = 0; i < 20; i++) track(subjectOf(`198.51.100.${i}`));
            await vi.advanceTimersByTimeAsync(10);
          }
        };
        await seconds(10);
        const before = asked;
        await seconds(5);
        expect(asked - before).toBeGreaterThanOrEqual(least);
        expect(asked - before).toBeLessThanOrEqual(most);
      } finally {
        vi.useRealTimers();
      }
    },
  );

  test("is told apart from another on the same path, by another name or method", async () => {
    const { track, told } = tracker(often);
    const visits = [
      ["198.51.100.1", {}],
      ["198.51.100.2", {}],
      ["198.51.100.1", { method: "POST" }],
      ["198.51.100.1", { headers: { "user-agent": "other" } }],
      ["198.51.100.1", { host: "other.example" }],
      ["198.51.100.1", { path: "/other" }],
    ] as const;
    for (let i = 0; i < 70; i++) {
      for (const [ip, about] of visits) track(subjectOf(ip, about));
      if (i % 10 === 0) await gathered();
    }
    await gathered();
    expect(told).toEqual([]);
  });
});

test("what is gathered when it closes is counted, and told", async () => {
  const { track, close, metric, told } = tracker();
  for (let i = 0; i < 4; i++) track(subjectOf(client));
  await close();
  expect(await metric('tidegate_tracked_total{outcome="counted"} 4')).toBe(true);
  expect(told).toHaveLength(1);
});

test("a store that never answers holds nobody up, and what goes uncounted is counted", async () => {
  const hung: Store = Object.assign(Object.create(memoryStore()), { decide: () => new Promise(() => {}) });
  const { track, metric } = tracker({ store: hung, mostUnderWay: 5 });
  for (let i = 0; i < 20; i++) track(subjectOf(client));
  expect(await metric('tidegate_tracked_total{outcome="dropped"} 15')).toBe(true);
});

test("a store that is away is asked now and then only, everyone is seen all the same, and clients are counted again once it is back, whoever comes before them", async () => {
  let isAway = true;
  let asked = 0;
  const store = memoryStore();
  const flaky: Store = Object.assign(Object.create(store), {
    decide(checks: Parameters<Store["decide"]>[0]) {
      asked++;
      if (isAway) throw new Error("away");
      return store.decide(checks);
    },
    accept: undefined,
  });
  const { send, metric } = tracker({ store: flaky, methods: ["POST"] });
  const post = { method: "POST" };
  for (let i = 0; i < 10; i++) await send(1, client, post);
  const before = asked;
  await send(500, client, post);
  expect(asked - before).toBeLessThan(10);
  for (let i = 0; i < 50; i++) await send(1, `198.51.100.${i}`, post);
  const seen = await Promise.all([49, 50, 51, 52].map((n) => metric(`tidegate_tracked_clients ${n}\n`)));
  expect(seen).toContain(true);
  const isCounted = () => metric('tidegate_tracked_total{outcome="counted"} ');
  expect(await isCounted()).toBe(false);
  isAway = false;
  const whenBack = asked;
  await vi.waitFor(
    async () => {
      await send(1, client, { method: "GET" });
      await send(1, client, post);
      expect(asked).toBeGreaterThan(whenBack);
      expect(await isCounted()).toBe(true);
    },
    { timeout: 20_000, interval: 50 },
  );
});

test("a store that hangs is tried four times a second, and clients are counted again within a second of its return", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    let isHung = true;
    let asked = 0;
    const store = memoryStore();
    const hanging: Store = Object.assign(Object.create(store), {
      decide(checks: Parameters<Store["decide"]>[0]) {
        asked++;
        return isHung ? new Promise(() => {}) : store.decide(checks);
      },
      accept: undefined,
    });
    const { track, metric } = tracker({ store: hanging });
    const come = async (ms: number) => {
      for (let i = 0; i < ms; i += 5) {
        track(subjectOf(`198.51.100.${(i / 5) % 20}`));
        await vi.advanceTimersByTimeAsync(5);
      }
    };
    await come(5_000);
    const before = asked;
    await come(2_000);
    expect(asked - before).toBeGreaterThanOrEqual(7);
    expect(asked - before).toBeLessThanOrEqual(8);
    expect(await metric('tidegate_tracked_total{outcome="counted"}')).toBe(false);
    isHung = false;
    await come(1_000);
    expect(await metric('tidegate_tracked_total{outcome="counted"}')).toBe(true);
    // Until those that hung have failed.
    await vi.advanceTimersByTimeAsync(2_000);
  } finally {
    vi.useRealTimers();
  }
});

import { describe, expect, it } from "vitest";
import type { Edge } from "../../packages/tidegate-server/src/edge.js";
import { memoryEdge, memoryTable } from "../../packages/tidegate-server/src/edges/memory/memory-edge.js";
import {
  type ControlRig,
  digestOf,
  keysOf,
  offenderOf,
  open,
  shiftedClock,
  soon,
  statusOf,
  testData,
  wipeTable,
} from "./control-support.js";

describe("the loop", () => {
  it("puts whoever is held at the edge, and takes off whoever is released", async () => {
    const rig = open();
    const until = rig.clock() + 60_000;
    await rig.data.offenders.add(offenderOf("203.0.113.7", { until }));
    await soon(() => expect(rig.standing().get("203.0.113.7")).toBe(Math.ceil(until / 1_000) * 1_000));
    await rig.data.offenders.remove(["203.0.113.7"]);
    await soon(() => expect(keysOf(rig)).toEqual([]));
    await soon(async () => expect(await statusOf(rig)).toMatchObject({ state: "in step", pending: 0 }));
  });

  it("measures how long it took from crossing to applied", async () => {
    const rig = open();
    const now = rig.clock();
    await rig.data.offenders.add(offenderOf("203.0.113.7", { until: now + 60_000, crossedAt: now }));
    await soon(async () => expect((await statusOf(rig))?.applyMs).toBeDefined());
    expect(await rig.registry.metrics()).toMatch(/tidegate_edge_apply_seconds_count\{edge="front"\} 1/);
    expect(await rig.registry.metrics()).toMatch(/tidegate_edge_keeper\{edge="front"\} 1/);
  });

  it("a lost event costs one look, a doubled one nothing", async () => {
    const clock = shiftedClock();
    const data = testData(clock);
    const deaf = { ...data, offenders: { ...data.offenders, watch: () => () => {} } };
    const rig = open({ clock, data: deaf });
    await data.offenders.add(offenderOf("203.0.113.7", { until: clock() + 60_000 }));
    await soon(() => expect(keysOf(rig)).toEqual(["203.0.113.7"]));
    for (let i = 0; i < 100; i++) rig.loop.wake();
    await soon(async () => expect(await statusOf(rig)).toMatchObject({ state: "in step" }));
  });

  it("an edge that lost its entries is filled again", async () => {
    const rig = open();
    for (let i = 0; i < 50; i++)
      await rig.data.offenders.add(offenderOf(digestOf(i), { until: rig.clock() + 60_000 }));
    await soon(() => expect(rig.standing().size).toBe(50));
    wipeTable(rig.table);
    await soon(() => expect(rig.standing().size).toBe(50));
    expect(rig.table.mode).toBe("on");
    expect(rig.log.lines.some(({ words }) => words.includes("lost its entries"))).toBe(true);
  });

  it("entries somebody changed behind its back are set right, and counted as drift", async () => {
    const rig = open();
    for (let i = 0; i < 3; i++)
      await rig.data.offenders.add(offenderOf(digestOf(i), { until: rig.clock() + 60_000 }));
    await soon(() => expect(rig.standing().size).toBe(3));
    let drift = 0;
    rig.table.items.delete(digestOf(0));
    rig.table.items.set(digestOf("stray"), String(Math.ceil(rig.clock() / 1_000) + 500));
    await soon(async () => {
      drift = Math.max(drift, (await statusOf(rig))?.drift ?? 0);
      expect(drift).toBe(2);
      expect(keysOf(rig)).toEqual([0, 1, 2].map(digestOf).sort());
    });
  });

  it("whoever keeps flooding never lapses, and is not written at every request", async () => {
    let writes = 0;
    const through = (edge: Edge): Edge => ({
      ...edge,
      apply(changes, signal) {
        writes += changes.put.length;
        return edge.apply(changes, signal);
      },
    });
    const rig = open({ through, settings: { everyMs: 1_000 } });
    for (let i = 0; i <= 300; i++) {
      await rig.data.offenders.add(offenderOf("203.0.113.7", { until: rig.clock() + 60_000 }));
      await (await import("node:timers/promises")).setTimeout(1);
      rig.clock.shift(1_000);
      if (i > 0 && i % 50 === 0) await soon(() => expect(keysOf(rig)).toEqual(["203.0.113.7"]));
    }
    expect(writes).toBeLessThan(60);
  });

  it("spares own proxies, private networks and the safelisted, by key and by address", async () => {
    const rig = open({
      trustedProxies: ["203.0.113.0/24"],
      isSafelisted: (address) => address === "198.51.100.9",
    });
    const until = rig.clock() + 60_000;
    const add = (key: string, ip?: string) =>
      rig.data.offenders.add(offenderOf(key, { until, about: ip === undefined ? {} : { ip } }));
    await add("203.0.113.7");
    await add("10.1.2.3");
    await add("fc00:0:0:1::/64");
    await add("198.51.100.9");
    await add(digestOf("proxy"), "203.0.113.9");
    await add(digestOf("safe"), "198.51.100.9");
    await add(digestOf("held"), "198.51.100.10");
    await soon(() => expect(keysOf(rig)).toEqual([digestOf("held")]));
    await rig.loop.desk.sync({ isDryRun: false });
    expect(keysOf(rig)).toEqual([digestOf("held")]);
  });

  it("only goes to edges that a rule feeds", async () => {
    const rig = open();
    const until = rig.clock() + 60_000;
    await rig.data.offenders.add(offenderOf("203.0.113.1", { until, edges: ["elsewhere"] }));
    await rig.data.offenders.add(offenderOf("203.0.113.2", { until, edges: ["front", "elsewhere"] }));
    await soon(() => expect(keysOf(rig)).toEqual(["203.0.113.2"]));
  });

  it("1,200 offenders in 1,000 places: the worst 1,000 stay, an alarm is raised, the rest is counted", async () => {
    const rig = open({ maxEntries: 1_010 });
    for (let i = 0; i < 10; i++) rig.table.items.set(`somebody's ${i}`, "true");
    const until = rig.clock() + 60_000;
    const scores = Array.from({ length: 1_200 }, (_, i) => ((i * 7_919) % 1_200) + 1);
    for (const score of scores)
      await rig.data.offenders.add(offenderOf(digestOf(score), { until, score, crossedAt: rig.clock() }));
    const worst = Array.from({ length: 1_000 }, (_, i) => digestOf(1_200 - i)).sort();
    await soon(async () => {
      expect(keysOf(rig)).toEqual(worst);
      expect(await statusOf(rig)).toMatchObject({ evicted: 200, foreign: 10, state: "in step" });
    });
    const { alarms } = (await statusOf(rig)) ?? {};
    expect(alarms).toEqual([expect.stringContaining("Nearly full"), expect.stringContaining("do not fit")]);
    expect(rig.log.lines.filter(({ level }) => level === "error").length).toBeGreaterThanOrEqual(2);
    expect(await rig.registry.metrics()).toMatch(/tidegate_edge_evicted\{edge="front"\} 200/);
    expect([...rig.table.items.values()].filter((value) => value === "true")).toHaveLength(10);
  });
});

describe("a clock that somebody sets", () => {
  it("back by an hour holds nothing up: edges are looked at and set right as often as before", async () => {
    let isFailing = false;
    const through = (edge: Edge): Edge => ({
      ...edge,
      apply: (changes, signal) =>
        isFailing ? Promise.reject(new Error("failed")) : edge.apply(changes, signal),
    });
    const rig = open({ through });
    const until = rig.clock() + 10_800_000;
    await rig.data.offenders.add(offenderOf("203.0.113.7", { until }));
    await soon(async () => expect(await statusOf(rig)).toMatchObject({ state: "in step", entries: 1 }));
    rig.clock.set(-3_600_000);
    rig.table.items.delete("203.0.113.7");
    await soon(() => expect(keysOf(rig)).toEqual(["203.0.113.7"]));
    isFailing = true;
    await rig.data.offenders.add(offenderOf("203.0.113.8", { until }));
    await soon(async () => expect((await statusOf(rig))?.problem).toBeDefined());
    rig.clock.set(-3_600_000);
    isFailing = false;
    await soon(() => expect(keysOf(rig)).toEqual(["203.0.113.7", "203.0.113.8"]));
  });
});

describe("an index that is full", () => {
  it("raises an alarm as it forgets the mildest", async () => {
    const clock = shiftedClock();
    const data = testData(clock, 20);
    const rig = open({ clock, data });
    const until = clock() + 600_000;
    for (let i = 0; i < 20; i++) await data.offenders.add(offenderOf(digestOf(i), { until, score: 2 + i }));
    await soon(() => expect(rig.standing().size).toBe(20));
    expect((await statusOf(rig))?.alarms).toEqual([]);
    for (let i = 20; i < 30; i++)
      await data.offenders.add(offenderOf(digestOf(i), { until: until - 99_000, score: 99 }));
    await soon(async () =>
      expect((await statusOf(rig))?.alarms).toEqual([expect.stringContaining("mildest")]),
    );
    await soon(() => expect(rig.standing().has(digestOf(29))).toBe(true));
    clock.shift(601_000);
    await soon(async () => expect((await statusOf(rig))?.alarms).toEqual([]));
  });
});

describe("an index that was lost", () => {
  it("is made complete from what stands at the edges: nobody is let go", async () => {
    const clock = shiftedClock();
    const table = memoryTable();
    const end = Math.ceil(clock() / 1_000) + 300;
    for (let i = 0; i < 500; i++) table.items.set(digestOf(i), String(end));
    const rig = open({ clock, table });
    await soon(async () => expect(await rig.data.offenders.isComplete()).toBe(true));
    await rig.loop.desk.sync({ isDryRun: false });
    expect(rig.standing().size).toBe(500);
    const held = await rig.data.offenders.now();
    expect(held).toHaveLength(500);
    expect(held[0]).toMatchObject({ rule: "adopted", about: {}, until: end * 1_000, edges: [] });
  });

  it("takes nobody off an edge that can not list, for having been found at another one", async () => {
    const clock = shiftedClock();
    const tables = { lb: memoryTable(), cache: memoryTable() };
    const end = String(Math.ceil(clock() / 1_000) + 300);
    for (let i = 0; i < 20; i++) for (const table of Object.values(tables)) table.items.set(digestOf(i), end);
    const named = (name: "lb" | "cache"): Edge =>
      memoryEdge({ name, maxEntries: 100, table: tables[name] }, clock);
    const cache = named("cache");
    const silent: Edge = {
      ...cache,
      abilities: { ...cache.abilities, isListable: false },
      async current(asked, signal) {
        const state = await cache.current(asked, signal);
        return { ...state, entries: new Map([...state.entries].filter(([key]) => asked.includes(key))) };
      },
    };
    const rig = open({
      clock,
      edges: [
        { kind: "memory", edge: named("lb") },
        { kind: "memory", edge: silent },
      ],
      settings: { guard: { newPerMinute: 10, share: 1 } },
    });
    await soon(async () => expect(await rig.data.offenders.isComplete()).toBe(true));
    for (let i = 0; i < 3; i++) await rig.loop.desk.sync({ isDryRun: false });
    for (const table of Object.values(tables)) expect(table.items.size).toBe(20);
    for (const status of await rig.loop.desk.edges()) expect(status.stopped).toBeUndefined();
  });

  it("and lost again while the loop runs, is made complete again", async () => {
    const rig = open();
    for (let i = 0; i < 200; i++)
      await rig.data.offenders.add(offenderOf(digestOf(i), { until: rig.clock() + 60_000 }));
    await soon(() => expect(rig.standing().size).toBe(200));
    await soon(async () => expect(await rig.data.offenders.isComplete()).toBe(true));
    rig.lose();
    await soon(async () => expect(await rig.data.offenders.now()).toHaveLength(200));
    expect(rig.standing().size).toBe(200);
    expect((await statusOf(rig))?.stopped).toBeUndefined();
  });

  it("an edge that was off stays off", async () => {
    const rig = open();
    await rig.loop.desk.setMode("front", "off", { who: "ann" });
    await soon(() => expect(rig.table.mode).toBe("off"));
    await rig.loop.close();
    rig.lose();
    const next = open({ clock: rig.clock, data: rig.data, table: rig.table });
    await soon(async () => expect(await next.data.offenders.isComplete()).toBe(true));
    await next.loop.desk.sync({ isDryRun: false });
    expect(rig.table.mode).toBe("off");
    expect(await statusOf(next)).toMatchObject({ mode: "off", setBy: { who: "adopted" } });
  });

  it("an edge out of reach does not hinder the others for ever", async () => {
    const through = (edge: Edge): Edge => ({ ...edge, current: () => Promise.reject(new Error("away")) });
    const rig = open({ through });
    await soon(async () => expect(await rig.data.offenders.isComplete()).toBe(true));
    expect((await statusOf(rig))?.state).toBeUndefined();
    expect((await statusOf(rig))?.alarms).toEqual(["Out of reach."]);
  });
});

describe("guards", () => {
  const addMany = async (rig: ControlRig, count: number, facts: object = {}, from = 0): Promise<void> => {
    const now = rig.clock();
    for (let i = from; i < from + count; i++)
      await rig.data.offenders.add(
        offenderOf(digestOf(i), { until: now + 1_800_000, crossedAt: now, ...facts }),
      );
  };

  /** All at once, so that none of them is there before. */
  const flood = async (rig: ControlRig, count: number, from = 0, facts: object = {}): Promise<void> => {
    const now = rig.clock();
    const each = { until: now + 1_800_000, crossedAt: now, ...facts };
    await Promise.all(
      Array.from({ length: count }, (_, i) => rig.data.offenders.add(offenderOf(digestOf(from + i), each))),
    );
  };

  it("too many new entries within a minute: they are withheld, and what stood there before is refused on", async () => {
    const rig = open({ settings: { guard: { newPerMinute: 50, share: 1 } } });
    await addMany(rig, 40);
    await soon(() => expect(rig.standing().size).toBe(40));
    await flood(rig, 20, 40);
    await soon(async () => expect(await statusOf(rig)).toMatchObject({ withheld: 20, pending: 0 }));
    expect(await statusOf(rig)).toMatchObject({
      mode: "on",
      standsAt: "on",
      state: "behind",
      stopped: expect.stringContaining("new entries"),
      alarms: [expect.stringContaining("withheld")],
    });
    expect(rig.standing().size).toBe(40);
    expect(rig.table.mode).toBe("on");
    expect(rig.log.lines.some(({ level, words }) => level === "error" && words.includes("guard"))).toBe(true);
    expect(await rig.registry.metrics()).toMatch(/tidegate_edge_stopped\{edge="front"\} 1/);
    expect(await rig.registry.metrics()).toMatch(/tidegate_edge_withheld\{edge="front"\} 20/);
    // Who stood there stays, also when the edge loses it, its end moves, or it crosses again.
    wipeTable(rig.table);
    await soon(() => expect(rig.standing().size).toBe(40));
    const until = rig.clock() + 7_200_000;
    await rig.data.offenders.remove([digestOf(0)]);
    await soon(() => expect(rig.standing().size).toBe(39));
    await rig.data.offenders.add(offenderOf(digestOf(0), { until, crossedAt: rig.clock() }));
    await soon(() => expect(rig.standing().get(digestOf(0))).toBeGreaterThan(rig.clock() + 7_000_000));
    expect(rig.standing().size).toBe(40);
    await rig.loop.desk.setMode("front", "on", { who: "ann" });
    await soon(() => expect(rig.standing().size).toBe(60));
    expect((await statusOf(rig))?.stopped).toBeUndefined();
  });

  it("a stop outlives the process and its reports, and a person's on ends it until it was quiet for ten minutes", async () => {
    const settings = { guard: { newPerMinute: 10, share: 1 } };
    const first = open({ settings });
    await flood(first, 20);
    await soon(async () => expect((await statusOf(first))?.withheld).toBe(20));
    await first.loop.close();
    const { clock, data, table } = first;
    clock.shift(120_000);
    const forgetful = { ...data, edgeBook: { ...data.edgeBook, reports: async () => new Map() } };
    const rig = open({ settings, clock, data: forgetful, table });
    await rig.loop.desk.sync({ isDryRun: false });
    expect(await statusOf(rig)).toMatchObject({ withheld: 20, stopped: expect.any(String) });
    // The clock of whoever says it is a minute and more behind.
    clock.set(-300_000);
    const said = await data.edgeBook.setMode("front", { mode: "on", who: "ann" });
    clock.set(300_000);
    expect(said.at).toBeLessThan(clock() - 200_000);
    await soon(() => expect(rig.standing().size).toBe(20));
    await flood(rig, 20, 100);
    await soon(() => expect(rig.standing().size).toBe(40));
    clock.shift(660_000);
    await rig.loop.desk.sync({ isDryRun: false });
    await flood(rig, 20, 200);
    await soon(async () => expect((await statusOf(rig))?.withheld).toBe(20));
  });

  it("a stop ends by itself when nothing has been withheld for ten minutes, and lets nobody in by that", async () => {
    const rig = open({ settings: { guard: { newPerMinute: 10, share: 1 } } });
    await flood(rig, 20, 0, { until: rig.clock() + 60_000 });
    await soon(async () => expect((await statusOf(rig))?.withheld).toBe(20));
    rig.clock.shift(61_000);
    await soon(async () => expect((await statusOf(rig))?.withheld).toBe(0));
    rig.clock.shift(599_000);
    await rig.loop.desk.sync({ isDryRun: false });
    expect((await statusOf(rig))?.stopped).toBeDefined();
    rig.clock.shift(2_000);
    await soon(async () => expect((await statusOf(rig))?.stopped).toBeUndefined());
    expect(await rig.data.edgeBook.stops()).toEqual(new Map());
    expect(rig.standing().size).toBe(0);
  });

  it("an edge filled after a loss, or for the first time, is no flood", async () => {
    const rig = open({ settings: { guard: { newPerMinute: 50, share: 1 } } });
    await addMany(rig, 40);
    await soon(() => expect(rig.standing().size).toBe(40));
    for (let i = 0; i < 3; i++) {
      wipeTable(rig.table);
      await soon(() => expect(rig.standing().size).toBe(40));
    }
    await rig.loop.close();
    rig.clock.shift(90_000);
    const table = memoryTable();
    await addMany(rig, 100, { crossedAt: rig.clock() - 80_000 }, 1_000);
    const fresh = open({
      clock: rig.clock,
      data: rig.data,
      table,
      settings: { guard: { newPerMinute: 50, share: 1 } },
    });
    await soon(() => expect(fresh.standing().size).toBe(140));
    await fresh.loop.desk.sync({ isDryRun: false });
    expect(table.mode).toBe("on");
  });

  it("an unusual share of all clients held: withheld, if they have not all one owner", async () => {
    const share = 0.5;
    const rig = open({ settings: { guard: { newPerMinute: 100_000, share: 0.2 } } });
    // A hundred addresses of one /64, and one address on many paths.
    for (let i = 0; i < 130; i++)
      await addMany(rig, 1, { share, about: { ip: `2001:db8:1:2::${i.toString(16)}` } }, i);
    await addMany(rig, 130, { share, about: { ip: "203.0.113.7" } }, 130);
    // Many blocks of one network.
    for (let i = 0; i < 130; i++)
      await addMany(rig, 1, { share, about: { ip: `2001:db8:1:${i.toString(16)}::1` } }, 260 + i);
    await soon(() => expect(rig.standing().size).toBe(390));
    expect((await statusOf(rig))?.stopped).toBeUndefined();
    await addMany(rig, 18, { share, about: {} }, 390);
    for (let i = 0; i < 30; i++) await addMany(rig, 1, { share, about: { ip: `198.51.${i}.1` } }, 500 + i);
    await soon(async () => expect((await statusOf(rig))?.stopped).toContain("50 %"));
    expect(rig.table.mode).toBe("on");
    expect(rig.standing().size).toBeGreaterThanOrEqual(390);
    expect(rig.standing().size).toBeLessThan(438);
  });

  it("a mass release nobody asked for is held back; by hand it is not", async () => {
    const rig = open();
    await addMany(rig, 200);
    await soon(() => expect(rig.standing().size).toBe(200));
    await soon(async () => expect(await rig.data.offenders.isComplete()).toBe(true));
    const keys = Array.from({ length: 150 }, (_, i) => digestOf(i));
    await rig.data.offenders.remove(keys);
    await soon(async () => expect(await statusOf(rig)).toMatchObject({ state: "behind", withheld: 150 }));
    expect(rig.standing().size).toBe(200);
    expect(rig.table.mode).toBe("on");
    await rig.loop.desk.setMode("front", "on", { who: "ann" });
    await soon(() => expect(rig.standing().size).toBe(50));
    expect(rig.table.mode).toBe("on");

    const other = open();
    await addMany(other, 200);
    await soon(() => expect(other.standing().size).toBe(200));
    await other.data.edgeBook.addClears(keys, { until: other.clock() + 60_000, who: "ann" });
    await soon(() => expect(other.standing().size).toBe(50));
    expect(other.table.mode).toBe("on");
  });
});

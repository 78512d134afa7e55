import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { LoopData } from "../../packages/tidegate-server/src/control/edge-facts.js";
import type { Edge } from "../../packages/tidegate-server/src/edge.js";
import { memoryTable } from "../../packages/tidegate-server/src/edges/memory/memory-edge.js";
import {
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

const digests = (count: number): string[] => Array.from({ length: count }, (_, i) => digestOf(i)).sort();

async function addMany(data: LoopData, clock: () => number, count: number, from = 0): Promise<void> {
  for (let i = from; i < from + count; i++)
    await data.offenders.add(offenderOf(digestOf(i), { until: clock() + 600_000, crossedAt: clock() }));
}

/** Counts the writes that go through. */
function counted(writes: { count: number }): (edge: Edge) => Edge {
  return (edge) => ({
    ...edge,
    apply(changes, signal) {
      writes.count++;
      return edge.apply(changes, signal);
    },
    setMode(mode, signal) {
      writes.count++;
      return edge.setMode(mode, signal);
    },
  });
}

describe("two processes at one edge", () => {
  const terms = { leaseMs: 400, renewMs: 280, applyMs: 100, retryMs: 20 };

  it("only one writes; the other takes over when it closes", async () => {
    const clock = shiftedClock();
    const shared = { clock, data: testData(clock), table: memoryTable(), terms };
    const writes = [{ count: 0 }, { count: 0 }] as const;
    const first = open({ ...shared, holder: "first", through: counted(writes[0]) });
    await soon(async () => expect((await statusOf(first))?.keeper).toBe("first"));
    const second = open({ ...shared, holder: "second", through: counted(writes[1]) });
    await addMany(shared.data, clock, 20);
    await soon(() => expect(first.standing().size).toBe(20));
    expect(writes[1].count).toBe(0);
    await soon(async () => expect(await statusOf(second)).toMatchObject({ keeper: "first", entries: 20 }));
    await first.loop.close();
    const before = writes[0].count;
    await addMany(shared.data, clock, 20, 20);
    await soon(() => expect(second.standing().size).toBe(40));
    expect(writes[0].count).toBe(before);
    expect((await statusOf(second))?.keeper).toBe("second");
  });

  it("one that is cut off from the data loses its edge within the lease, and writes no more when it is back", async () => {
    const clock = shiftedClock();
    const data = testData(clock);
    const table = memoryTable();
    const writes = { count: 0 };
    let isCutOff = false;
    const hanging = new Promise<never>(() => {});
    const leases = {
      ...data.leases,
      take: (name: string, holder: string, forMs: number) =>
        isCutOff ? hanging : data.leases.take(name, holder, forMs),
    };
    const first = open({
      clock,
      table,
      terms,
      data: { ...data, leases },
      holder: "first",
      through: counted(writes),
    });
    await soon(async () => expect((await statusOf(first))?.keeper).toBe("first"));
    const second = open({ clock, table, terms, data, holder: "second" });
    await addMany(data, clock, 5);
    await soon(() => expect(first.standing().size).toBe(5));
    isCutOff = true;
    await soon(async () => expect((await statusOf(second))?.keeper).toBe("second"));
    const before = writes.count;
    await addMany(data, clock, 5, 5);
    await soon(() => expect(second.standing().size).toBe(10));
    isCutOff = false;
    await addMany(data, clock, 5, 10);
    await soon(() => expect(second.standing().size).toBe(15));
    await sleep(100);
    expect(writes.count).toBe(before);
  });

  it("one whose lease is taken in the middle of a long apply stops after the piece under way", async () => {
    const clock = shiftedClock();
    const data = testData(clock);
    let isTaken = false;
    let pieces = 0;
    const leases = {
      ...data.leases,
      take: async (name: string, holder: string, forMs: number) =>
        isTaken ? undefined : data.leases.take(name, holder, forMs),
    };
    await addMany(data, clock, 100);
    const through = (edge: Edge): Edge => ({
      ...edge,
      abilities: { ...edge.abilities, maxBatch: 5 },
      async apply(changes, signal) {
        if (++pieces === 3) isTaken = true;
        // So long that the lease has to be renewed before the next piece.
        await sleep(40);
        return edge.apply(changes, signal);
      },
    });
    const rig = open({
      clock,
      data: { ...data, leases },
      through,
      terms: { leaseMs: 150, renewMs: 120, applyMs: 100 },
    });
    await soon(() => expect(isTaken).toBe(true));
    await sleep(300);
    expect(pieces).toBeLessThanOrEqual(5);
    expect(rig.standing().size).toBeLessThan(100);
  });
});

describe("an edge that misbehaves", () => {
  it("fails half of the time, before or after it has done its work: in the end it is right", async () => {
    let turn = 0;
    const sometimes = async <T>(work: () => Promise<T>): Promise<T> => {
      const kind = ++turn % 4;
      if (kind === 1) throw new Error("refused");
      const result = await work();
      if (kind === 3) throw new Error("the answer was lost");
      return result;
    };
    const through = (edge: Edge): Edge => ({
      ...edge,
      current: (asked, signal) => sometimes(() => edge.current(asked, signal)),
      apply: (changes, signal) => sometimes(() => edge.apply(changes, signal)),
      setMode: (mode, signal) => sometimes(() => edge.setMode(mode, signal)),
    });
    const rig = open({ through });
    await addMany(rig.data, rig.clock, 60);
    await soon(() => expect(keysOf(rig)).toEqual(digests(60)));
    await soon(() => expect(rig.table.mode).toBe("on"));
    expect(await rig.registry.metrics()).toMatch(/tidegate_edge_failures_total\{edge="front"\} [1-9]/);
  });

  it.each(["before", "after"] as const)(
    "fails %s it has written: it is read again before anything more is written",
    async (when) => {
      const calls: string[] = [];
      let fails = true;
      const through = (edge: Edge): Edge => ({
        ...edge,
        current(asked, signal) {
          calls.push("current");
          return edge.current(asked, signal);
        },
        async apply(changes, signal) {
          calls.push("apply");
          if (fails && when === "before") throw new Error("failed");
          const outcome = await edge.apply(changes, signal);
          if (fails) throw new Error("the answer was lost");
          return outcome;
        },
      });
      const rig = open({ through, settings: { everyMs: 600_000 } });
      await soon(async () => expect((await statusOf(rig))?.state).toBe("in step"));
      calls.length = 0;
      await addMany(rig.data, rig.clock, 3);
      await soon(() => expect(calls.length).toBeGreaterThanOrEqual(when === "before" ? 4 : 2));
      fails = false;
      await addMany(rig.data, rig.clock, 3, 3);
      await soon(() => expect(keysOf(rig)).toEqual(digests(6)));
      await soon(async () => expect((await statusOf(rig))?.state).toBe("in step"));
      expect(calls.slice(0, 2)).toEqual(["apply", "current"]);
    },
  );

  it("never answers: it is given up, and once it answers it is set right", async () => {
    let isHung = true;
    const through = (edge: Edge): Edge => ({
      ...edge,
      // It does not even listen to the signal.
      apply: (changes, signal) => (isHung ? new Promise(() => {}) : edge.apply(changes, signal)),
    });
    const rig = open({ through, terms: { applyMs: 30 } });
    await addMany(rig.data, rig.clock, 3);
    await soon(async () => expect((await statusOf(rig))?.problem?.message).toContain("longer than 30 ms"));
    isHung = false;
    await soon(() => expect(keysOf(rig)).toEqual(digests(3)));
    await soon(async () => expect((await statusOf(rig))?.problem).toBeUndefined());
  });

  it("slow: wishes that come meanwhile are made together, and none is lost", async () => {
    let applies = 0;
    const through = (edge: Edge): Edge => ({
      ...edge,
      async apply(changes, signal) {
        applies++;
        await sleep(50);
        return edge.apply(changes, signal);
      },
    });
    const rig = open({ through, settings: { everyMs: 60_000 } });
    await addMany(rig.data, rig.clock, 1);
    await soon(() => expect(applies).toBe(1));
    await addMany(rig.data, rig.clock, 200);
    await soon(() => expect(rig.standing().size).toBe(200));
    expect(applies).toBeLessThan(100);
  });

  it("refuses a key: the others stand there, it is reported, and tried again ten minutes later", async () => {
    const poison = digestOf(3);
    let isStrict = true;
    const through = (edge: Edge): Edge => ({
      ...edge,
      async apply({ remove, put }, signal) {
        const isBad = ({ key }: { key: string }) => isStrict && key === poison;
        await edge.apply({ remove, put: put.filter((entry) => !isBad(entry)) }, signal);
        return { refused: put.filter(isBad).map(({ key }) => ({ key, why: "no" })), left: [] };
      },
    });
    const rig = open({ through });
    for (let i = 0; i < 10; i++)
      await rig.data.offenders.add(offenderOf(digestOf(i), { until: rig.clock() + 3_600_000 }));
    const others = digests(10).filter((key) => key !== poison);
    await soon(async () => {
      expect(keysOf(rig)).toEqual(others);
      expect((await statusOf(rig))?.quarantined).toEqual([{ key: poison, why: "no" }]);
    });
    expect((await statusOf(rig))?.state).toBe("in step");
    isStrict = false;
    await rig.loop.desk.sync({ isDryRun: false });
    expect(keysOf(rig)).toEqual(others);
    rig.clock.shift(601_000);
    await soon(() => expect(keysOf(rig)).toEqual(digests(10)));
    await soon(async () => expect((await statusOf(rig))?.quarantined).toEqual([]));
  });

  it("takes no more for a while: new entries wait, a client cleared by hand does not", async () => {
    let isFull = false;
    let resumeAt = 0;
    const through = (edge: Edge): Edge => ({
      ...edge,
      async apply({ remove, put }, signal) {
        if (!isFull) return edge.apply({ remove, put }, signal);
        await edge.apply({ remove, put: [] }, signal);
        return { refused: [], left: put.map(({ key }) => key), resumeAt };
      },
    });
    const rig = open({ through });
    await addMany(rig.data, rig.clock, 5);
    await soon(() => expect(rig.standing().size).toBe(5));
    isFull = true;
    resumeAt = rig.clock() + 3_600_000;
    await addMany(rig.data, rig.clock, 5, 5);
    await soon(async () => expect(await statusOf(rig)).toMatchObject({ state: "behind", pending: 5 }));
    await rig.data.edgeBook.addClears([digestOf(0)], { until: rig.clock() + 60_000, who: "ann" });
    await soon(() => expect(rig.standing().size).toBe(4));
    isFull = false;
    await rig.loop.desk.sync({ isDryRun: false });
    expect(rig.standing().size).toBe(4);
    // Past the time the edge named; the hold-off has ended by then too.
    await addMany(rig.data, () => rig.clock() + 3_600_000, 10);
    rig.clock.shift(3_601_000);
    await soon(() => expect(rig.standing().size).toBe(10));
  });

  it("can not list: what it was told by others is not known, what it lost is", async () => {
    const through = (edge: Edge): Edge => ({
      ...edge,
      abilities: { ...edge.abilities, isListable: false },
      async current(asked, signal) {
        const state = await edge.current(asked, signal);
        const entries = new Map([...state.entries].filter(([key]) => asked.includes(key)));
        return { ...state, entries, foreign: 0 };
      },
    });
    const rig = open({ through });
    await addMany(rig.data, rig.clock, 1_300);
    await soon(() => expect(rig.standing().size).toBe(1_300));
    for (const key of [digestOf(1), digestOf(1_299)]) rig.table.items.delete(key);
    await soon(() => expect(rig.standing().size).toBe(1_300));
    wipeTable(rig.table);
    await soon(() => expect(rig.standing().size).toBe(1_300));
    await rig.data.edgeBook.addClears([digestOf(7)], { until: rig.clock() + 60_000, who: "ann" });
    await soon(() => expect(rig.standing().has(digestOf(7))).toBe(false));
  });
});

describe("data out of reach", () => {
  it("leaves the edge as it is, and goes on when it is back", async () => {
    const clock = shiftedClock();
    const data = testData(clock);
    let isAway = false;
    const offenders = {
      ...data.offenders,
      now: () => (isAway ? Promise.reject(new Error("Redis is away")) : data.offenders.now()),
    };
    const rig = open({ clock, data: { ...data, offenders } });
    await addMany(data, clock, 5);
    await soon(() => expect(rig.standing().size).toBe(5));
    isAway = true;
    await addMany(data, clock, 5, 5);
    await soon(async () => expect((await statusOf(rig))?.problem?.message).toBe("Redis is away"));
    expect(rig.standing().size).toBe(5);
    isAway = false;
    await soon(() => expect(rig.standing().size).toBe(10));
  });
});

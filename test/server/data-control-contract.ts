import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Data } from "../../packages/tidegate-server/src/data.js";
import type { Offender } from "../../packages/tidegate-server/src/offenders.js";
import { soon } from "../directory/support.js";

export interface ControlContractOptions {
  /** Keeps 50 offenders. */
  open(): Promise<Data>;
  again(data: Data): Promise<Data>;
  readonly isShared: boolean;
}

export const mostOffenders = 50;

const hostile = "a\0b\u{1F600}'; DROP TABLE audit; --\r\n{}\\\" ]]> %s %n 1 2 3";

/** The digest of a client that never was. */
export const digestOf = (i: number): string => i.toString(16).padStart(64, "0");

export function offender(i: number, told: Partial<Offender> = {}): Offender {
  return {
    key: digestOf(i),
    rule: "edge/standard",
    crossedAt: Date.now(),
    until: Date.now() + 60_000,
    score: 2,
    leaked: 0,
    edges: [],
    about: { ip: "203.0.113.7", host: "example.com", method: "GET", path: "/", userAgent: "curl/8" },
    ...told,
  };
}

/** What all data promises of offenders, of people's decisions about edges, and of leases. */
export function controlContract({ open, again, isShared }: ControlContractOptions): void {
  const rulesOf = (held: readonly Offender[]) => held.map(({ rule }) => rule);

  describe("offenders", () => {
    it("are answered worst first, with all that was said of them, hostile texts included", async () => {
      const { offenders } = await open();
      expect(await offenders.now()).toEqual([]);
      const about = { ip: "2001:db8::1", host: hostile, method: hostile, path: hostile, userAgent: hostile };
      const mild = offender(1, { score: 1.25, share: 0.015625, edges: ["front", "cdn"], leaked: 3 });
      const bad = offender(2, { score: 9.1, about, crossedAt: Date.now() - 0.125 });
      expect(await offenders.add(mild)).toBe(true);
      expect(await offenders.add(bad)).toBe(true);
      expect(await offenders.now()).toEqual([bad, mild]);
    });

    it("are kept one per rule and key, and dropped by key whatever the rule", async () => {
      const { offenders } = await open();
      await offenders.add(offender(1, { rule: "a" }));
      await offenders.add(offender(1, { rule: "b" }));
      await offenders.add(offender(2, { rule: "a" }));
      await offenders.add(offender(1, { rule: "a" }));
      expect(rulesOf(await offenders.now()).toSorted()).toEqual(["a", "a", "b"]);
      const removed = await offenders.remove([digestOf(1), digestOf(9)]);
      expect(rulesOf(removed).toSorted()).toEqual(["a", "b"]);
      expect(removed.every(({ key }) => key === digestOf(1))).toBe(true);
      expect(await offenders.now()).toMatchObject([{ key: digestOf(2) }]);
      expect(await offenders.remove([digestOf(1)])).toEqual([]);
      expect(await offenders.remove([])).toEqual([]);
      expect(await offenders.add(offender(1, { rule: "a" }))).toBe(true);
    });

    it("are never held shorter, nor said to have leaked less, than was told before", async () => {
      const { offenders } = await open();
      const first = offender(1, { leaked: 5, score: 3 });
      await offenders.add(first);
      await offenders.add({
        ...first,
        until: first.until - 30_000,
        leaked: 2,
        score: 1.5,
        crossedAt: first.crossedAt + 50,
      });
      expect(await offenders.now()).toEqual([{ ...first, score: 1.5 }]);
    });

    it("are news to the edges when new, longer or much worse, and not for a hair", async () => {
      const { offenders } = await open();
      const first = offender(1);
      expect(await offenders.add(first)).toBe(true);
      expect(await offenders.add(first)).toBe(false);
      expect(await offenders.add({ ...first, leaked: 100 })).toBe(false);
      expect(await offenders.add({ ...first, until: first.until + 900 })).toBe(false);
      // Small steps add up: told was the first.
      expect(await offenders.add({ ...first, until: first.until + 1_800 })).toBe(true);
      expect(await offenders.add({ ...first, score: 3.9 })).toBe(false);
      expect(await offenders.add({ ...first, score: 4.1 })).toBe(true);
      const brief = offender(2, { until: Date.now() + 5_000 });
      await offenders.add(brief);
      expect(await offenders.add({ ...brief, until: brief.until + 500 })).toBe(true);
    });

    it("that have ended are never answered, and are new when they come again", async () => {
      const { offenders } = await open();
      expect(await offenders.add(offender(1, { until: Date.now() - 1 }))).toBe(false);
      const brief = offender(2, { until: Date.now() + 300, leaked: 7 });
      await offenders.add(brief);
      await soon("its end", () => Date.now() >= brief.until);
      expect(await offenders.now()).toEqual([]);
      expect(await offenders.remove([brief.key])).toEqual([]);
      const next = offender(2);
      expect(await offenders.add(next)).toBe(true);
      expect(await offenders.now()).toEqual([next]);
    });

    it("that can not be counted with hold nobody, and no hold is for ever", async () => {
      const { offenders } = await open();
      expect(await offenders.add(offender(1, { until: Number.NaN }))).toBe(false);
      await offenders.add(offender(2, { until: Number.POSITIVE_INFINITY, score: Number.NaN }));
      const [held] = await offenders.now();
      expect(held).toMatchObject({ key: digestOf(2), score: 1 });
      expect(Number.isFinite(held?.until)).toBe(true);
    });

    it("are bounded: when full, the mildest go first, of equals whoever is released soonest, and that is counted", async () => {
      const { offenders } = await open();
      const until = Date.now() + 60_000;
      const order = Array.from({ length: mostOffenders + 20 }, (_, i) => (i * 37) % (mostOffenders + 20));
      expect(offenders.dropped()).toBe(0);
      for (const i of order) await offenders.add(offender(i, { until: until + i * 10 }));
      const keys = async () => (await offenders.now()).map(({ key }) => key).toSorted();
      expect(await keys()).toEqual(Array.from({ length: mostOffenders }, (_, i) => digestOf(i + 20)));
      expect(offenders.dropped()).toBe(20);
      // The worst are held shortest, and stay.
      const bad = Array.from({ length: 30 }, (_, i) =>
        offender(100 + i, { until: until - 30_000, score: 9 }),
      );
      for (const each of bad) await offenders.add(each);
      for (let i = 0; i < 30; i++)
        await offenders.add(offender(200 + i, { until: until + 90_000, score: 1 }));
      expect(await keys()).toEqual(expect.arrayContaining(bad.map(({ key }) => key)));
      expect(await keys()).toHaveLength(mostOffenders);
      expect(offenders.dropped()).toBe(80);
    });

    it("told by many at once are all there", async () => {
      const data = await open();
      const others = isShared ? [data, await again(data), await again(data)] : [data];
      await Promise.all(
        Array.from({ length: 45 }, (_, i) => (others[i % others.length] as Data).offenders.add(offender(i))),
      );
      for (const each of others) expect(await each.offenders.now()).toHaveLength(45);
    });

    it("tell whoever watches, until they stop; one watcher's mistake harms nobody", async () => {
      const data = await open();
      const other = isShared ? await again(data) : data;
      let heard = 0;
      data.offenders.watch(() => {
        throw new Error("a watcher's mistake");
      });
      const stop = data.offenders.watch(() => heard++);
      await data.offenders.add(offender(1));
      expect(heard).toBeGreaterThan(0);
      for (const act of [
        () => other.offenders.add(offender(2)),
        () => other.offenders.remove([digestOf(1)]),
      ]) {
        await sleep(50);
        const before = heard;
        await act();
        await soon("the news", () => heard > before);
      }
      stop();
      const before = heard;
      await other.offenders.add(offender(3));
      await sleep(50);
      expect(heard).toBe(before);
    });

    it("are complete once somebody said so", async () => {
      const { offenders } = await open();
      expect(await offenders.isComplete()).toBe(false);
      await offenders.add(offender(1));
      expect(await offenders.isComplete()).toBe(false);
      await offenders.markComplete();
      await offenders.remove([digestOf(1)]);
      expect(await offenders.isComplete()).toBe(true);
    });
  });

  describe("the book of edges", () => {
    it("keeps what guards withhold until it is over, whoever comes next", async () => {
      const data = await open();
      const stop = { stopped: { why: hostile, at: 1.5 } };
      expect(await data.edgeBook.stops()).toEqual(new Map());
      await data.edgeBook.setStop("front", { overriddenUntil: 1 });
      await data.edgeBook.setStop("front", stop);
      await data.edgeBook.setStop("cdn", stop);
      await data.edgeBook.setStop("cdn", undefined);
      await data.edgeBook.setStop("nowhere", undefined);
      expect(await (await again(data)).edgeBook.stops()).toEqual(new Map([["front", stop]]));
    });

    it("keeps whether a client was cleared, or a key alone", async () => {
      const { edgeBook } = await open();
      const terms = { until: Date.now() + 60_000, who: "ann" };
      await edgeBook.addClears([digestOf(1)], terms);
      await edgeBook.addClears(["203.0.113.7"], { ...terms, isClient: true });
      const kept = new Map((await edgeBook.clears()).map(({ key, isClient }) => [key, isClient]));
      expect(kept).toEqual(
        new Map([
          [digestOf(1), undefined],
          ["203.0.113.7", true],
        ]),
      );
    });

    it("keeps the modes people set, who did, why and when", async () => {
      const data = await open();
      expect(await data.edgeBook.modes()).toEqual(new Map());
      const from = Date.now();
      const off = await data.edgeBook.setMode("front", { mode: "off", who: hostile, why: hostile });
      expect(off).toEqual({ mode: "off", who: hostile, why: hostile, at: off.at });
      expect(off.at).toBeGreaterThanOrEqual(from);
      const shadow = await data.edgeBook.setMode("cdn", { mode: "shadow", who: "ann" });
      const on = await data.edgeBook.setMode("front", { mode: "on", who: "bob" });
      expect(await (await again(data)).edgeBook.modes()).toEqual(
        new Map([
          ["front", on],
          ["cdn", shadow],
        ]),
      );
    });

    it("keeps who was cleared by hand until the hold-off ends", async () => {
      const data = await open();
      expect(await data.edgeBook.clears()).toEqual([]);
      const until = Date.now() + 60_000;
      const soonEnds = Date.now() + 300;
      await data.edgeBook.addClears([], { until, who: "ann" });
      await data.edgeBook.addClears([digestOf(1), "203.0.113.7"], { until, who: "ann" });
      await data.edgeBook.addClears([digestOf(2)], { until: soonEnds, who: "bob" });
      const later = await again(data);
      const keys = async () => (await later.edgeBook.clears()).map(({ key }) => key).toSorted();
      await soon("the end of one", () => Date.now() > soonEnds);
      expect(await keys()).toEqual([digestOf(1), "203.0.113.7"].toSorted());
      await later.edgeBook.addClears(["203.0.113.7"], { until: until + 5_000, who: "eve" });
      expect(await keys()).toHaveLength(2);
      expect((await later.edgeBook.clears()).find(({ key }) => key === "203.0.113.7")).toMatchObject({
        until: until + 5_000,
        who: "eve",
        at: expect.any(Number),
      });
    });

    it("keeps what was last reported of each edge", async () => {
      const { edgeBook } = await open();
      expect(await edgeBook.reports()).toEqual(new Map());
      await edgeBook.report("front", { entries: 1 });
      await edgeBook.report("front", { entries: 2, problem: hostile });
      await edgeBook.report("cdn", null);
      expect(await edgeBook.reports()).toEqual(
        new Map<string, unknown>([
          ["front", { entries: 2, problem: hostile }],
          ["cdn", null],
        ]),
      );
    });

    it("tells whoever watches of modes and clears, whoever set them, until they stop", async () => {
      const data = await open();
      const other = isShared ? await again(data) : data;
      let heard = 0;
      const stop = data.edgeBook.watch(() => heard++);
      for (const act of [
        () => other.edgeBook.setMode("front", { mode: "off", who: "ann" }),
        () => other.edgeBook.addClears([digestOf(1)], { until: Date.now() + 60_000, who: "ann" }),
      ]) {
        await sleep(50);
        const before = heard;
        await act();
        await soon("the news", () => heard > before);
      }
      stop();
      const before = heard;
      await other.edgeBook.setMode("front", { mode: "on", who: "ann" });
      await sleep(50);
      expect(heard).toBe(before);
    });
  });

  describe("leases", () => {
    it("have one holder at a time, who may hold on, and a larger number for each new one", async () => {
      const data = await open();
      const other = isShared ? await again(data) : data;
      expect(await other.leases.holder("front")).toBeUndefined();
      const first = (await data.leases.take("front", "a", 60_000)) as number;
      expect(await other.leases.holder("front")).toBe("a");
      expect(await other.leases.take("front", "b", 60_000)).toBeUndefined();
      expect(await data.leases.take("front", "a", 60_000)).toBe(first);
      expect(await other.leases.take("cdn", "b", 60_000)).toBeGreaterThan(first);
      await other.leases.giveUp("front", "b");
      expect(await other.leases.take("front", "b", 60_000)).toBeUndefined();
      await data.leases.giveUp("front", "a");
      const second = (await other.leases.take("front", "b", 60_000)) as number;
      expect(second).toBeGreaterThan(first);
      expect(await data.leases.take("front", "a", 60_000)).toBeUndefined();
    });

    it("end by themselves when nobody holds on", async () => {
      const { leases } = await open();
      const first = (await leases.take("front", "a", 100)) as number;
      let second: number | undefined;
      await expect
        .poll(async () => {
          second = await leases.take("front", "b", 60_000);
          return second;
        })
        .toBeDefined();
      expect(second).toBeGreaterThan(first);
      expect(await leases.take("front", "a", 60_000)).toBeUndefined();
    });

    it("of many that come at once, exactly one gets it", async () => {
      const data = await open();
      const others = isShared ? [data, await again(data)] : [data];
      const numbers = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (others[i % others.length] as Data).leases.take("front", `p${i}`, 60_000),
        ),
      );
      expect(numbers.filter((number) => number !== undefined)).toHaveLength(1);
    });
  });
}

import { describe, expect, it, onTestFinished } from "vitest";
import { controlRig, digestOf, keysOf, offenderOf, open, soon, wipeTable } from "./control-support.js";

describe("a client cleared by hand", () => {
  it("is off the edge when the answer comes, whatever held it, and what was counted of it is forgotten", async () => {
    const forgotten: string[] = [];
    const rig = open({
      keysOf: ({ ip }) => (ip === undefined ? [] : [ip, digestOf(`of ${ip}`)]),
      async forget(offenders) {
        forgotten.push(...offenders.map(({ key }) => key));
      },
    });
    const until = rig.clock() + 60_000;
    const ip = "203.0.113.7";
    const mine = [ip, "203.0.113.0/24", digestOf("by address"), digestOf(`of ${ip}`)];
    const { offenders } = rig.data;
    await offenders.add(offenderOf(ip, { until }));
    await offenders.add(offenderOf("203.0.113.0/24", { until }));
    await offenders.add(offenderOf(digestOf("by address"), { until, about: { ip } }));
    await offenders.add(offenderOf(digestOf(`of ${ip}`), { until }));
    await offenders.add(offenderOf("203.0.114.7", { until }));
    await offenders.add(offenderOf(digestOf("other"), { until, about: { ip: "203.0.113.8" } }));
    await soon(() => expect(rig.standing().size).toBe(6));
    expect((await rig.loop.desk.find({ ip })).map(({ key }) => key).sort()).toEqual([...mine].sort());
    const cleared = await rig.loop.desk.clear({ ip }, { who: "ann" });
    expect(keysOf(rig)).toEqual(["203.0.114.7", digestOf("other")].sort());
    expect(cleared.map(({ key }) => key).sort()).toEqual([...mine].sort());
    expect(forgotten.sort()).toEqual([...mine].sort());
  });

  it("is not put back by the loop before its hold-off ends, and is after that", async () => {
    const rig = open({ settings: { holdOffMs: 60_000 } });
    const key = "203.0.113.7";
    const add = () => rig.data.offenders.add(offenderOf(key, { until: rig.clock() + 3_600_000 }));
    await add();
    await soon(() => expect(keysOf(rig)).toEqual([key]));
    await rig.loop.desk.clear({ ip: key }, { who: "ann" });
    expect(keysOf(rig)).toEqual([]);
    for (let i = 0; i < 5; i++) {
      await add();
      wipeTable(rig.table);
      await rig.loop.desk.sync({ isDryRun: false });
      expect(keysOf(rig)).toEqual([]);
    }
    rig.clock.shift(61_000);
    await soon(() => expect(keysOf(rig)).toEqual([key]));
  });

  it("stays off for its hold-off under whatever key it is held next, and its neighbours do not", async () => {
    const rig = open({
      keysOf: ({ ip }) => (ip === undefined ? [] : [ip]),
      settings: { holdOffMs: 60_000 },
    });
    const until = rig.clock() + 3_600_000;
    const add = (key: string, ip: string) =>
      rig.data.offenders.add(offenderOf(key, { until, about: { ip } }));
    await add(digestOf("/a"), "203.0.113.7");
    await add("203.0.113.0/24", "203.0.113.7");
    await add(digestOf("v6"), "2001:db8:1:2::7");
    await soon(() => expect(rig.standing().size).toBe(3));
    await rig.loop.desk.clear({ ip: "203.0.113.7" }, { who: "ann" });
    await rig.loop.desk.clear({ ip: "2001:db8:1:2::7" }, { who: "ann" });
    expect(keysOf(rig)).toEqual([]);
    await add(digestOf("/b"), "203.0.113.7");
    await add("203.0.113.0/24", "203.0.113.8");
    await add(digestOf("v6 again"), "2001:db8:1:2::8");
    await add("2001:db8:1:2::/64", "2001:db8:1:2::9");
    await add(digestOf("neighbour"), "203.0.113.8");
    await add(digestOf("v6 neighbour"), "2001:db8:1:3::8");
    const others = [digestOf("neighbour"), digestOf("v6 neighbour")].sort();
    await soon(() => expect(keysOf(rig)).toEqual(others));
    await rig.loop.desk.sync({ isDryRun: false });
    expect(keysOf(rig)).toEqual(others);
    expect(
      (await rig.loop.desk.standings(await rig.loop.desk.find({ ip: "203.0.113.7" }))).flat(),
    ).toMatchObject([{ state: "hold-off" }, { state: "hold-off" }]);
    rig.clock.shift(61_000);
    await soon(() => expect(rig.standing().size).toBe(6));
  });

  it("is taken off though nobody remembers why it stands there", async () => {
    const rig = open({
      keysOf: ({ ip }) => (ip === undefined ? [] : [ip]),
      settings: { everyMs: 600_000 },
    });
    await rig.loop.desk.sync({ isDryRun: false });
    rig.table.items.set("203.0.113.7", String(Math.ceil(rig.clock() / 1_000) + 600));
    await rig.loop.desk.clear({ ip: "203.0.113.7" }, { who: "ann" });
    expect(keysOf(rig)).toEqual([]);
    expect(await rig.data.edgeBook.clears()).toMatchObject([{ key: "203.0.113.7", who: "ann" }]);
  });

  it("nobody is meant by a client without an address", async () => {
    const rig = open();
    await rig.data.offenders.add(offenderOf("203.0.113.7", { until: rig.clock() + 60_000 }));
    expect(await rig.loop.desk.clear({ user: "42" }, { who: "ann" })).toEqual([]);
    expect(await rig.loop.desk.clear({ ip: "nonsense" }, { who: "ann" })).toEqual([]);
    expect(await rig.loop.desk.offenders()).toHaveLength(1);
  });
});

describe("modes", () => {
  it("are set when the answer comes, keep the entries, and outlive processes and losses", async () => {
    const rig = open();
    await rig.data.offenders.add(offenderOf("203.0.113.7", { until: rig.clock() + 60_000 }));
    await soon(() => expect(keysOf(rig)).toEqual(["203.0.113.7"]));
    let last = rig;
    for (const mode of ["off", "shadow", "on", "off"] as const) {
      const status = await last.loop.desk.setMode("front", mode, { who: "ann", why: "a test" });
      expect(status).toMatchObject({ mode, setBy: { who: "ann", why: "a test" } });
      expect(last.table.mode).toBe(mode);
      await last.loop.close();
      last = open({ clock: rig.clock, data: rig.data, table: rig.table });
      wipeTable(rig.table);
      await last.loop.desk.sync({ isDryRun: false });
      expect(rig.table.mode).toBe(mode);
      expect(keysOf(rig)).toEqual(["203.0.113.7"]);
    }
  });

  it("of an edge there is not can not be set", async () => {
    const rig = open();
    expect(await rig.loop.desk.setMode("nowhere", "off", { who: "ann" })).toBeUndefined();
    expect(await rig.loop.desk.sync({ edge: "nowhere", isDryRun: true })).toBeUndefined();
  });
});

describe("sync", () => {
  it("as a dry run says what would change, and changes nothing", async () => {
    const rig = open({ settings: { everyMs: 60_000 } });
    await rig.loop.desk.sync({ isDryRun: false });
    const end = Math.ceil(rig.clock() / 1_000) + 600;
    rig.table.items.set(digestOf("stray"), String(end));
    const until = rig.clock() + 60_000;
    await rig.loop.close();
    await rig.data.offenders.add(offenderOf("203.0.113.7", { until }));
    const expected = {
      edge: "front",
      put: [{ key: "203.0.113.7", until, rule: "edge/standard" }],
      remove: [digestOf("stray")],
    };
    expect(await rig.loop.desk.sync({ isDryRun: true })).toEqual([{ ...expected, isDryRun: true }]);
    expect(keysOf(rig)).toEqual([digestOf("stray")]);
    const next = open({ clock: rig.clock, data: rig.data, table: rig.table, settings: { everyMs: 60_000 } });
    await soon(() => expect(keysOf(rig)).toEqual(["203.0.113.7"]));
    expect(await next.loop.desk.sync({ edge: "front", isDryRun: true })).toMatchObject([
      { put: [], remove: [] },
    ]);
    rig.table.items.delete("203.0.113.7");
    expect(await next.loop.desk.sync({ edge: "front", isDryRun: false })).toMatchObject([
      { put: [{ key: "203.0.113.7" }], remove: [], isDryRun: false },
    ]);
  });

  it("in a process that keeps no edge says who does", async () => {
    const rig = open({ holder: "the keeper" });
    await rig.loop.desk.sync({ isDryRun: false });
    const other = open({ clock: rig.clock, data: rig.data, table: rig.table });
    await soon(async () =>
      expect(await other.loop.desk.sync({ isDryRun: false })).toMatchObject([
        { edge: "front", problem: expect.stringContaining("the keeper") },
      ]),
    );
  });
});

describe("a process without edges", () => {
  it("knows them from whoever keeps them, sets their mode and clears clients", async () => {
    const rig = open({ holder: "the keeper" });
    await rig.data.offenders.add(offenderOf("203.0.113.7", { until: rig.clock() + 60_000 }));
    await soon(() => expect(keysOf(rig)).toEqual(["203.0.113.7"]));
    const away = controlRig({ clock: rig.clock, data: rig.data, withoutEdges: true });
    onTestFinished(() => away.loop.close());
    const { desk } = away.loop;
    await soon(async () =>
      expect(await desk.edges()).toMatchObject([
        { edge: "front", kind: "memory", state: "in step", entries: 1, keeper: "the keeper", mode: "on" },
      ]),
    );
    expect(await desk.setMode("front", "shadow", { who: "ann" })).toMatchObject({ mode: "shadow" });
    await soon(() => expect(rig.table.mode).toBe("shadow"));
    expect(await desk.clear({ ip: "203.0.113.7" }, { who: "ann" })).toHaveLength(1);
    await soon(() => expect(keysOf(rig)).toEqual([]));
    expect(await desk.sync({ isDryRun: true })).toMatchObject([{ problem: expect.any(String) }]);
  });
});

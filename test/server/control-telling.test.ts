import { afterEach, describe, expect, it, vi } from "vitest";
import { type Edge, EdgeError, isAddressKey } from "../../packages/tidegate-server/src/edge.js";
import { memoryTable } from "../../packages/tidegate-server/src/edges/memory/memory-edge.js";
import {
  type ControlRig,
  controlRig,
  digestOf,
  offenderOf,
  type RigOptions,
  shiftedClock,
  testData,
} from "./control-support.js";

const rigs: ControlRig[] = [];
afterEach(async () => {
  await Promise.all(rigs.splice(0).map(({ loop }) => loop.close()));
});

function open(options: RigOptions = {}): ControlRig {
  const rig = controlRig(options);
  rigs.push(rig);
  return rig;
}

const soon = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 15_000, interval: 5 });
const statusOf = async ({ loop }: ControlRig) => (await loop.desk.edges())[0];

/** An edge that fails as it is told to. */
function failing(): { error: Error | undefined; looks: number; through: (edge: Edge) => Edge } {
  const state = {
    error: undefined as Error | undefined,
    looks: 0,
    through: (edge: Edge): Edge => {
      const tried = <T>(call: () => Promise<T>): Promise<T> =>
        state.error === undefined ? call() : Promise.reject(state.error);
      return {
        ...edge,
        current: (asked, signal) => {
          state.looks++;
          return tried(() => edge.current(asked, signal));
        },
        apply: (changes, signal) => tried(() => edge.apply(changes, signal)),
        setMode: (mode, signal) => tried(() => edge.setMode(mode, signal)),
      };
    },
  };
  return state;
}

const gone = new EdgeError("TG_EDGE_UNREACHED", "front", "the socket is gone.", "See that it runs.", true);

describe("a mode", () => {
  it("that the edge was not told is answered so, with how it stands and why", async () => {
    const edge = failing();
    const rig = open({ through: edge.through });
    await soon(async () => expect(await statusOf(rig)).toMatchObject({ applied: true, standsAt: "on" }));
    edge.error = gone;
    const status = await rig.loop.desk.setMode("front", "off", { who: "ann" });
    expect(status).toMatchObject({
      mode: "off",
      applied: false,
      standsAt: "on",
      problem: { message: "the socket is gone. See that it runs.", code: "TG_EDGE_UNREACHED" },
    });
    edge.error = undefined;
    await soon(async () => expect(await statusOf(rig)).toMatchObject({ applied: true, standsAt: "off" }));
  });

  it("set where nobody keeps the edge is answered at once as not applied; set beside the keeper it is waited for", async () => {
    const clock = shiftedClock();
    const data = testData(clock);
    const table = memoryTable();
    const away = open({ clock, data, withoutEdges: true });
    const before = await away.loop.desk.setMode("front", "off", { who: "ann" });
    expect(before).toMatchObject({ mode: "off", applied: false, state: "nobody keeps it" });
    open({ clock, data, table });
    await soon(async () => expect(await statusOf(away)).toMatchObject({ applied: true, standsAt: "off" }));
    const after = await away.loop.desk.setMode("front", "shadow", { who: "ann" });
    expect(after).toMatchObject({ mode: "shadow", applied: true, standsAt: "shadow" });
    expect(table.mode).toBe("shadow");
  });
});

describe("an edge whose keeper is gone", () => {
  it("is kept by nobody as soon as the lease has ended, whatever was last reported", async () => {
    const clock = shiftedClock();
    const data = testData(clock);
    const away = open({ clock, data, withoutEdges: true });
    expect(await statusOf(away)).toMatchObject({ state: "nobody keeps it" });
    const keeper = open({ clock, data, holder: "the keeper" });
    await soon(async () =>
      expect(await statusOf(away)).toMatchObject({ state: "in step", keeper: "the keeper" }),
    );
    await keeper.loop.close();
    const status = await statusOf(away);
    expect(status).toMatchObject({ state: "nobody keeps it", applied: false });
    expect(status).not.toHaveProperty("keeper");
  });
});

describe("how an offender stands at an edge", () => {
  const key = "203.0.113.7";
  const standing = async ({ data, loop }: ControlRig, of = key) => {
    const found = (await data.offenders.now()).filter((each) => each.key === of);
    return (await loop.desk.standings(found))[0]?.[0];
  };
  const add = (rig: ControlRig, of = key, facts: object = {}) =>
    rig.data.offenders.add(
      offenderOf(of, { until: rig.clock() + 600_000, crossedAt: rig.clock(), ...facts }),
    );

  it("is held once it was told, and what the edge's mode makes of that", async () => {
    const rig = open();
    await add(rig);
    await soon(async () => expect(await standing(rig)).toEqual({ edge: "front", state: "held" }));
    for (const mode of ["off", "shadow"] as const) {
      await rig.loop.desk.setMode("front", mode, { who: "ann" });
      expect(await standing(rig)).toEqual({ edge: "front", state: mode });
    }
  });

  it("is waiting while the edge can not be told, and held though it is out of reach now", async () => {
    const edge = failing();
    const rig = open({ through: edge.through });
    await add(rig);
    await soon(async () => expect(await standing(rig)).toMatchObject({ state: "held" }));
    edge.error = gone;
    await add(rig, "203.0.113.8");
    await soon(async () => expect((await statusOf(rig))?.alarms).toEqual(["Out of reach."]));
    expect(await standing(rig, "203.0.113.8")).toEqual({ edge: "front", state: "waiting" });
    expect(await standing(rig)).toEqual({ edge: "front", state: "held" });
  });

  it("is spared, and by what", async () => {
    const rig = open({
      trustedProxies: ["198.51.100.1"],
      isSafelisted: (address) => address === "198.51.100.2",
    });
    for (const [of, why] of [
      ["127.0.0.1", "control.spare"],
      ["198.51.100.1", "trustedProxies"],
      ["198.51.100.2", "safelist"],
    ] as const) {
      await add(rig, digestOf(of), { about: { ip: of } });
      expect(await standing(rig, digestOf(of))).toEqual({ edge: "front", state: "spared", why });
    }
  });

  it("is in its hold-off after a clear, and until when", async () => {
    const rig = open({ settings: { holdOffMs: 60_000 } });
    await add(rig);
    await rig.loop.desk.clear({ ip: key }, { who: "ann" });
    await add(rig);
    const found = await standing(rig);
    expect(found).toMatchObject({ edge: "front", state: "hold-off", until: expect.any(Number) });
    expect(found?.until).toBe((await rig.data.edgeBook.clears())[0]?.until);
  });

  it("is leaving after a clear that the edge could not be told", async () => {
    const edge = failing();
    const rig = open({ through: edge.through });
    await add(rig);
    await soon(async () => expect(await standing(rig)).toMatchObject({ state: "held" }));
    edge.error = gone;
    const cleared = await rig.loop.desk.clear({ ip: key }, { who: "ann" });
    expect((await rig.loop.desk.standings(cleared))[0]).toMatchObject([{ state: "leaving" }]);
  });

  it("is unknowable to an edge that knows addresses alone, also as told by another process", async () => {
    const rig = open({
      through: (edge) => ({ ...edge, abilities: { ...edge.abilities, takes: isAddressKey } }),
    });
    await add(rig);
    await add(rig, digestOf("a"));
    await soon(async () => expect(await standing(rig)).toMatchObject({ state: "held" }));
    const away = open({ clock: rig.clock, data: rig.data, withoutEdges: true });
    await soon(async () => {
      for (const each of [rig, away]) {
        expect(await standing(each, digestOf("a"))).toEqual({ edge: "front", state: "unknowable" });
        expect(await standing(each)).toEqual({ edge: "front", state: "held" });
      }
    });
  });

  it("is evicted where worse ones take all the room", async () => {
    const rig = open({ maxEntries: 1 });
    await add(rig, key, { score: 2 });
    await add(rig, "203.0.113.8", { score: 9 });
    await soon(async () => expect(await standing(rig, "203.0.113.8")).toMatchObject({ state: "held" }));
    expect(await standing(rig)).toEqual({ edge: "front", state: "evicted" });
  });

  it("is nothing where it does not go", async () => {
    const rig = open();
    await add(rig, key, { edges: ["elsewhere"] });
    expect(await standing(rig)).toBeUndefined();
  });
});

describe("a client that is met", () => {
  it("is one by its address, and by a digest only if the request's own is not known, or is this", async () => {
    const rig = open({ keysOf: ({ ip = "", path }) => (path === undefined ? [ip] : [ip, digestOf(path)]) });
    const until = rig.clock() + 60_000;
    const ip = "203.0.113.7";
    const held = [ip, digestOf("/a"), digestOf("/b")].map((key) => offenderOf(key, { until, about: { ip } }));
    const met = (subject: object) => rig.loop.desk.meets(subject, held).map(({ key }) => key);
    expect(met({ ip })).toEqual([ip, digestOf("/a"), digestOf("/b")]);
    expect(met({ ip, path: "/a" })).toEqual([ip, digestOf("/a")]);
  });
});

describe("a sync asked for by a person", () => {
  it("ends the pause after a failure, and tells what is so now", async () => {
    const edge = failing();
    edge.error = gone;
    const rig = open({ through: edge.through, terms: { backoffMs: 600_000, longestBackoffMs: 600_000 } });
    await soon(async () => expect((await statusOf(rig))?.problem).toBeDefined());
    const looks = edge.looks;
    expect(await rig.loop.desk.sync({ isDryRun: false })).toMatchObject([
      { problem: "the socket is gone. See that it runs." },
    ]);
    expect(edge.looks).toBeGreaterThan(looks);
    edge.error = undefined;
    const [report] = (await rig.loop.desk.sync({ isDryRun: false })) ?? [];
    expect(report).not.toHaveProperty("problem");
    expect(await statusOf(rig)).toMatchObject({ state: "in step" });
  });

  it("as a dry run beside the keeper says who that is, and shows no table of its own for the edge's", async () => {
    const clock = shiftedClock();
    const data = testData(clock);
    const keeper = open({ clock, data, holder: "the keeper" });
    await keeper.loop.desk.sync({ isDryRun: false });
    const other = open({ clock, data, elsewhere: [{ edge: "front", kind: "memory", maxEntries: 9 }] });
    expect(await other.loop.desk.sync({ isDryRun: true })).toEqual([
      expect.objectContaining({
        edge: "front",
        put: [],
        remove: [],
        keeper: "the keeper",
        problem: expect.stringContaining("can not read"),
      }),
    ]);
  });
});

describe("an alarm", () => {
  it.each([
    [gone, "Out of reach."],
    [
      new EdgeError("TG_EDGE_SETUP", "front", "a map is missing.", "Render it.", false),
      "Set up wrongly: a map is missing. Render it.",
    ],
    [
      new EdgeError("TG_EDGE_DENIED", "front", "a wrong token.", "Set it.", false),
      "Denied: a wrong token. Set it.",
    ],
    [
      new EdgeError("TG_EDGE_BUDGET", "front", "no more writes.", "Wait.", true),
      "Failing: no more writes. Wait.",
    ],
  ])("of %s says what is so, and the log has no stack of it", async (error, alarm) => {
    const edge = failing();
    edge.error = error;
    const rig = open({ through: edge.through });
    await soon(async () => expect((await statusOf(rig))?.alarms).toEqual([alarm]));
    const lines = rig.log.lines.filter(({ level }) => level === "warn");
    expect(lines.filter(({ words }) => words.startsWith("an edge failed"))).toHaveLength(1);
    expect(lines.some(({ facts }) => "err" in facts)).toBe(false);
  });

  it("of what an edge itself complains of is steady: it stays in step, and nothing comes and goes", async () => {
    let problem: string | undefined = "held.map can not be kept.";
    const rig = open({ through: (edge) => ({ ...edge, problem: () => problem }) });
    await soon(() => expect(raised(rig, "an edge raises an alarm")).toBe(1));
    for (let i = 0; i < 5; i++) {
      await rig.loop.desk.sync({ isDryRun: false });
      expect(await statusOf(rig)).toMatchObject({ state: "in step", alarms: ["held.map can not be kept."] });
    }
    expect([raised(rig, "an edge raises an alarm"), raised(rig, "an alarm has ended")]).toEqual([1, 0]);
    problem = undefined;
    await soon(() => expect(raised(rig, "an alarm has ended")).toBe(1));
  });

  it("of a guard's stop tells what to do", async () => {
    const rig = open({ settings: { guard: { newPerMinute: 1, share: 1 } } });
    const until = rig.clock() + 600_000;
    for (let i = 0; i < 5; i++)
      await rig.data.offenders.add(offenderOf(digestOf(i), { until, crossedAt: rig.clock() }));
    const help = "Look at `tidegate edge offenders`, then `tidegate edge on front`.";
    await soon(async () =>
      expect((await statusOf(rig))?.alarms).toEqual([expect.stringMatching(/^New entries are withheld: .+/)]),
    );
    expect((await statusOf(rig))?.alarms[0]).toContain(help);
    expect(rig.log.lines.some(({ level, facts }) => level === "error" && facts.help === help)).toBe(true);
    const held = await rig.data.offenders.now();
    const waiting = { edge: "front", state: "waiting", why: "withheld by a guard" };
    expect((await rig.loop.desk.standings(held)).flat()).toContainEqual(waiting);
  });

  const raised = (rig: ControlRig, words: string) =>
    rig.log.lines.filter((line) => line.words === words).length;
});

describe("metrics", () => {
  it("tell whether an edge was reached, and count failures from 0", async () => {
    const edge = failing();
    const rig = open({ through: edge.through });
    expect(await rig.registry.metrics()).toMatch(/^tidegate_edge_failures_total\{edge="front"\} 0$/m);
    await soon(async () =>
      expect(await rig.registry.metrics()).toMatch(/^tidegate_edge_up\{edge="front"\} 1$/m),
    );
    edge.error = gone;
    await soon(async () =>
      expect(await rig.registry.metrics()).toMatch(/^tidegate_edge_up\{edge="front"\} 0$/m),
    );
    expect(await rig.registry.metrics()).toMatch(/^tidegate_edge_failures_total\{edge="front"\} [1-9]/m);
  });
});

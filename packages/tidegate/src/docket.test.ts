import { describe, expect, it, vi } from "vitest";
import type { Verdict } from "./decision.js";
import type { Docket } from "./docket.js";
import { createGate, memoryStore, type Store } from "./index.js";
import { declareOwn } from "./store.js";
import { subjectOf } from "./testing/subject.js";

const rules = [{ name: "req/ip", by: "ip" as const, limits: ["2 per hour" as const] }];
const visit = subjectOf("203.0.113.7");

/** Counts in this process, and answers later. */
function laterStore(): Store & { askDocket(docket: Docket): Promise<Verdict[]> } {
  const counts = memoryStore();
  const store = {
    decide: async (...args: Parameters<Store["decide"]>) => counts.decide(...args),
    askDocket: async (docket: Docket) => counts.decide(docket.checks()),
    peek: counts.peek.bind(counts),
    refund: counts.refund.bind(counts),
    hold: counts.hold.bind(counts),
    forget: counts.forget.bind(counts),
  };
  declareOwn(store, { isSure: false });
  return store;
}

function throwing(error: Error): never {
  throw error;
}

describe("a docket", () => {
  it("is asked of a store that answers later as one, and the next request may have it meanwhile", async () => {
    const store = laterStore();
    const [decide, askDocket] = [vi.spyOn(store, "decide"), vi.spyOn(store, "askDocket")];
    declareOwn(store, { isSure: false });
    const gate = createGate({ rules, store });
    const others = ["203.0.113.8", "203.0.113.9"].map((ip) => subjectOf(ip));
    const decisions = await Promise.all([visit, ...others].map((subject) => gate.decide(subject)));
    expect(decisions.map(({ verdict }) => verdict?.key)).toEqual([
      "203.0.113.7",
      "203.0.113.8",
      "203.0.113.9",
    ]);
    expect(askDocket).toHaveBeenCalledTimes(3);
    expect(decide).not.toHaveBeenCalled();
  });

  it("is not asked of what stands in front of a store, nor of a store whose way to decide was changed", async () => {
    for (const store of [memoryStore() as Store, laterStore()]) {
      const asked: string[] = [];
      const decide: Store["decide"] = (checks, terms) => {
        for (const { key } of checks) asked.push(key);
        return Object.getPrototypeOf(front).decide(checks, terms);
      };
      const front: Store = Object.assign(Object.create(store), { decide });
      await createGate({ rules, store: front }).decide(visit);
      expect(asked).toEqual(["203.0.113.7"]);
    }
    const changed = laterStore();
    const decide = vi.spyOn(changed, "decide");
    await createGate({ rules, store: changed }).decide(visit);
    expect(decide).toHaveBeenCalledTimes(1);
  });

  it.each<[string, () => Promise<Verdict[]>]>([
    ["fails to answer", () => Promise.reject(new Error("gone"))],
    ["throws on", () => throwing(new Error("broken"))],
    ["answers with nonsense", async () => [{ allowed: true, remaining: Number.NaN } as Verdict]],
    ["answers with nothing", async () => undefined as unknown as Verdict[]],
  ])("that a store %s is judged by this process's own counts", async (_, askDocket) => {
    const decide = () => Promise.reject(new Error("gone"));
    const store = Object.assign(laterStore(), { askDocket, decide });
    declareOwn(store, { isSure: false });
    const gate = createGate({ rules, store });
    const decisions = await Promise.all([visit, visit, visit].map((subject) => gate.decide(subject)));
    expect(decisions.map(({ allowed, source }) => [allowed, source])).toEqual([
      [true, "local"],
      [true, "local"],
      [false, "local"],
    ]);
  });
});

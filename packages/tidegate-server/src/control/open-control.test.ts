import { Registry } from "prom-client";
import { createGate, type Gate, memoryDirectory, memoryStore, type RuleOptions } from "tidegate";
import { subjectOf } from "tidegate/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Log } from "../log.js";
import type { Offender, Offenders } from "../offenders.js";
import { openControl } from "./open-control.js";

const log: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const control = {
  everyMs: 5_000,
  holdOffMs: 600_000,
  spare: [],
  guard: { newPerMinute: 5_000, share: 0.5 },
};
const client = "203.0.113.7";

const endings: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const end of endings.splice(0).toReversed()) await end();
});

function rig(rule: Partial<RuleOptions>, mode: "enforce" | "shadow" = "enforce") {
  const store = memoryStore();
  const gate: Gate = createGate({
    store,
    directory: memoryDirectory(),
    mode,
    rules: [{ name: "r", by: "ip", limits: ["2 per minute"], hold: { for: "5m" }, edges: true, ...rule }],
  });
  endings.push(() => gate.close());
  const told: Offender[] = [];
  const offenders = {
    async add(offender: Offender) {
      told.push(offender);
      return true;
    },
  } as Offenders;
  const opened = openControl({
    settings: { control, identity: {} },
    gate,
    store,
    offenders,
    log,
    registry: new Registry(),
  });
  endings.push(() => opened.close());
  const send = async (count: number, path = "/login"): Promise<void> => {
    for (let i = 0; i < count; i++) await gate.decide(subjectOf(client, { path, method: "POST" }));
  };
  return { told, send };
}

describe("whom a rule of the policy holds", () => {
  test("goes to the edges the rule feeds, at that very request", async () => {
    const { told, send } = rig({ edges: ["front"] });
    await send(2);
    expect(told).toEqual([]);
    await send(1);
    expect(told).toMatchObject([
      { key: client, rule: "r", edges: ["front"], score: 1, about: { ip: client } },
    ]);
  });

  test.each([
    ["by ip", { only: "POST /login" }, false],
    ["by network", { by: "network", except: "/health" }, false],
    ["by broad", { by: "broad", only: "POST /login" }, false],
    ["by ip, held everywhere", { only: "POST /login", hold: { for: "5m", everywhere: true } }, true],
    ["by standard", { by: "standard", only: "POST /login" }, true],
  ] as [string, Partial<RuleOptions>, boolean][])(
    "%s, of a rule for some paths: goes there only if the edge refuses it nowhere else",
    async (_, rule, isTold) => {
      const { told, send } = rig(rule);
      await send(4);
      expect(told.length > 0).toBe(isTold);
    },
  );

  test.each(["rule", "policy"] as const)("in shadow, of the %s, is refused nowhere", async (whose) => {
    const { told, send } = rig(
      whose === "rule" ? { mode: "shadow" } : {},
      whose === "policy" ? "shadow" : "enforce",
    );
    await send(9);
    expect(told).toEqual([]);
  });

  test("is told of again while it goes on, no more than every few seconds, and once more after a loss", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { told, send } = rig({});
    await send(40);
    expect(told).toHaveLength(1);
    vi.setSystemTime(Date.now() + 6_000);
    await send(40);
    expect(told).toHaveLength(2);
    expect(told[1]).toMatchObject({ key: client, rule: "r", crossedAt: told[0]?.crossedAt });
    expect(Math.abs((told[1]?.until ?? 0) - (told[0]?.until ?? 0))).toBeLessThan(1_000);
    expect(told[1]?.leaked).toBeGreaterThan(30);
  });
});

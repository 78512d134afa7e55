import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createGate } from "./index.js";
import { client, openGate, perIp, times } from "./testing/open-gate.js";
import { subjectOf } from "./testing/subject.js";

const unhandled = vi.fn();
const logged = vi.spyOn(console, "error");

beforeEach(() => {
  unhandled.mockClear();
  logged.mockReset().mockImplementation(() => {});
  process.on("unhandledRejection", unhandled);
});
afterEach(() => {
  process.off("unhandledRejection", unhandled);
});

/** Rejections nobody handled are told once the microtasks are through. */
async function ended(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const failing = async (): Promise<never> => {
  throw new Error("later");
};

describe("a function of the app's that fails later", () => {
  it("as by, cost or count ends no process, counts the address at 1, and is pointed out", async () => {
    const { gate, warnings } = openGate({
      rules: [{ ...perIp, by: failing as never, cost: failing as never, count: failing as never }],
    });
    expect(warnings).toMatchObject([{ code: "TG_ASYNC", message: expect.stringContaining('"req/ip"') }]);
    const decisions = await times(4, () => gate.decide(client));
    for (const decision of decisions) await decision.finish({ status: 200 });
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
    expect((await gate.decide(subjectOf("203.0.113.8"))).verdict?.key).toBe("203.0.113.8");
    await ended();
    expect(unhandled).not.toHaveBeenCalled();
  });

  it("as a listener or a hook ends no process, and is logged", async () => {
    const gate = createGate({
      store: { decide: () => Promise.reject(new Error("down")) } as never,
      rules: [perIp],
      onWarning: failing,
      onDegraded: failing,
    });
    gate.on("decision", failing);
    gate.on("degraded", failing);
    await times(6, () => gate.decide(client));
    await ended();
    expect(unhandled).not.toHaveBeenCalled();
    const names = new Set(logged.mock.calls.map(([text]) => text));
    for (const name of ["onWarning", "onDegraded", 'a listener of "decision"', 'a listener of "degraded"'])
      expect(names).toContain(`Tidegate: ${name} threw.`);
  });
});

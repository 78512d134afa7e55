import { describe, expect, it } from "vitest";
import { fixedWindow } from "../../algorithms/fixed-window/fixed-window.js";
import { Bindings } from "./bindings.js";

const few = fixedWindow({ limit: 5, window: "1m" });
const many = fixedWindow({ limit: 500, window: "1m" });
const hourly = fixedWindow({ limit: 5, window: "1h" });

describe("bindings", () => {
  it("limits of one id under one rule share their states, and each keeps its own numbers", () => {
    const bindings = new Bindings();
    const [first, second] = [bindings.of("r", few), bindings.of("r", many)];
    expect(second).toMatchObject({
      table: first.table,
      owner: first.owner,
      low: first.low,
      high: first.high,
    });
    expect([first.limit, second.limit]).toEqual([few, many]);
    expect(bindings.of("r", hourly).low).not.toBe(first.low);
    expect([...bindings.ofRule("r")]).toHaveLength(2);
  });

  it("asking for them in turn, also under another rule, makes none anew", () => {
    const bindings = new Bindings();
    const all = () => ["r", "s"].flatMap((rule) => [few, many].map((limit) => bindings.of(rule, limit)));
    const first = all();
    for (const [i, binding] of all().entries()) expect(binding).toBe(first[i]);
    expect(first[0]?.table.owners).toHaveLength(2);
  });

  it("a state weighs what the strictest of those who share it says, however many they are and whoever came last", () => {
    const bindings = new Bindings();
    const { table, owner } = bindings.of("r", few);
    const now = 1_700_000_000_000;
    const weightOf = (count: number) =>
      table.owners[owner]?.pressure(Float64Array.of(now + 1, count), 0, now);
    for (let limit = 100; limit < 400; limit++) bindings.of("r", fixedWindow({ limit, window: "1m" }));
    expect(weightOf(5)).toBe(1);
    bindings.of("r", fixedWindow({ limit: 2, window: "1m" }));
    expect(weightOf(5)).toBe(2.5);
    // One made again and again with the same numbers takes no other's place.
    for (let i = 0; i < 100; i++) bindings.of("r", fixedWindow({ limit: 50, window: "1m" }));
    expect(weightOf(5)).toBe(2.5);
  });
});

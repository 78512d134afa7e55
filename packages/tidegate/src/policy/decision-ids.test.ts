import { afterEach, describe, expect, it, vi } from "vitest";
import { decisionIds } from "./decision-ids.js";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("decision ids", () => {
  it("never come twice, and begin with what is the gate's alone", () => {
    const next = decisionIds();
    const ids = Array.from({ length: 100_000 }, next);
    expect(new Set(ids).size).toBe(ids.length);
    const [gate] = (ids[0] as string).split("-");
    expect(gate).toMatch(/^[0-9a-z]{5,}$/);
    expect(ids.every((id) => id.startsWith(`${gate}-`))).toBe(true);
    expect(decisionIds()().startsWith(`${gate}-`)).toBe(false);
  });

  it("wait for random numbers, where there are none yet", () => {
    const next = decisionIds();
    vi.spyOn(crypto, "getRandomValues").mockImplementationOnce(() => {
      throw new Error("not while a module loads");
    });
    expect(next).toThrow("not while a module loads");
    expect([next(), next()]).toEqual([expect.stringMatching(/^\w+-0$/), expect.stringMatching(/^\w+-1$/)]);
  });
});

import { describe, expect, it } from "vitest";
import { createLimiter, memoryStore } from "../index.js";
import { virtualClock } from "../testing/virtual-clock.js";
import { type BackoffOptions, backoff } from "./backoff.js";

const wiki = { levels: 5, limit: 20, base: 8 };

/** A multiple of every window, so that all five start together. */
const together = 32_768_000 * 50_000;

/** The requests, by number, that one a second has refused, with the level that spoke. */
async function refusedOfOneASecond(seconds: number): Promise<[number: number, level: string][]> {
  const clock = virtualClock(together);
  const limiter = createLimiter({ name: "login", limits: backoff(wiki), store: memoryStore({ clock }) });
  const refused: [number, string][] = [];
  for (let number = 1; number <= seconds; number++) {
    const verdict = await limiter.consume("203.0.113.7");
    if (!verdict.allowed) refused.push([number, verdict.name]);
    clock.advance("1s");
  }
  return refused;
}

describe("backoff", () => {
  it("A12: one line gives 20 per 8 s, 40 per 64 s, 60 per 512 s, 80 per 4096 s and 100 per 32768 s", () => {
    expect(backoff(wiki).map(({ kind, limit, windowMs }) => [kind, limit, windowMs / 1000])).toEqual([
      ["fixed-window", 20, 8],
      ["fixed-window", 40, 64],
      ["fixed-window", 60, 512],
      ["fixed-window", 80, 4096],
      ["fixed-window", 100, 32_768],
    ]);
  });

  it("A12: a client at one request a second is first refused at request 41, by level 2", async () => {
    expect((await refusedOfOneASecond(60))[0]).toEqual([41, "login/64"]);
  });

  it("refuses whoever goes on for longer and longer", async () => {
    const refused = await refusedOfOneASecond(32_768);
    const firstOf = (level: string) => refused.find(([, name]) => name === level)?.[0];
    expect(["login/64", "login/512", "login/4096", "login/32768"].map(firstOf)).toEqual([41, 85, 533, 4117]);
    expect(32_768 - refused.length).toBe(100);
  });

  it.each<[option: string, options: Partial<BackoffOptions>]>([
    ["levels", { levels: 0 }],
    ["levels", { levels: 17 }],
    ["levels", { levels: 2.5 }],
    ["levels", { levels: "5" as never }],
    ["limit", { limit: 0 }],
    ["limit", { limit: -20 }],
    ["limit", { limit: Number.NaN }],
    ["limit", { limit: Number.MAX_SAFE_INTEGER }],
    ["base", { base: 1 }],
    ["base", { base: Number.POSITIVE_INFINITY }],
    ["base", { levels: 10, base: 8 }],
  ])("says at once that %s can not be as in %o", (option, options) => {
    expect(() => backoff({ ...wiki, ...options })).toThrow(
      expect.objectContaining({ code: "TG_BACKOFF", path: `backoff.${option}` }),
    );
  });

  it("says at once when an option is misspelt or missing", () => {
    expect(() => backoff({ ...wiki, level: 5 } as never)).toThrow(
      expect.objectContaining({ code: "TG_OPTION_UNKNOWN", path: "backoff.level" }),
    );
    expect(() => backoff({ levels: 5, limit: 20 } as never)).toThrow(
      expect.objectContaining({ code: "TG_BACKOFF", path: "backoff.base" }),
    );
  });

  it("goes up to windows of ten years", () => {
    expect(backoff({ levels: 9, limit: 1, base: 8 }).at(-1)?.windowMs).toBe(134_217_728_000);
  });
});

import { describe, expect, it } from "vitest";
import { type NewcomerCap, newcomerCap } from "./newcomers.js";

const start = 1_700_000_000_000;

/** Once in 500 million a fresh key is taken for a known one: twice in one test is not luck. */
const mistaken = 1;

/** How many of so many fresh keys a block got admitted at this instant. */
function admitted(cap: NewcomerCap, block: string, fresh: number, now: number, label = "k"): number {
  let count = 0;
  for (let i = 0; i < fresh; i++) if (cap.admit(block, `${block}|${label}${now}|${i}`, now)) count++;
  return count;
}

describe("the cap on newcomers", () => {
  it("W23: a million identities of one /48 get at most so many keys a second", () => {
    const cap = newcomerCap({ perSecond: 1000 });
    for (let second = 0; second < 10; second++) {
      const now = start + second * 1000;
      let keys = 0;
      for (let i = 0; i < 100_000; i++) {
        const address = `2001:db8:1:${(i >> 8).toString(16)}::${second}:${i & 255}`;
        if (cap.admit("2001:db8:1::/48", address, now + (i % 1000))) keys++;
      }
      expect(keys).toBeGreaterThanOrEqual(1000);
      expect(keys).toBeLessThanOrEqual(1000 + mistaken);
    }
  });

  it("W23: a thousand other blocks do not feel the flood", () => {
    const cap = newcomerCap({ perSecond: 10 });
    admitted(cap, "2001:db8:1::/48", 100_000, start);
    for (let other = 0; other < 1000; other++) {
      expect(admitted(cap, `198.51.${other}.0/24`, 10, start)).toBe(10);
      expect(admitted(cap, "2001:db8:1::/48", 10, start, "more")).toBe(0);
    }
  });

  it("W23: a known client inside the flooding block keeps its own key", () => {
    const cap = newcomerCap({ perSecond: 1000 });
    const flooding = "2001:db8:1::/48";
    const visit = (now: number) => cap.admit(flooding, "a client", now);
    expect([visit(start - 1000), visit(start)]).toEqual([true, true]);
    for (let now = start; now < start + 300_000; now += 10_000) {
      for (let second = 0; second < 10_000; second += 1000) admitted(cap, flooding, 1100, now + second);
      expect(visit(now + 9999)).toBe(true);
    }
  });

  it("fresh identities wash out each other, not a client that came back, however many blocks they come from", () => {
    const cap = newcomerCap({ perSecond: 1, keys: 4096 });
    cap.admit("home", "a client", start);
    cap.admit("home", "a client", start + 1000);
    for (let i = 0; i < 200_000; i++) cap.admit(`block ${i}`, `fresh ${i}`, start + 2000);
    expect(cap.admit("home", "someone else", start + 2000)).toBe(true);
    expect(cap.admit("home", "a client", start + 2000)).toBe(true);
  });

  it("a client silent for ten minutes is new again", () => {
    const cap = newcomerCap({ perSecond: 1 });
    cap.admit("b", "a client", start);
    const later = start + 601_000;
    expect(cap.admit("b", "someone else", later)).toBe(true);
    expect(cap.admit("b", "a client", later)).toBe(false);
    expect(cap.admit("b", "a client", later + 1000)).toBe(true);
  });

  it("a flooding block can not get its count dropped by bringing more blocks than are counted", () => {
    const cap = newcomerCap({ perSecond: 100, blocks: 8 });
    expect(admitted(cap, "flooding", 500, start)).toBe(100);
    for (let i = 0; i < 10_000; i++) cap.admit(`block ${i}`, `fresh ${i}`, start);
    expect(admitted(cap, "flooding", 500, start, "more")).toBe(0);
  });

  it.each([-86_400_000, -1000, 1000, 86_400_000])("works on when the clock jumps by %i ms", (jump) => {
    const cap = newcomerCap({ perSecond: 5 });
    expect(admitted(cap, "b", 10, start)).toBe(5);
    expect(admitted(cap, "b", 10, start + jump)).toBe(5);
    expect(cap.admit("b", `b|k${start + jump}|0`, start + jump)).toBe(true);
  });

  it.each([0, 0.25, -5000, 2 ** 42, 8.64e15])("works at the instant %d", (now) => {
    const cap = newcomerCap({ perSecond: 5 });
    expect(admitted(cap, "b", 10, now)).toBe(5);
    expect(cap.admit("b", `b|k${now}|0`, now)).toBe(true);
  });

  it("takes any text for a key or a block", () => {
    const cap = newcomerCap({ perSecond: 1 });
    for (const text of ["", "__proto__", "constructor", "\0", "a{b}\n", "é\ud800", "x".repeat(65_536)]) {
      expect(cap.admit(text, text, start)).toBe(true);
      expect(cap.admit(text, text, start)).toBe(true);
      expect(cap.admit(text, `${text} and more`, start)).toBe(false);
    }
  });

  it("takes no fresh key for a known one, although all slots are taken", () => {
    const cap = newcomerCap({ perSecond: 1 });
    for (let i = 0; i < 500_000; i++) cap.admit(`block ${i}`, `known ${i}`, start);
    let admitted = 0;
    for (let i = 0; i < 200_000; i++) if (cap.admit("b", `unknown ${i}`, start)) admitted++;
    expect(admitted).toBeLessThanOrEqual(1 + mistaken);
  });

  it.each([
    { perSecond: 0 },
    { perSecond: 1.5 },
    { perSecond: 1, blocks: -1 },
    { perSecond: 1, keys: Number.NaN },
  ])("says at once that %o can not work", (options) => {
    expect(() => newcomerCap(options)).toThrow(expect.objectContaining({ code: "TG_NEWCOMERS" }));
  });
});

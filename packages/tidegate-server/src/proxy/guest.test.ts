import { describe, expect, it } from "vitest";
import { Guests, shareOf } from "./guest.js";

describe("guests of an origin", () => {
  it("one is the same as long as it has something there, however many others come and go", () => {
    const guests = new Guests();
    const staying = guests.of("stays");
    staying.taken = 1;
    const waiting = guests.of("waits");
    waiting.back = new Set([{} as never]);
    for (let i = 0; i < 10_000; i++) guests.of(`passer-by ${i}`);
    expect(guests.of("stays")).toBe(staying);
    expect(guests.of("waits")).toBe(waiting);
  });

  it("those who have nothing there are let go, a thousand of them stay at most", () => {
    const guests = new Guests();
    for (let i = 0; i < 5_000; i++) guests.of(`stays ${i}`).taken = 1;
    for (let i = 0; i < 100_000; i++) guests.of(`passer-by ${i}`);
    expect(guests.size).toBeGreaterThanOrEqual(5_000);
    expect(guests.size).toBeLessThanOrEqual(6_000);
  });

  it("each has a quarter of the connections, four at least", () => {
    expect([256, 16, 3].map(shareOf)).toEqual([64, 4, 3]);
  });
});

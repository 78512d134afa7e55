import { describe, expect, it } from "vitest";
import { ServerClock } from "./server-clock.js";

const hour = 3_600_000;

describe("the server's clock", () => {
  it("is not known before the server was asked", () => {
    const clock = new ServerClock();
    expect(clock.isKnown).toBe(false);
    clock.learn(1000, 0, 10);
    expect(clock.isKnown).toBe(true);
  });

  it("is never taken to be later than it is, and earlier by no more than a reply travels", () => {
    const clock = new ServerClock();
    const aheadMs = 5 * hour;
    for (const [sent, forth, back] of [
      [0, 5000, 20],
      [6000, 1, 8],
      [7000, 300, 2],
      [8000, 1, 900],
    ] as const) {
      clock.learn(sent + forth + aheadMs, sent, sent + forth + back);
      expect(clock.at(sent)).toBeLessThanOrEqual(sent + aheadMs);
    }
    expect(clock.at(0)).toBe(aheadMs - 2);
  });

  it.each([
    ["forward", hour],
    ["back", -hour],
  ])("set %s by an hour is believed at once", (_, jump) => {
    const clock = new ServerClock();
    clock.learn(1_000_000, 100, 110);
    clock.learn(1_000_100 + jump, 200, 210);
    expect(Math.abs(clock.at(200) - (1_000_100 + jump))).toBeLessThanOrEqual(10);
  });

  it("that drifts is followed", () => {
    const clock = new ServerClock();
    for (const drift of [1.001, 0.999]) {
      for (let sent = 0; sent < 100_000; sent += 100) clock.learn((sent + 1) * drift, sent, sent + 2);
      expect(Math.abs(clock.at(99_900) - 99_900 * drift)).toBeLessThanOrEqual(3);
    }
  });

  it("a call said to be late while there was time is in time when sent again", () => {
    const clock = new ServerClock();
    clock.learn(1000, 0, 10);
    const [sent, received, deadline] = [100, 120, 200];
    const serverNow = 1000 + hour;
    expect(serverNow).toBeGreaterThan(clock.at(deadline));
    clock.learn(serverNow, sent, received);
    expect(clock.at(deadline)).toBe(serverNow + (deadline - received));
  });
});

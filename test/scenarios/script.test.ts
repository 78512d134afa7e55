import { createGate, memoryStore } from "tidegate";
import { virtualClock } from "tidegate/testing";
import { describe, expect, it } from "vitest";
import { play } from "./play.js";
import { durationText, parseScripts } from "./script.js";

const title = "== a title\n";

describe("a script", () => {
  it("says when, what, how often, and what is expected", () => {
    const [script] = parseScripts(`
      # a remark
      == three a minute
      1m30s  POST /login?n={n}  ip=1.2.3.4 ua="two words"  x3 x5 every 1s  -> refused by a/60 for 90s
             ! customer 3 tier pro
    `);
    expect(script?.title).toBe("three a minute");
    expect(script?.lines).toMatchObject([
      {
        atMs: 90_000,
        request: {
          method: "POST",
          path: "/login?n={n}",
          facts: new Map([
            ["ip", "1.2.3.4"],
            ["ua", "two words"],
          ]),
          burst: 3,
          times: 5,
          everyMs: 1000,
        },
        answer: "refused by a/60 for 1m30s",
      },
      { atMs: 90_000, act: ["customer", "3", "tier", "pro"], answer: undefined },
    ]);
  });

  it.each([
    ["GET / -> passes", "no title stands above"],
    [`${title}GET /`, "nothing is expected"],
    [`${title}GET -> passes`, "it has no path"],
    [`${title}GET / twice -> passes`, "a word is not understood"],
    [`${title}GET / every soon -> passes`, "a duration is none"],
  ])("is refused when it can not be followed: %j, for %s", (text) => {
    expect(() => parseScripts(text)).toThrow(SyntaxError);
  });

  it("has durations in one spelling", () => {
    expect([0, 1, 1000, 90_061_001, Number.POSITIVE_INFINITY].map(durationText)).toEqual([
      "0s",
      "1ms",
      "1s",
      "1d1h1m1s1ms",
      "ever",
    ]);
  });

  it("that promises too much is found out", async () => {
    const clock = virtualClock();
    const store = memoryStore({ clock });
    const gate = createGate({ store, clock, rules: [{ name: "a", by: "ip", limits: ["2 per minute"] }] });
    const [script] = parseScripts(`${title}GET / x5 -> passes`);
    const [line] = script?.lines ?? [];
    const answer = line && (await play(line, { gate, clock, startMs: 0, policy: () => gate.policy }));
    expect(answer).toBe("2 passes; 3 refused by a/60 for 1m");
    await gate.close();
  });
});

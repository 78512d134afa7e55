import { describe, expect, expectTypeOf, it } from "vitest";
import { type Duration, parseDuration, parseRate, type RateText } from "./duration.js";
import { ConfigError } from "./errors.js";

const day = 86_400_000;

describe("durations", () => {
  it.each<[Duration, number]>([
    ["250ms", 250],
    ["10s", 10_000],
    ["5m", 300_000],
    ["1h", 3_600_000],
    ["1d", day],
    ["1w", 7 * day],
    ["1.5s", 1500],
    ["1.1s", 1100],
    ["0.001s", 1],
    [1, 1],
    ["400d", 400 * day],
    ["3650d", 3650 * day],
  ])("%s is %d ms", (duration, ms) => {
    expect(parseDuration(duration, "window")).toBe(ms);
  });

  it.each([
    "",
    "1",
    "s",
    "1 h",
    "1H",
    "-1s",
    "+1s",
    "1e3s",
    "1s ",
    "1s\n",
    "0s",
    "0.5ms",
    "0.0001s",
    "1hour",
    "1.s",
    ".5s",
    "١s",
    "constructor",
    "9".repeat(400),
    `${"9".repeat(15)}w`,
    "3651d",
    0,
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 53,
    true,
    null,
    undefined,
    {},
    [],
    [1000],
    10n,
    new Date(1000),
    () => 1000,
    Symbol("1s"),
  ])("%o is refused, by path and value, and says what to write", (value) => {
    const parse = () => parseDuration(value as Duration, "slidingLog.window");
    expect(parse).toThrow(ConfigError);
    expect(parse).toThrow(
      expect.objectContaining({
        code: "TG_DURATION",
        path: "slidingLog.window",
        help: expect.stringContaining('"10s"'),
      }),
    );
    expect(parse).toThrow(/^slidingLog\.window: .* is not a duration\. /);
  });

  it("a hostile text is refused at once and not repeated in full", () => {
    const hostile = `${"1".repeat(100_000)}x`;
    const began = performance.now();
    expect(() => parseDuration(hostile as Duration, "w")).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("1".repeat(100)) }),
    );
    expect(performance.now() - began).toBeLessThan(1000);
  });

  it("a typo does not compile", () => {
    expectTypeOf<"10s">().toExtend<Duration>();
    expectTypeOf<1500>().toExtend<Duration>();
    expectTypeOf<"10 seconds">().not.toExtend<Duration>();
    expectTypeOf<"10x">().not.toExtend<Duration>();
    // @ts-expect-error a year is not one of the units
    expect(() => parseDuration("1y", "w")).toThrow("TG_DURATION");
  });
});

describe("rates", () => {
  it.each<[RateText, number, number]>([
    ["100 per hour", 100, 3_600_000],
    ["300 per 5m", 300, 300_000],
    ["10/day", 10, day],
    ["10/1d", 10, day],
    ["0.5 per second", 0.5, 1000],
    ["0 per minute", 0, 60_000],
    ["7 per week", 7, 7 * day],
    ["1 per 250ms", 1, 250],
    ["1/s", 1, 1000],
    ["5 per m", 5, 60_000],
    ["5 per 10 minutes", 5, 600_000],
    ["5 per 1 minute", 5, 60_000],
    ["5/2 weeks", 5, 14 * day],
    ["5 per 1.5 hours", 5, 5_400_000],
  ])("%s is %d in %d ms", (text, amount, perMs) => {
    expect(parseRate(text, "limit")).toEqual({ amount, perMs });
  });

  it.each([
    "",
    "100",
    "per hour",
    "100 per",
    "100 per huor",
    "100 per hours",
    "100 per 2 constructors",
    "100 per 5  minutes",
    "100 per 5minutes",
    "100 per minutes 5",
    "100 per 0 minutes",
    "100 per 5 m",
    "100 per 5 minutess",
    "100 per constructor",
    "100 per __proto__",
    "100  per hour",
    "100 per  hour",
    "-1 per hour",
    "NaN per hour",
    "Infinity per hour",
    "1e9 per hour",
    "0x10 per hour",
    "100 per 0s",
    "100 per 0.5ms",
    "100/hour/day",
    "100 / hour",
    "100 PER HOUR",
    "100 per hour\n",
    100,
    null,
    undefined,
    {},
    ["100 per hour"],
  ])("%o is refused, by path and value, and says what to write", (text) => {
    const parse = () => parseRate(text as RateText, "createLimiter.limit");
    expect(parse).toThrow(ConfigError);
    expect(parse).toThrow(expect.objectContaining({ path: "createLimiter.limit", help: expect.any(String) }));
  });

  it("a typo does not compile", () => {
    expectTypeOf<"100 per hour">().toExtend<RateText>();
    expectTypeOf<"300 per 5m">().toExtend<RateText>();
    expectTypeOf<"10/day">().toExtend<RateText>();
    expectTypeOf<"100 per huor">().not.toExtend<RateText>();
    expectTypeOf<"100 per 5 minutes">().toExtend<RateText>();
    expectTypeOf<"100 hour">().not.toExtend<RateText>();
    expectTypeOf<"many per hour">().not.toExtend<RateText>();
    // @ts-expect-error huor is not one of the units
    expect(() => parseRate("100 per huor", "limit")).toThrow("TG_RATE");
  });
});

import { describe, expect, it } from "vitest";
import { fixedWindow } from "./algorithms/fixed-window/fixed-window.js";
import {
  type Check,
  levelName,
  validateChecks,
  validateCost,
  validateKey,
  validateRuleName,
} from "./check.js";
import { ConfigError } from "./errors.js";
import { hostileKeys } from "./testing/store-contract.js";

const minute = fixedWindow({ limit: 5, window: "1m" });
const hour = fixedWindow({ limit: 5, window: "1h" });
const check = (changes: Partial<Check> = {}): Check => ({ rule: "r", key: "k", limit: minute, ...changes });

describe("keys", () => {
  it("any text but the empty one will do", () => {
    for (const key of hostileKeys) expect(() => validateKey(key)).not.toThrow();
  });

  it.each([
    "",
    undefined,
    null,
    0,
    7,
    Number.NaN,
    true,
    {},
    [],
    ["k"],
    1n,
    Symbol("k"),
    () => "k",
    new String("k"),
  ])("%o is refused by name", (key) => {
    expect(() => validateKey(key)).toThrow(TypeError);
    expect(() => validateKey(key)).toThrow(/^key: .*non-empty string/);
  });
});

describe("costs", () => {
  it.each([1, 0.1, Number.MIN_VALUE, 1e9, Number.MAX_SAFE_INTEGER])("%d is one", (cost) => {
    expect(() => validateCost(cost)).not.toThrow();
  });

  it.each([
    0,
    -0,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    2 ** 53,
    1e300,
    "1",
    null,
    undefined,
    {},
    [1],
    1n,
    true,
  ])("%o is refused by name", (cost) => {
    expect(() => validateCost(cost)).toThrow(TypeError);
    expect(() => validateCost(cost)).toThrow(/^cost: .*above 0.*peek/);
  });
});

describe("rule names", () => {
  it.each(["a", "req/ip", "a:b", "100%", "constructor", "__proto__", "x".repeat(64), " "])(
    "%s is one",
    (name) => {
      expect(() => validateRuleName(name, "name")).not.toThrow();
    },
  );

  it.each([
    "",
    "x".repeat(65),
    "new\nline",
    "tab\t",
    "nul\0",
    "é",
    "\u007f",
    "a\r\nSet-Cookie: b",
    undefined,
    null,
    7,
    {},
    ["a"],
  ])("%o is refused with path, code and fix", (name) => {
    const validate = () => validateRuleName(name, "rules[3].name");
    expect(validate).toThrow(ConfigError);
    expect(validate).toThrow(
      expect.objectContaining({
        code: "TG_NAME",
        path: "rules[3].name",
        help: expect.stringContaining("64"),
      }),
    );
  });
});

describe("checks of one decision", () => {
  it("may ask about one key by several windows, and about several keys", () => {
    expect(() =>
      validateChecks([
        check(),
        check({ limit: hour }),
        check({ key: "other" }),
        check({ rule: "other", cost: 3 }),
      ]),
    ).not.toThrow();
  });

  it("may be 255 at most", () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => check({ key: `k${i}` }));
    expect(() => validateChecks(many(255))).not.toThrow();
    expect(() => validateChecks(many(256))).toThrow(
      expect.objectContaining({ code: "TG_CHECKS_MANY", path: "checks" }),
    );
  });

  it("may not ask twice by one window", () => {
    expect(() =>
      validateChecks([check(), check({ limit: fixedWindow({ limit: 9, window: 60_000 }) })]),
    ).toThrow(expect.objectContaining({ code: "TG_CHECK_TWICE", path: "checks[1]" }));
  });

  it.each([{ cost: 2 }, { id: "x" }, { shadow: true }])("may not differ in %o", (difference) => {
    expect(() => validateChecks([check(), check({ limit: hour, ...difference })])).toThrow(
      expect.objectContaining({ code: "TG_CHECKS_DIFFER", path: "checks[1]" }),
    );
  });
});

describe("the name of a level", () => {
  it.each([
    [300_000, "r/300"],
    [250, "r/0.25"],
    [1, "r/0.001"],
    [400 * 86_400_000, "r/34560000"],
  ])("a window of %d ms is %s", (window, name) => {
    expect(levelName("r", fixedWindow({ limit: 1, window }))).toBe(name);
  });
});

import { describe, expect, it } from "vitest";
import { customerOf, entryOf, entryText } from "./records.js";

describe("a list entry", () => {
  it("comes back as it was written", () => {
    const entry = { address: "192.0.2.1", who: "ann", why: 'said "no"', until: 5 };
    expect(entryOf("192.0.2.1", entryText(entry), 5)).toEqual(entry);
    expect(entryOf("192.0.2.1", entryText({ address: "192.0.2.1" }), undefined)).toEqual({
      address: "192.0.2.1",
    });
  });

  it.each([
    ["", {}],
    ["1", { why: "1" }],
    ["true", { why: "true" }],
    ['["who"]', { why: '["who"]' }],
    ["{oops", { why: "{oops" }],
    ['{"who":5,"why":null}', {}],
    ["x".repeat(1000), { why: "x".repeat(500) }],
  ])("made by another hand with %j is an entry all the same", (text, note) => {
    expect(entryOf("192.0.2.1", text, undefined)).toEqual({ address: "192.0.2.1", ...note });
  });
});

describe("a customer", () => {
  const fields = (object: Record<string, string>) => new Map(Object.entries(object));

  it("with neither tier nor limits is none", () => {
    expect(customerOf(undefined, new Map()).record).toBeUndefined();
    expect(customerOf("", new Map()).record).toBeUndefined();
  });

  it("may have only one of them", () => {
    expect(customerOf("pro", new Map()).record).toEqual({ tier: "pro" });
    expect(customerOf(undefined, fields({ 60: "0" })).record).toEqual({ limits: new Map([[60, 0]]) });
  });

  it("keeps the fields that say something, and names the others", () => {
    const { record, malformed } = customerOf(
      undefined,
      fields({
        60: "100",
        "0": "1",
        "-1": "1",
        "1.5": "1",
        day: "1",
        3600: "lots",
        86400: "-1",
        999999999: "1",
        120: "",
      }),
    );
    expect(record).toEqual({ limits: new Map([[60, 100]]) });
    expect(malformed).toHaveLength(8);
  });
});

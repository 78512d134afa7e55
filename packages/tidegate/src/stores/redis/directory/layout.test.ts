import { describe, expect, it } from "vitest";
import { layoutOf, literally, type Templates } from "./layout.js";

const seeds: Templates = {
  safelist: "safelist:<ip>",
  blocklist: "blocklist:<ip>",
  tier: "customer:<id>:tier_redis",
  limits: "customer:<id>:throttle_hash",
};

describe("keys", () => {
  it("are where the manual says, under the prefix", () => {
    const layout = layoutOf("tg", {});
    expect(layout.entryKey("safelist", "10.0.0.0/8")).toBe("tg:safelist:10.0.0.0/8");
    expect(layout.entryKey("blocklist", "2001:db8::1")).toBe("tg:blocklist:2001:db8::1");
    expect(layout.tierKey("42")).toBe("tg:customer:42:tier");
    expect(layout.limitsKey("org:42")).toBe("tg:customer:org:42:limits");
  });

  it("are where the seeds have them when the templates say so", () => {
    const layout = layoutOf("tg", seeds);
    expect(layout.entryKey("blocklist", "45.0.186.198")).toBe("blocklist:45.0.186.198");
    expect(layout.tierKey("3")).toBe("customer:3:tier_redis");
    expect(layout.limitsKey("3")).toBe("customer:3:throttle_hash");
    expect(layout.prefixes).toEqual(["safelist:", "blocklist:", "customer:"]);
  });

  it.each(["42", "a:tier", "a:limits", "%41", "a{b}", "\u0000", "new\nline", "é", "*?[a]", "__proto__"])(
    "of customer %j are his alone, and name him again",
    (id) => {
      const layout = layoutOf("tg", {});
      expect(layout.named(layout.tierKey(id))).toEqual({ customer: id });
      expect(layout.named(layout.limitsKey(id))).toEqual({ customer: id });
      expect(layout.tierKey(id)).not.toMatch(/[{}]/);
    },
  );

  it("of a customer with a very long id name somebody, nobody knows whom", () => {
    const layout = layoutOf("tg", {});
    const key = layout.tierKey("x".repeat(65_536));
    expect(key.length).toBeLessThan(100);
    expect(layout.named(key)).toEqual({ customer: undefined });
  });

  it.each([
    "tg:{k}:safelist",
    "tg:safelist",
    "tg:safelist:",
    "tg:customer::tier",
    "tg:customer:42",
    "tg:customer:42:tiers",
    "tg:customer:50%:tier",
    "tg:customer:a{b}:tier",
    "tg:customer:%2a:tier",
    "other:safelist:192.0.2.1",
  ])("%s, which nobody here writes, is about nothing", (key) => {
    expect(layoutOf("tg", {}).named(key)).toBeUndefined();
  });
});

describe("what is tracked and searched for", () => {
  it("the tracked prefixes take in all records and no counter, and none begins with another", () => {
    expect(layoutOf("tg", {}).prefixes).toEqual(["tg:safelist:", "tg:blocklist:", "tg:customer:"]);
    const nested = layoutOf("tg", { safelist: "l:<ip>:safe", blocklist: "l:b:<ip>:block" });
    expect(nested.prefixes).toEqual(["l:", "tg:customer:"]);
  });

  it("one pattern finds both lists and passes the counters by", () => {
    expect(layoutOf("tg", {}).entryPattern).toBe("tg:[sb]*");
    expect(layoutOf("tg", seeds).entryPattern).toBe("[sb]*");
    expect(layoutOf("tg", { safelist: "l:<ip>:safe", blocklist: "l:<ip>:block" }).entryPattern).toBe("l:*");
  });

  it("glob characters of a template stand for themselves", () => {
    expect(literally("a*b?[c]\\^-")).toBe("a\\*b\\?\\[c\\]\\\\\\^\\-");
    expect(layoutOf("tg", { safelist: "*-<ip>", blocklist: "*]<ip>" }).entryPattern).toBe("\\*[\\-\\]]*");
  });
});

describe("templates that can not work are refused by name", () => {
  it.each<[string, Templates]>([
    ["safelist", { safelist: "safelist:" }],
    ["safelist", { safelist: "<ip>" }],
    ["safelist", { safelist: "a:<ip>:<ip>" }],
    ["safelist", { safelist: "safelist:<id>" }],
    ["blocklist", { blocklist: "block list:<ip>" }],
    ["blocklist", { blocklist: "" }],
    ["tier", { tier: 5 as never }],
    ["tier", { tier: `${"x".repeat(200)}<id>` }],
    ["limits", { limits: "tg:<id>" }],
    ["limits", { limits: "tg:{<id>}" }],
    ["limits", { limits: "tg:safe<id>" }],
    ["limits", { tier: "c:<id>", limits: "c:<id>:limits" }],
    ["blocklist", { safelist: "l:<ip>", blocklist: "l:<ip>" }],
    ["tier", { safelist: "tg:customer:<ip>" }],
  ])("%s in %j", (kind, templates) => {
    expect(() => layoutOf("tg", templates)).toThrow(
      expect.objectContaining({ code: "TG_TEMPLATE", path: `redisDirectory.templates.${kind}` }),
    );
  });
});

import { describe, expect, it } from "vitest";
import { planShard } from "./plan-shard.js";
import { shardDigits, shardOf } from "./shards.js";

const key = (digit: string): string => digit.padEnd(64, "0");
const now = 1_000_000_000;
const later = now + 60_000;
const seconds = String(later / 1_000);
const ended = String(now / 1_000 - 5);

function plan(items: Record<string, string>, wish: { remove?: string[]; put?: string[] }, maxItems = 3) {
  const place = { items: new Map(Object.entries(items)), shard: 0, shards: 2, maxItems, name: "tidegate_0" };
  const put = (wish.put ?? []).map((each) => ({ key: each, until: later }));
  const { ops, refused } = planShard({ remove: wish.remove ?? [], put }, place, now);
  return {
    ops: ops.map(({ op, item_key }) => `${op} ${item_key.replace(/0+$/, "")}`),
    refused: refused.map(({ why }) => why),
  };
}

describe("what is written to one dictionary", () => {
  it.each([
    ["nothing wished, nothing written", {}, {}, [], []],
    ["an entry", {}, { put: [key("1")] }, ["upsert 1"], []],
    ["what stands there already is not written", { [key("1")]: seconds }, { put: [key("1")] }, [], []],
    ["another end is", { [key("1")]: "5000000" }, { put: [key("1")] }, ["upsert 1"], []],
    [
      "removals come first",
      { [key("2")]: seconds },
      { remove: [key("2")], put: [key("1")] },
      ["delete 2", "upsert 1"],
      [],
    ],
    ["only what is there is removed", {}, { remove: [key("2")] }, [], []],
    [
      "what is removed and put is put",
      { [key("1")]: "5000000" },
      { remove: [key("1")], put: [key("1")] },
      ["upsert 1"],
      [],
    ],
    [
      "somebody else's is neither",
      { [key("1")]: "true", [key("2")]: "x" },
      { remove: [key("2")], put: [key("1")] },
      [],
      ["somebody else's entry stands there"],
    ],
    [
      "a full one takes no more",
      { a: "", b: "", c: "" },
      { put: [key("1")] },
      [],
      ["its dictionary tidegate_0 is full (3 items)"],
    ],
    ["but a longer end", { a: "", b: "", [key("1")]: "5000000" }, { put: [key("1")] }, ["upsert 1"], []],
    [
      "who has ended makes room",
      { a: "", b: "", [key("2")]: ended },
      { put: [key("1")] },
      ["delete 2", "upsert 1"],
      [],
    ],
    [
      "who is not found here makes room",
      { a: "", b: "", [key("f")]: seconds },
      { put: [key("1")] },
      ["delete f", "upsert 1"],
      [],
    ],
    ["who has ended goes along", { [key("2")]: ended }, { put: [key("1")] }, ["upsert 1", "delete 2"], []],
    ["but costs no write of its own", { [key("2")]: ended }, {}, [], []],
  ])("%s", (_, items, wish, ops, refused) => {
    expect(plan(items as Record<string, string>, wish)).toEqual({ ops, refused });
  });
});

describe("dictionaries", () => {
  it("every first digit is in one of them, the same for the VCL", () => {
    for (const shards of [1, 2, 4, 8, 16])
      for (const digit of "0123456789abcdef") {
        const shard = shardOf(key(digit), shards);
        const found = Array.from({ length: shards }, (_, i) => i).filter((i) =>
          new RegExp(shardDigits(i, shards)).test(digit),
        );
        expect(found).toEqual([shard]);
      }
  });

  it("an address is found by its SHA-256", () => {
    expect(shardOf("192.0.2.66", 16)).toBe(0xa);
    expect(shardOf("2001:db8::/64", 1)).toBe(0);
  });
});

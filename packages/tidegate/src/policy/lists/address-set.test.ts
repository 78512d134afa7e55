import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ListEntry } from "../../directory.js";
import { type Address, type Block, blockCovers, parseAddress, parseBlock } from "../identity/address.js";
import { type AddressSet, addressSet } from "./address-set.js";
import { blockHash } from "./block-hash.js";

function block(text: string): Block {
  return parseBlock(text) as Block;
}

function ip(text: string): Address {
  return parseAddress(text) as Address;
}

function setOf(entries: Record<string, Partial<ListEntry>>): AddressSet {
  const set = addressSet();
  for (const [address, rest] of Object.entries(entries)) set.add(block(address), { address, ...rest });
  return set;
}

describe("addressSet", () => {
  it("finds an address by itself and by every block that covers it, the smallest first", () => {
    const set = setOf({
      "10.0.0.0/8": {},
      "10.1.0.0/16": {},
      "10.1.2.3": {},
      "2001:db8::/32": {},
      "::/0": {},
    });
    expect(set.find(ip("10.1.2.3"), 0)?.address).toBe("10.1.2.3");
    expect(set.find(ip("10.1.2.4"), 0)?.address).toBe("10.1.0.0/16");
    expect(set.find(ip("::ffff:10.2.0.1"), 0)?.address).toBe("10.0.0.0/8");
    expect(set.find(ip("11.0.0.1"), 0)).toBeUndefined();
    expect(set.find(ip("2001:db8:9::1"), 0)?.address).toBe("2001:db8::/32");
    expect(set.find(ip("fe80::1"), 0)?.address).toBe("::/0");
  });

  it("an entry is in force until its end and not at it", () => {
    const set = setOf({ "203.0.113.7": { until: 1000 } });
    expect(set.find(ip("203.0.113.7"), 999.9)?.until).toBe(1000);
    expect(set.find(ip("203.0.113.7"), 1000)).toBeUndefined();
  });

  it("what has ended is dropped when met, and gives way to a larger block still in force", () => {
    const set = setOf({
      "203.0.113.7": { until: 1000 },
      "203.0.113.0/28": { until: 500 },
      "203.0.113.0/24": { until: 2000 },
    });
    expect(set.find(ip("203.0.113.7"), 1500)?.address).toBe("203.0.113.0/24");
    expect(set.size).toBe(1);
  });

  it("a block added again replaces its entry", () => {
    const set = setOf({ "203.0.113.7": { until: 1000, who: "ann" } });
    set.add(block("203.0.113.7/32"), { address: "203.0.113.7", who: "bob" });
    expect(set.size).toBe(1);
    expect(set.find(ip("203.0.113.7"), 5000)?.who).toBe("bob");
  });

  it("removing says whether there was one, and leaves neighbours alone", () => {
    const set = setOf({ "2001:db8::/64": {}, "2001:db8:0:1::/64": {}, "2001:db8::/32": {} });
    expect(set.remove(block("2001:db8::/64"), "2001:db8::/64")).toBe(true);
    expect(set.remove(block("2001:db8::/64"), "2001:db8::/64")).toBe(false);
    expect(set.remove(block("2001:db8::/48"), "2001:db8::/48")).toBe(false);
    expect(set.find(ip("2001:db8::1"), 0)?.address).toBe("2001:db8::/32");
    expect(set.find(ip("2001:db8:0:1::1"), 0)?.address).toBe("2001:db8:0:1::/64");
    set.clear();
    expect(set.size).toBe(0);
    expect(set.find(ip("2001:db8::1"), 0)).toBeUndefined();
  });

  it("short-lived entries that nobody asks for do not pile up", () => {
    const set = addressSet();
    for (let i = 0; i < 20_000; i++) {
      const address = i % 2 ? `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` : `2001:db8::${i.toString(16)}`;
      set.add(block(address), { address, until: i + 100 }, i);
      expect(set.size).toBeLessThanOrEqual(1024);
    }
  });

  it("entries in force are never swept away, however many", () => {
    const set = addressSet();
    const addresses = Array.from({ length: 30_000 }, (_, i) =>
      i % 3 ? `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` : `2001:db8:${i.toString(16)}::/48`,
    );
    for (const address of addresses) set.add(block(address), { address, until: 10 }, 5);
    expect(set.size).toBe(30_000);
    expect(addresses.filter((address) => set.find(block(address).address, 9)?.address !== address)).toEqual(
      [],
    );
  });

  it("addresses with the same hash are kept apart, and go one by one", () => {
    const addresses = colliding(4);
    expect(new Set(addresses.map((address) => blockHash(address, 128))).size).toBe(1);
    const names = ["first", "second", "third", "fourth"];
    for (const gone of addresses.keys()) {
      const set = addressSet();
      const found = () => addresses.map((address) => set.find(address, 5)?.address);
      addresses.forEach((address, i) => {
        set.add({ address, prefix: 128 }, { address: names[i] as string });
        expect(found()).toEqual(names.map((name, n) => (n <= i ? name : undefined)));
      });
      const going: Block = { address: addresses[gone] as Address, prefix: 128 };
      set.add(going, { address: names[gone] as string, until: 5 });
      expect(found()).toEqual(names.map((name, n) => (n === gone ? undefined : name)));
      expect(set.size).toBe(3);
      expect(set.remove(going, names[gone] as string)).toBe(false);
    }
  });

  it("behaves like a list searched from end to end", () => {
    const address = fc
      .tuple(fc.constantFrom("10.0", "10.128", "2001:db8:", "2001:db8:8000:"), fc.nat(3), fc.nat(3))
      .map(([head, x, y]) => (head.includes(":") ? `${head}${x}::${y}` : `${head}.${x}.${y}`));
    const prefix = fc.constantFrom(0, 8, 9, 16, 24, 30, 31, 32, 33, 48, 64, 96, 126, 127, 128);
    const act = fc.record({
      kind: fc.constantFrom("add", "add", "remove", "find", "find"),
      address,
      prefix,
      lasts: fc.option(fc.nat(20), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 120 }), (acts) => {
        const set = addressSet();
        const model = naiveSet();
        acts.forEach(({ kind, address: text, prefix: bits, lasts }, now) => {
          const at = block(`${text}/${text.includes(":") ? bits : bits % 33}`);
          const entry = { address: text, ...(lasts !== undefined && { until: now + lasts }) };
          if (kind === "find") expect(set.find(ip(text), now)).toBe(model.find(ip(text), now));
          else if (kind === "add") {
            set.add(at, entry, now);
            model.add(at, entry);
          } else {
            set.remove(at, text);
            model.remove(at, text);
          }
        });
      }),
      { numRuns: 300 },
    );
  });
});

/** Addresses with the same hash: the third word undoes what the first two did to it. */
function colliding(count: number): Address[] {
  return Array.from({ length: count }, (_, b) => {
    const start: Address = { version: 6, a: 0x20010db8, b, c: 0, d: 1 };
    return { ...start, c: blockHash(start, 64) >>> 0 };
  });
}

function naiveSet() {
  let held: { block: Block; entry: ListEntry }[] = [];
  const endOf = ({ entry }: (typeof held)[number]) => entry.until ?? Number.POSITIVE_INFINITY;
  const isSame = (one: Block, other: Block) => one.prefix === other.prefix && blockCovers(one, other.address);
  return {
    add(at: Block, entry: ListEntry) {
      this.remove(at, entry.address);
      held.push({ block: at, entry });
    },
    remove(at: Block, spelling: string) {
      held = held.filter(({ block, entry }) => !isSame(block, at) || entry.address !== spelling);
    },
    find(address: Address, now: number): ListEntry | undefined {
      return held
        .filter((each) => blockCovers(each.block, address))
        .filter(({ entry }) => entry.until === undefined || entry.until > now)
        .reverse()
        .sort(
          (one, other) =>
            other.block.prefix - one.block.prefix ||
            (endOf(other) > endOf(one) ? 1 : endOf(one) > endOf(other) ? -1 : 0),
        )[0]?.entry;
    },
  };
}

import { describe, expect, it } from "vitest";
import type { Offender } from "../offenders.js";
import { overlapTest } from "./address-overlap.js";
import { keyTest, type WantedOptions, wantedAt } from "./wanted.js";

const now = 1_000_000;
const digest = (i: number): string => i.toString(16).padStart(64, "0");

function offender(key: string, facts: Partial<Offender> = {}): Offender {
  return {
    key,
    rule: "r",
    crossedAt: now,
    until: now + 60_000,
    score: 1,
    leaked: 0,
    edges: [],
    about: {},
    ...facts,
  };
}

function wanted(offenders: readonly Offender[], options: Partial<WantedOptions> = {}) {
  return wantedAt({
    edge: "front",
    knows: keyTest({ takes: () => true }),
    maxEntries: 1_000,
    foreign: 0,
    offenders,
    cleared: new Set(),
    isCleared: () => false,
    quarantined: new Set(),
    isSpared: () => false,
    now,
    ...options,
  });
}

const keys = ({ entries }: ReturnType<typeof wanted>): string[] => [...entries.keys()];

describe("who goes to an edge", () => {
  it("of several rules that hold one key the longest end and the highest score count", () => {
    const { entries } = wanted([
      offender("203.0.113.7", { rule: "a", until: now + 10_000, score: 9 }),
      offender("203.0.113.7", { rule: "b", until: now + 90_000, score: 2 }),
    ]);
    expect(entries.get("203.0.113.7")).toMatchObject({ until: now + 90_000, score: 9, rule: "b" });
  });

  it("nobody whose hold has ended, who is cleared, whose key was refused, or whose rule feeds other edges", () => {
    const all = [
      offender(digest(1), { until: now }),
      offender(digest(2)),
      offender(digest(3)),
      offender(digest(4), { edges: ["other"] }),
      offender(digest(5), { edges: ["other", "front"] }),
    ];
    expect(keys(wanted(all, { cleared: new Set([digest(2)]), quarantined: new Set([digest(3)]) }))).toEqual([
      digest(5),
    ]);
  });

  it("no key that is neither a canonical address nor a digest, whoever put it among the offenders", () => {
    const bad = [
      "user:42",
      "",
      "A".repeat(64),
      "203.0.113.07",
      "2001:DB8::1",
      "2001:db8:0::1",
      "1.2.3.4 x",
      "999.1.1.1",
    ];
    const { entries, unknowable } = wanted([...bad.map((key) => offender(key)), offender("2001:db8::1")]);
    expect([...entries.keys()]).toEqual(["2001:db8::1"]);
    expect([...unknowable]).toEqual(bad);
  });

  it("when there is no room the worst stay, of equals those held longest; others' entries take room", () => {
    const all = [
      offender(digest(1), { score: 5 }),
      offender(digest(2), { score: 1, until: now + 90_000 }),
      offender(digest(3), { score: 1, until: now + 30_000 }),
      offender(digest(4), { score: 7 }),
    ];
    const full = wanted(all, { maxEntries: 5, foreign: 2 });
    expect(keys(full).sort()).toEqual([1, 2, 4].map(digest));
    expect([...full.evicted]).toEqual([digest(3)]);
    expect(keys(wanted(all, { maxEntries: 5, foreign: 9 }))).toEqual([]);
  });

  it("a key shared with a spared client is spared", () => {
    const isSpared = overlapTest(["198.51.100.0/24"]);
    const all = [
      offender(digest(1), { about: { ip: "198.51.100.1" } }),
      offender(digest(1), { rule: "other", about: {} }),
      offender(digest(2), { about: { ip: "203.0.113.1" } }),
    ];
    const { entries, spared } = wanted(all, { isSpared });
    expect([...entries.keys()]).toEqual([digest(2)]);
    expect([...spared]).toEqual([digest(1)]);
  });
});

describe("addresses in common", () => {
  it.each([
    ["10.0.0.1", ["10.0.0.0/8"], true],
    ["11.0.0.1", ["10.0.0.0/8"], false],
    ["10.0.0.0/24", ["10.0.0.0/8"], true],
    ["10.0.0.0/8", ["10.1.2.3"], true],
    ["11.0.0.0/8", ["10.1.2.3"], false],
    ["2001:db8:1:2::/64", ["2001:db8:1:2::77"], true],
    ["2001:db8:1:2::/64", ["2001:db8:1::/48"], true],
    ["2001:db8:1:2::/64", ["2001:db8:1:3::/64"], false],
    ["2001:db8::1", ["10.0.0.0/8"], false],
    ["192.168.0.0/15", ["private"], true],
    ["127.0.0.1", ["loopback"], true],
    ["::/16", ["loopback"], true],
    ["0.0.0.0/0", ["192.0.2.1"], true],
    ["fe80::/10", ["linklocal"], true],
    ["8.8.8.8", ["private"], false],
    ["not an address", ["private"], false],
    ["203.0.113.7", [], false],
  ] as const)("%s and %j: %s", (address, written, expected) => {
    expect(overlapTest(written)(address)).toBe(expected);
  });
});

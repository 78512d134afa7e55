import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatHeldFile, isHeldKey, parseHeldFile } from "./held-file.js";

const epoch = "01234567-89ab-cdef-0123-456789abcdef";
const now = 1_700_000_000;
const later = now + 600;

function written(text: string, ours: readonly (readonly [string, number])[]): string {
  return formatHeldFile({ ...parseHeldFile(text), ours: new Map(ours), epoch }, now);
}

describe("the file of held addresses", () => {
  it("holds an address, its end and its end as a date, for nginx to say", () => {
    expect(written("", [["203.0.113.7", later]])).toBe(
      `# tidegate ${epoch}: the lines below are written by tidegate, others are left alone\n203.0.113.7 "1700000600 Tue, 14 Nov 2023 22:23:20 GMT";\n`,
    );
  });

  it("is read back as it was written", () => {
    const ours = [
      ["203.0.113.7", later],
      ["2001:db8:1:2::/64", later + 5],
      ["2001:db8:1:2::7", later + 1],
      ["198.51.100.7", later + 2],
      ["198.51.100.128/25", later + 3],
    ] as const;
    const text = written("198.51.100.0/24 true;\n", ours);
    const read = parseHeldFile(text);
    expect([...read.ours]).toEqual(ours);
    expect(read.epoch).toBe(epoch);
    expect([...read.foreign]).toEqual([["198.51.100.0/24", "true"]]);
    expect(written(text, ours)).toBe(text);
  });

  it("leaves out what has ended", () => {
    expect([...parseHeldFile(written("", [["203.0.113.7", now]])).ours]).toEqual([]);
  });

  it("an address stays as long as the blocks around it, and keeps its own end beside", () => {
    const text = written("198.51.100.0/24 true;\n192.0.2.0/24 other;\n", [
      ["203.0.113.7", later],
      ["203.0.113.0/24", later + 60],
      ["203.0.0.0/16", later + 30],
      ["203.0.113.8", later + 90],
      ["198.51.100.7", later],
      ["192.0.2.7", later],
    ]);
    const lines = text.split("\n").slice(3);
    expect(lines.map((line) => line.replace(/ \w{3}, [^"]*/, ""))).toEqual([
      '203.0.113.7 "1700000660"; # 1700000600',
      '203.0.113.0/24 "1700000660";',
      '203.0.0.0/16 "1700000630";',
      '203.0.113.8 "1700000690";',
      "198.51.100.7 true; # 1700000600",
      '192.0.2.7 "1700000600";',
      "",
    ]);
  });

  it.each([
    ["203.0.113.7 true;", "203.0.113.7"],
    ["  203.0.113.7\ttrue ; # ours", "203.0.113.7"],
    ["2001:DB8::0:7 1;", "2001:db8::7"],
    ['203.0.113.7 "until monday";', "203.0.113.7"],
    ["default 0; ::ffff:203.0.113.7 x;", "203.0.113.7"],
    ["203.0.113.7 true", undefined],
    ["# 203.0.113.7 true;", undefined],
    ["include others.conf;", undefined],
    ["", undefined],
  ])("%j is somebody else's", (line, key) => {
    const { ours, foreign } = parseHeldFile(`${line}\n`);
    expect(ours.size).toBe(0);
    expect([...foreign.keys()]).toEqual(key === undefined ? [] : [key]);
    expect(written(`${line}\n`, [["192.0.2.1", later]]).startsWith(`${line}\n# tidegate `)).toBe(true);
  });

  it("where somebody else's entry stands, ours gives way", () => {
    const text = `${written("", [["203.0.113.7", later]])}203.0.113.7 true;\n`;
    expect(parseHeldFile(text).ours.size).toBe(0);
    expect(written(text, [["203.0.113.7", later]])).not.toContain('203.0.113.7 "');
  });

  it("keeps others' lines byte for byte, whatever they are", () => {
    const line = fc.string({
      unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
    });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
        const theirs = lines.join("\n");
        const once = written(theirs, [["203.0.113.7", later]]);
        expect(once.startsWith(theirs)).toBe(true);
        expect(written(once, [])).toBe(written(theirs, []));
      }),
    );
  });
});

describe("a key nginx takes", () => {
  it.each(["203.0.113.7", "203.0.113.0/24", "0.0.0.0/0", "2001:db8::1", "2001:db8:1:2::/64", "::"])(
    "%s",
    (key) => {
      expect(isHeldKey(key)).toBe(true);
    },
  );

  it.each([
    "",
    "1.2.3",
    "256.1.1.1",
    "1.2.3.4/33",
    "1.2.3.4/24",
    "01.2.3.4",
    "::ffff:1.2.3.4",
    "2001:DB8::1",
    "1::2::3",
    "a".repeat(64),
  ])("is not %j", (key) => {
    expect(isHeldKey(key)).toBe(false);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Segment } from "./segment.js";
import { Table } from "./table.js";

/** The first cell is the time a record expires, the second its pressure until then. */
const owner = {
  pressure: (cells: Float64Array, at: number, now: number) =>
    (cells[at] as number) > now ? (cells[at + 1] as number) : 0,
};

function open(): Table {
  const table = new Table(2);
  table.owners.push(owner);
  return table;
}

function write(table: Table, low: number, high: number, cells: readonly [number, number], now = 0): void {
  const segment = table.segmentOf(high);
  let offset = segment.find(low, high);
  if (offset < 0) offset = table.insert(low, high, 0, now);
  table.segmentOf(high).cells.set(cells, offset);
}

function read(table: Table, low: number, high: number): number[] | undefined {
  const segment = table.segmentOf(high);
  const offset = segment.find(low, high);
  return offset < 0 ? undefined : [...segment.cells.subarray(offset, offset + 2)];
}

/** Any number's hash, never 0 for small ones. */
function mix(n: number): number {
  let hash = Math.imul(n ^ (n >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

const never = Number.MAX_VALUE;

describe("Table", () => {
  it("remembers what a Map would, through inserts, removals, drops and growth", () => {
    const act = fc.record({
      kind: fc.constantFrom("write", "write", "write", "write", "remove", "drop"),
      // Few hashes, many of them neighbours: collisions, long runs and wrap-around are the rule.
      low: fc.oneof(
        fc.integer({ min: 1, max: 8 }).map((n) => n << 28),
        fc.integer({ min: -40, max: -1 }),
        fc.integer({ min: 1, max: 40 }),
      ),
      high: fc.integer({ min: 0, max: 3 }),
      value: fc.double({ noNaN: true, min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 400 }), (acts) => {
        const table = open();
        const model = new Map<string, [number, number]>();
        for (const { kind, low, high, value } of acts) {
          const name = `${low},${high}`;
          if (kind === "write") {
            write(table, low, high, [never, value]);
            model.set(name, [never, value]);
          } else if (kind === "remove") {
            table.remove(low, high);
            model.delete(name);
          } else if (model.size > 0) {
            table.weakest(0).drop();
            const gone = [...model.keys()].filter((key) => {
              const [low, high] = key.split(",").map(Number) as [number, number];
              return read(table, low, high) === undefined;
            });
            expect(gone).toHaveLength(1);
            model.delete(gone[0] as string);
          }
          expect(table.count).toBe(model.size);
        }
        for (const [name, cells] of model) {
          const [low, high] = name.split(",").map(Number) as [number, number];
          expect(read(table, low, high)).toEqual(cells);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("finds every one of 200,000 records after it has grown, and none that was never there", () => {
    const table = open();
    for (let i = 1; i <= 200_000; i++) write(table, mix(i) || 1, mix(~i), [never, i]);
    expect(table.count).toBe(200_000);
    for (let i = 1; i <= 200_000; i++) {
      if (read(table, mix(i) || 1, mix(~i))?.[1] !== i) expect.fail(`record ${i} is lost`);
    }
    for (let i = 1; i <= 1000; i++) expect(read(table, mix(i) || 1, mix(i))).toBeUndefined();
  });

  it("changes its version whenever a record may have moved", () => {
    const table = open();
    const { version } = table;
    write(table, 1, 1, [never, 1]);
    expect(table.version).not.toBe(version);
    const inserted = table.version;
    table.remove(1, 1);
    expect(table.version).not.toBe(inserted);
  });

  it("uses the room of expired records again instead of growing", () => {
    const table = open();
    const before = process.memoryUsage().arrayBuffers;
    for (let round = 0; round < 40; round++) {
      for (let i = 1; i <= 20_000; i++) {
        const id = round * 20_000 + i;
        write(table, mix(id) || 1, mix(~id), [round + 1, 1], round);
      }
    }
    // 800,000 records would take 35 MB; the 20,000 that live at a time take 1.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(5_000_000);
    expect(table.count).toBeLessThan(40_000);
  });

  it("offers the record of lowest pressure among the few it looks at", () => {
    const table = open();
    write(table, 1, 1, [never, 5]);
    write(table, 1 << 30, 1, [never, 0.5]);
    write(table, 1 << 29, 1, [never, 7]);
    expect(table.weakest(0).pressure).toBe(0.5);
    table.weakest(0).drop();
    expect(read(table, 1 << 30, 1)).toBeUndefined();
    expect(table.count).toBe(2);
  });
});

describe("Segment", () => {
  it("keeps records reachable when one is removed from a run that goes round the end", () => {
    const last = -1; // points to the last slot
    for (let removed = 0; removed < 5; removed++) {
      const segment = new Segment(1, 8, 0);
      for (let i = 0; i < 5; i++) segment.cells[segment.add(last, i, 0)] = i;
      segment.remove(segment.slotOf(segment.find(last, removed)));
      const found = [0, 1, 2, 3, 4].map((i) => segment.cells[segment.find(last, i)]);
      expect(found).toEqual([0, 1, 2, 3, 4].map((i) => (i === removed ? undefined : i)));
    }
  });

  it("hands a record on with every bit of its hash and cells, NaN patterns included", () => {
    const [from, to] = [new Segment(2, 8, 0), new Segment(2, 8, 0)];
    // Read as a double, these two words are a signalling NaN.
    const [low, high] = [0x0000_0001, 0x7ff0_0001];
    from.cells.set([Number.NaN, -0], from.add(low, high, 7));
    from.moveTo(to, 1);
    expect(from.count).toBe(0);
    const offset = to.find(low, high);
    expect([...to.cells.subarray(offset, offset + 2)]).toEqual([Number.NaN, -0]);
    expect(to.ownerOf(to.slotOf(offset))).toBe(7);
  });
});

import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type Edge,
  type EdgeChanges,
  type EdgeEntry,
  type EdgeState,
  edgeModes,
  isEdgeKey,
  type RefusedKey,
} from "../../packages/tidegate-server/src/edge.js";

/** A real edge, and our adapter to it. */
export interface EdgeUnderTest {
  readonly edge: Edge;
  /** Our entries, key to `until` in ms, read by the edge's own means, never through our adapter; of those asked about where it can not list. */
  read(asked: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Puts an entry of somebody else's there by the edge's own means, and answers its key. */
  plantForeign?(): Promise<string>;
  hasForeign?(key: string): Promise<boolean>;
  /** Loses all entries, as a restart or a flush does. */
  wipe(): Promise<void>;
  /** A second adapter to the same edge, as another process opens it. */
  reopen(): Promise<Edge>;
  close(): Promise<void>;
}

export interface EdgeContractOptions {
  /** Keys this edge takes; by default some of each kind. */
  readonly keys?: readonly string[];
}

const usualKeys = [
  "203.0.113.7",
  "203.0.113.8",
  "198.51.100.255",
  "2001:db8::1",
  "2001:db8:1:2::/64",
  digest("sha256", "one"),
  digest("sha256", "two"),
  digest("sha1", "three"),
  digest("sha1", "four"),
];

/** None of them may reach an edge, and none of them may harm it. */
const poison = [
  "",
  " ",
  "a b",
  'x"; del map #0 ',
  "203.0.113.7\nshow info",
  "203.0.113.7 1\r\n",
  "../../etc/passwd",
  "%0a",
  "\0",
  "{}",
  "#1",
  digest("sha256", "upper").toUpperCase(),
  digest("sha1", "long").repeat(50),
];

/** However slow an edge is, it has told by then. */
const patienceMs = 60_000;

/** What every edge promises. */
export function edgeContract(
  name: string,
  open: () => Promise<EdgeUnderTest>,
  options: EdgeContractOptions = {},
): void {
  describe(`${name} keeps the edge contract`, { timeout: 2 * patienceMs }, () => {
    let under: EdgeUnderTest;
    let edge: Edge;
    let keys: readonly string[];
    let first: string;
    let second: string;

    beforeAll(async () => {
      under = await open();
      edge = under.edge;
      keys = (options.keys ?? usualKeys).filter((key) => edge.abilities.takes(key));
      [first, second] = keys as [string, string];
      if (second === undefined) throw new Error(`${name} takes too few of the keys`);
    }, patienceMs);
    afterAll(() => under?.close());
    beforeEach(async () => {
      await under.wipe();
      await current();
    }, patienceMs);

    const current = (asked: readonly string[] = keys, of: Edge = edge): Promise<EdgeState> =>
      of.current(asked, AbortSignal.timeout(patienceMs));

    /** Applies batch by batch, and what was left as soon as it may. */
    async function apply(changes: Partial<EdgeChanges>, to: Edge = edge): Promise<RefusedKey[]> {
      const refused: RefusedKey[] = [];
      for (const batch of batches(changes, to.abilities.maxBatch)) {
        let rest = batch;
        for (;;) {
          const outcome = await to.apply(rest, AbortSignal.timeout(patienceMs));
          refused.push(...outcome.refused);
          if (outcome.left.length === 0) break;
          const left = new Set(outcome.left);
          rest = {
            remove: rest.remove.filter((key) => left.has(key)),
            put: rest.put.filter(({ key }) => left.has(key)),
          };
          await sleep(Math.max(0, (outcome.resumeAt ?? 0) - Date.now()));
        }
      }
      return refused;
    }

    /** Both the edge, by its own means, and the adapter know exactly these. */
    async function expectStanding(entries: readonly EdgeEntry[], asked = keys): Promise<void> {
      const expected = inSeconds(entries.map(({ key, until }) => [key, until]));
      await vi.waitFor(
        async () => {
          expect(inSeconds(await under.read(asked))).toEqual(expected);
          expect(inSeconds((await current(asked)).entries)).toEqual(expected);
        },
        { timeout: patienceMs, interval: 50 },
      );
    }

    const inAWhile = (seconds = 300): number => Date.now() + seconds * 1_000;
    const entriesOf = (some: readonly string[], until = inAWhile()): EdgeEntry[] =>
      some.map((key, i) => ({ key, until: until + i * 1_000 }));

    it("begins empty", async () => {
      await expectStanding([]);
    });

    it("what is put stands there with its end", async () => {
      const entries = entriesOf(keys);
      expect(await apply({ put: entries })).toEqual([]);
      await expectStanding(entries);
    });

    it("an end within a second is rounded up, never down", async () => {
      const until = Math.floor(inAWhile() / 1_000) * 1_000 + 1;
      await apply({ put: [{ key: first, until }] });
      await expectStanding([{ key: first, until }]);
      const { entries } = await current();
      expect(entries.get(first)).toBeGreaterThanOrEqual(until);
    });

    it("putting again, longer or shorter, replaces and makes no second one", async () => {
      for (const seconds of [300, 300, 900, 60]) {
        const entries = entriesOf([first, second], inAWhile(seconds));
        await apply({ put: entries });
        await expectStanding(entries);
      }
      await apply({ remove: [first] });
      const { entries } = await current();
      expect([...entries.keys()]).toEqual([second]);
    });

    it("the same changes made twice are made once", async () => {
      const entries = entriesOf(keys.slice(1));
      const changes = { remove: [first], put: entries };
      await apply({ put: entriesOf([first]) });
      await apply(changes);
      await apply(changes);
      await expectStanding(entries);
    });

    it("what is removed is gone, and removing what is not there is no mistake", async () => {
      const entries = entriesOf(keys);
      await apply({ put: entries });
      expect(await apply({ remove: [first] })).toEqual([]);
      expect(await apply({ remove: [first] })).toEqual([]);
      await expectStanding(entries.slice(1));
    });

    it("removals come before entries", async () => {
      const [entry] = entriesOf([first]) as [EdgeEntry];
      await apply({ remove: [first], put: [entry] });
      await expectStanding([entry]);
    });

    it("an entry that has ended does not stand there", async () => {
      const [ended, standing] = entriesOf([first, second]) as [EdgeEntry, EdgeEntry];
      await apply({ put: [ended, standing] });
      await apply({ put: [{ key: first, until: Date.now() - 5_000 }] });
      await vi.waitFor(async () => expect([...(await current()).entries.keys()]).toEqual([second]), {
        timeout: patienceMs,
      });
    });

    it("an entry ends by itself", async () => {
      const standing = entriesOf([second]);
      await apply({ put: [{ key: first, until: Date.now() + 1_500 }, ...standing] });
      await vi.waitFor(async () => expect([...(await current()).entries.keys()]).toEqual([second]), {
        timeout: patienceMs,
        interval: 100,
      });
    });

    it("keys that are neither addresses nor digests are refused by name, and the rest of the batch is applied", async () => {
      expect(poison.filter(isEdgeKey)).toEqual([]);
      const entries = entriesOf(keys);
      const strangers = usualKeys.filter((key) => !edge.abilities.takes(key));
      const bad = [...poison, ...strangers].map((key) => ({ key, until: inAWhile() }));
      const half = keys.length >> 1;
      const refused = await apply({ put: [...entries.slice(0, half), ...bad, ...entries.slice(half)] });
      expect(refused.map(({ key }) => key).sort()).toEqual([...poison, ...strangers].sort());
      for (const { why } of refused) expect(why).toMatch(/\w/);
      await expectStanding(entries);
    });

    it("removing what can not stand there does no harm", async () => {
      const entries = entriesOf(keys);
      await apply({ put: entries });
      await apply({ remove: poison });
      await expectStanding(entries);
    });

    it("what somebody else put there is not ours, and is neither changed nor removed nor lost", async () => {
      if (under.plantForeign === undefined || under.hasForeign === undefined) return;
      const foreign = await under.plantForeign();
      const asked = [...keys, foreign];
      const state = await current(asked);
      expect(state.entries.has(foreign)).toBe(false);
      if (edge.abilities.isListable) expect(state.foreign).toBe(1);
      const entries = entriesOf(keys.filter((key) => key !== foreign));
      await apply({ put: entries });
      await apply({ remove: [foreign] });
      const refused = await apply({ put: [{ key: foreign, until: inAWhile() }] });
      expect(refused.map(({ key }) => key)).toEqual([foreign]);
      await apply({ remove: entries.map(({ key }) => key) });
      for (const mode of edgeModes) await edge.setMode(mode, AbortSignal.timeout(patienceMs));
      expect(await under.hasForeign(foreign)).toBe(true);
      const after = await current(asked);
      expect(after.entries.has(foreign)).toBe(false);
      if (edge.abilities.isListable) expect(after.foreign).toBe(1);
    });

    it("a loss is noticed, and what is put after it stands there", async () => {
      const entries = entriesOf(keys);
      await apply({ put: entries });
      const before = await current();
      await under.wipe();
      const after = await current();
      expect(after.epoch !== before.epoch || after.entries.size === 0).toBe(true);
      await expectStanding([]);
      await apply({ put: entries });
      await expectStanding(entries);
      expect((await current()).epoch).toBe(after.epoch);
    });

    it("nothing lost, nothing said: the epoch stays whatever is applied", async () => {
      const { epoch } = await current();
      await apply({ put: entriesOf(keys) });
      expect((await current()).epoch).toBe(epoch);
      await apply({ remove: [first] });
      expect((await current()).epoch).toBe(epoch);
    });

    it("another process reads the same, and may go on", async () => {
      const entries = entriesOf(keys);
      await apply({ put: entries });
      await edge.setMode("shadow", AbortSignal.timeout(patienceMs));
      await expectStanding(entries);
      const other = await under.reopen();
      try {
        const here = await current();
        const there = await current(keys, other);
        expect(inSeconds(there.entries)).toEqual(inSeconds(here.entries));
        expect({ epoch: there.epoch, mode: there.mode }).toEqual({ epoch: here.epoch, mode: "shadow" });
        await apply({ remove: [first] }, other);
        await expectStanding(entries.slice(1));
      } finally {
        await other.close();
      }
    });

    it("a mode is kept beside the entries, outlives every apply, and changes none", async () => {
      const entries = entriesOf(keys);
      await apply({ put: entries });
      for (const mode of ["off", "shadow", "on", "off", "on"] as const) {
        await edge.setMode(mode, AbortSignal.timeout(patienceMs));
        await edge.setMode(mode, AbortSignal.timeout(patienceMs));
        await vi.waitFor(async () => expect((await current()).mode).toBe(mode), { timeout: patienceMs });
        await expectStanding(entries);
        await apply({ remove: [first] });
        await apply({ put: entries });
        expect((await current()).mode).toBe(mode);
        await expectStanding(entries);
      }
    });

    it("a whole batch goes through, and several in their order", async () => {
      const { maxBatch, maxEntries } = edge.abilities;
      const size = Math.min(maxBatch, maxEntries >> 1, 2_000);
      const many = manyKeys(2 * size, edge);
      const entries = many.map((key) => ({ key, until: inAWhile() }));
      expect(await apply({ put: entries.slice(0, size) })).toEqual([]);
      await expectStanding(entries.slice(0, size), many);
      const gone = many.slice(0, size >> 1);
      expect(await apply({ remove: gone, put: entries.slice(size) })).toEqual([]);
      await expectStanding(entries.slice(gone.length), many);
    });

    it("what is given up is told as such, and may be done again", async () => {
      const entries = entriesOf(keys);
      const gaveUp = AbortSignal.abort();
      await expect(edge.apply({ remove: [], put: entries }, gaveUp)).rejects.toThrow();
      await expect(edge.current(keys, gaveUp)).rejects.toThrow();
      await expect(edge.setMode("off", gaveUp)).rejects.toThrow();
      await apply({ put: entries });
      await expectStanding(entries);
    });
  });
}

/** As many changes at a time as an edge takes: first all removals, then all entries. */
function* batches({ remove = [], put = [] }: Partial<EdgeChanges>, most: number): Generator<EdgeChanges> {
  let [gone, come] = [remove, put];
  do {
    const batch = { remove: gone.slice(0, most), put: come.slice(0, Math.max(0, most - gone.length)) };
    gone = gone.slice(batch.remove.length);
    come = come.slice(batch.put.length);
    yield batch;
  } while (gone.length + come.length > 0);
}

function manyKeys(count: number, { abilities }: Edge): string[] {
  const takesDigests = abilities.takes(digest("sha256", "0"));
  return Array.from({ length: count }, (_, i) =>
    takesDigests ? digest("sha256", String(i)) : `198.${18 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`,
  );
}

/** Sorted, with ends in whole seconds: an edge may keep no more. */
function inSeconds(entries: Iterable<readonly [string, number]>): [string, number][] {
  return [...entries]
    .map(([key, until]): [string, number] => [key, Math.ceil(until / 1_000)])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function digest(algorithm: "sha256" | "sha1", text: string): string {
  return createHash(algorithm).update(text).digest("hex");
}

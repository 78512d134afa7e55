import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { openEmbeddedData } from "../../packages/tidegate-server/src/data/embedded-data.js";
import type { Data } from "../../packages/tidegate-server/src/data.js";
import type { Written } from "./data-writer.js";
import { startWriter, type Writer } from "./data-writing.js";

const home = mkdtempSync(join(tmpdir(), "tidegate-survival-"));
const writers: Writer[] = [];
afterAll(async () => {
  for (const writer of writers) await writer.kill();
  rmSync(home, { recursive: true, force: true });
});

const kills = 15;

it(`whatever was answered is there after each of ${kills} kills, nothing is half there, and the lock is free`, async () => {
  const dir = join(home, "data");
  const written: Written[] = [];
  for (let i = 0; i < kills; i++) {
    // The next ones come up meanwhile.
    while (writers.length < Math.min(kills, i + 3)) writers.push(startWriter());
    const writer = writers[i] as Writer;
    const begun = writer.begin({ dir, from: (written.at(-1)?.i ?? -1) + 1 });
    // Every other one may be killed while it opens.
    await (i % 2 === 0 ? begun : writer.ready);
    await sleep(Math.random() * 50);
    written.push(...(await writer.kill()));
    const data = await openEmbeddedData(dir);
    await expectAll(data, written);
    await data.close();
  }
  expect(written.length).toBeGreaterThanOrEqual(kills / 2);
}, 60_000);

it("of several processes that open a new directory at the same instant, exactly one gets it", async () => {
  const rivals = Array.from({ length: 4 }, startWriter);
  writers.push(...rivals);
  await Promise.all(rivals.map(({ ready }) => ready));
  const dir = join(home, "rivals");
  const outcomes = await Promise.all(rivals.map((rival) => rival.begin({ dir, from: 0 })));
  expect(outcomes.toSorted()).toEqual(["TG_DATA_LOCKED", "TG_DATA_LOCKED", "TG_DATA_LOCKED", "writes"]);
});

async function expectAll(data: Data, written: readonly Written[]): Promise<void> {
  const blocked = new Map((await data.directory.entries("blocklist")).map((entry) => [entry.address, entry]));
  const pending = new Set((await data.pending.all()).map(({ id }) => id));
  const versions = await all((before) => data.policies.list({ most: 1000, ...before }));
  const audit = await all((before) => data.audit.list({ most: 1000, ...before }));
  for (const write of written) {
    expect(blocked.get(write.address)).toEqual({
      address: write.address,
      who: "writer",
      why: `write ${write.i}`,
    });
    expect(await data.directory.customer(`c${write.i}`)).toEqual({
      tier: "pro",
      limits: new Map([[60, write.i]]),
    });
    expect(versions.get(write.version)?.text).toBe(`text ${write.i}`);
    expect(audit.get(write.audit)?.after).toBe(write.i);
    expect(pending.has(write.pending)).toBe(true);
  }
  // Those not answered may be there too, but wholly: no gap in the numbers, no entry without its parts.
  expect([...versions.keys()]).toEqual(Array.from(versions, (_, i) => versions.size - i));
  for (const { who, digest, source } of versions.values()) {
    expect({ who, source, length: digest.length }).toEqual({ who: "writer", source: "api", length: 64 });
  }
  for (const { who, what } of audit.values()) expect({ who, what }).toEqual({ who: "writer", what: "write" });
}

async function all<T extends { readonly id: number }>(
  list: (page: { before?: number }) => Promise<T[]>,
): Promise<Map<number, T>> {
  const found = new Map<number, T>();
  for (let page = await list({}); page.length > 0; page = await list({ before: page.at(-1)?.id as number })) {
    for (const each of page) found.set(each.id, each);
  }
  return found;
}

import { readdirSync, readFileSync } from "node:fs";
import { Redis } from "ioredis";
import { createGate, memoryDirectory, memoryStore, type Store } from "tidegate";
import { redisStore } from "tidegate/redis";
import { type VirtualClock, virtualClock } from "tidegate/testing";
import { afterAll, describe, expect, inject, it } from "vitest";
import { play } from "./play.js";
import { readPolicy } from "./policies.js";
import { parseScripts, type Script } from "./script.js";

/** 2019-01-24 00:00:00Z: a multiple of the week, hence of all days, hours and minutes, and of 32768 s too. */
const startMs = 1_548_288_000_000;

const redis = new Redis(inject("redisPort"));
afterAll(() => redis.disconnect());

const places: [name: string, open: (clock: VirtualClock) => Store][] = [
  ["memory", (clock) => memoryStore({ clock })],
  ["Redis", (clock) => redisStore({ client: redis, prefix: `t:${crypto.randomUUID()}`, clock })],
];

const here = new URL(".", import.meta.url);
const folders = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** The rows of the requirements a client can see without HTTP, a browser or a look into the store. */
const rows =
  "A1 A2 A6 A8 A11 A12 A13 A14 A15 A17 A18 A20 A21 A22 A23 A26 A27 A28 A29 A30 A31 " +
  "D7 D8 D17 D18 D19 W1 W2 W4 W5 W6 W23 W32";

it("every row a client can see has a scenario", () => {
  const titles = folders.flatMap((folder) => scriptsOf(folder).map(({ title }) => title));
  const promised = new Set(titles.flatMap((title) => title.match(/^[^:]*(?=: )/)?.[0].split(", ") ?? []));
  expect(rows.split(" ").filter((row) => !promised.has(row))).toEqual([]);
});

describe.each(folders)("%s", (folder) => {
  const files = new URL(`${folder}/`, here);
  const scripts = scriptsOf(folder);
  const policy = (file: string) => readPolicy(new URL(file, files));

  describe.each(places)("on %s", (_, open) => {
    it.each(scripts.map((script) => [script.title, script] as const))("%s", async (_, script) => {
      const clock = virtualClock(startMs);
      const gate = createGate({
        ...policy("policy.json"),
        store: open(clock),
        clock,
        // Redis ends its own lists by its own clock.
        directory: memoryDirectory({ clock }),
        // These tests are about what it answers, not how fast on a busy machine.
        deadlineMs: 15_000,
      });
      await gate.ready;
      try {
        await follow(script, { gate, clock, startMs, policy });
      } finally {
        await gate.close();
      }
    });
  });
});

function scriptsOf(folder: string): Script[] {
  return parseScripts(readFileSync(new URL(`${folder}/traffic.txt`, here), "utf8"));
}

async function follow({ lines }: Script, stage: Parameters<typeof play>[1]): Promise<void> {
  expect(lines).not.toHaveLength(0);
  for (const line of lines) expect(await play(line, stage), line.text).toBe(line.answer);
}

import { createClient } from "@redis/client";
import { createGate, type Directory } from "tidegate";
import { redisStore } from "tidegate/redis";
import { expect, inject, it, onTestFinished } from "vitest";
import { openCustomers } from "../../packages/tidegate-server/src/customers/open-customers.js";
import { openRedisData } from "../../packages/tidegate-server/src/data/redis-data.js";
import type { CustomerSourceSettings } from "../../packages/tidegate-server/src/settings.js";
import { listeningLog, passing, sqlitePrimary, tiers } from "./customers-support.js";
import { eventually } from "./running.js";

/** One of several processes on the same Redis; its clock may be ahead. */
async function processOn(prefix: string, source: CustomerSourceSettings, aheadMs = 0) {
  const client = createClient({ socket: { port: inject("redisPort") }, commandOptions: { timeout: 0 } });
  client.on("error", () => {});
  await client.connect();
  const store = redisStore({ client, prefix });
  const data = await openRedisData({ client, prefix, directory: store.openDirectory?.() as Directory });
  const gate = createGate({
    rules: [{ name: "api", by: "customer", limits: "tier" }],
    tiers,
    store,
    // What the process decides by itself where Redis is slow passes more often.
    deadlineMs: 10_000,
    directory: data.directory,
    onWarning: () => {},
  });
  await gate.ready;
  const pending = {
    ...data.pending,
    all: async () => (await data.pending.all()).map((note) => ({ ...note, at: note.at - aheadMs })),
  };
  const { log } = listeningLog();
  const book = await openCustomers({ gate, data: { ...data, pending }, log, source });
  onTestFinished(async () => {
    await book.close();
    await gate.close();
    await data.close();
    client.destroy();
  });
  return { book, gate, data };
}

it("a change made in one process holds in the others and in the primary database", async () => {
  const primary = sqlitePrimary();
  for (let i = 0; i < 100; i++) await primary.put(`${i}`, "free");
  const prefix = `t:${crypto.randomUUID()}`;
  const one = await processOn(prefix, { ...primary.settings, everyMs: 60_000 });
  const other = await processOn(prefix, { ...primary.settings, everyMs: 60_000 });
  expect(await passing(other.gate, "7")).toBe(2);
  expect(await one.book.setTier("7", "pro")).toEqual({ state: "done" });
  expect(await primary.get("7")).toMatchObject({ tier: "pro" });
  await eventually(async () => ((await passing(other.gate, "7")) > 0 ? true : undefined));
});

it("what another process has just noted is left to it; what it left behind is finished", async () => {
  const primary = sqlitePrimary();
  await primary.put("a", "free");
  const prefix = `t:${crypto.randomUUID()}`;
  const early = await processOn(prefix, primary.settings);
  await early.data.pending.add({ customer: "a", tier: "pro" });
  const { pulledAt } = early.book.status();
  await eventually(() => (early.book.status().pulledAt !== pulledAt ? true : undefined));
  await eventually(() => (early.book.status().pending === 1 ? true : undefined));
  expect(await primary.get("a")).toMatchObject({ tier: "free" });
  expect(await early.book.get("a"), "nor does a pull touch it").toEqual({ tier: "free" });

  const late = await processOn(prefix, primary.settings, 31_000);
  expect(await primary.get("a")).toMatchObject({ tier: "pro" });
  expect(await late.book.get("a")).toEqual({ tier: "pro" });
  expect(await late.data.pending.all()).toEqual([]);
});

import { expect, test } from "vitest";
import type { DirectoryWatcher, ListEntry, ListName } from "../../../directory.js";
import { Mirror } from "./mirror.js";
import type { RecordsInRedis } from "./records-in-redis.js";

const listed: Record<ListName, ListEntry> = {
  safelist: { address: "192.0.2.1" },
  blocklist: { address: "192.0.2.2" },
};

test("who comes between the reading of one list and the other misses neither", async () => {
  let readBlocklist: () => void = () => {};
  const blocklistRead = new Promise<void>((resolve) => {
    readBlocklist = resolve;
  });
  const records = {
    indexed: async (list: ListName) => [listed[list].address],
    async entries(list: ListName) {
      if (list === "blocklist") await blocklistRead;
      return [listed[list]];
    },
    addToIndex: async () => {},
    dropFromIndex: async () => {},
  } as unknown as RecordsInRedis;
  const told: string[] = [];
  const watcher = {
    reset: (list: ListName) => told.push(list),
    customerChanged() {},
    failed: (error: unknown) => told.push(String(error)),
  } as unknown as DirectoryWatcher;
  const mirror = new Mirror(
    records,
    async () => {},
    watcher,
    () => {},
  );
  mirror.resync();
  await expect.poll(() => told).toEqual(["safelist"]);
  expect([...(mirror.known("safelist")?.keys() ?? [])]).toEqual(["192.0.2.1"]);
  expect(mirror.known("blocklist")).toBeUndefined();
  readBlocklist();
  await expect.poll(() => told).toEqual(["safelist", "blocklist"]);
  expect([...(mirror.known("blocklist")?.keys() ?? [])]).toEqual(["192.0.2.2"]);
  mirror.stop();
});

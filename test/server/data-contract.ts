import { createHash } from "node:crypto";
import type { DirectoryWatcher, ListEntry, ListName } from "tidegate";
import { afterEach, describe, expect, it } from "vitest";
import type { Data, PolicyVersion } from "../../packages/tidegate-server/src/data.js";
import { soon } from "../directory/support.js";
import { accessContract } from "./data-access-contract.js";
import { controlContract } from "./data-control-contract.js";

export interface DataContractOptions {
  /** Opens data that shares nothing with any other, and keeps 50 audit entries, 50 offenders and 50 sessions. */
  open(): Promise<Data>;
  /** Opens what this one holds once more: after closing it, or beside it where that may be. */
  again(data: Data): Promise<Data>;
  readonly isShared: boolean;
}

export const mostAudit = 50;

const hostile = "a\0b\u{1F600}\ud800'; DROP TABLE audit; --\r\n{}\\\"";

/** What all data promises, wherever it lives. */
export function dataContract(name: string, options: DataContractOptions): void {
  describe(`${name} keeps the data contract`, () => {
    const opened: Data[] = [];
    async function open(): Promise<Data> {
      const data = await options.open();
      opened.push(data);
      return data;
    }
    /** The same data, as whoever comes later finds it. */
    async function again(data: Data): Promise<Data> {
      const next = await options.again(data);
      opened.push(next);
      return next;
    }
    afterEach(async () => {
      for (const data of opened.splice(0)) await data.close();
    });

    describe("policy versions", () => {
      const draft = (text: string, source: PolicyVersion["source"] = "api") => ({ text, who: "ann", source });

      it("are numbered from 1 and found by number, with all that was said of them", async () => {
        const { policies } = await open();
        expect(await policies.newest()).toBeUndefined();
        expect(await policies.get(1)).toBeUndefined();
        const from = Date.now();
        const first = await policies.add({ ...draft("rules: []"), why: "because" }, undefined);
        expect(first).toEqual({
          id: 1,
          text: "rules: []",
          digest: createHash("sha256").update("rules: []").digest("hex"),
          at: first?.at,
          who: "ann",
          source: "api",
          why: "because",
        });
        expect(first?.at).toBeGreaterThanOrEqual(from);
        const second = await policies.add(draft("rules: [x]"), 1);
        expect(second?.id).toBe(2);
        expect(second?.digest).not.toBe(first?.digest);
        expect(await policies.newest()).toEqual(second);
        expect(await policies.get(1)).toEqual(first);
        for (const id of [0, -1, 3, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
          expect(await policies.get(id)).toBeUndefined();
        }
      });

      it("are added only after the newest", async () => {
        const { policies } = await open();
        expect(await policies.add(draft("a"), 1)).toBeUndefined();
        await policies.add(draft("a"), undefined);
        await policies.add(draft("b"), 1);
        for (const after of [undefined, 0, 1, 3, -1, Number.NaN]) {
          expect(await policies.add(draft("c"), after)).toBeUndefined();
        }
        expect((await policies.list()).map(({ text }) => text)).toEqual(["b", "a"]);
      });

      it("of many that come at once, exactly one is the next", async () => {
        const data = await open();
        const others = options.isShared ? [await again(data), await again(data)] : [data];
        const adds = Array.from({ length: 30 }, (_, i) =>
          (others[i % others.length] as Data).policies.add(draft(`text ${i}`), undefined),
        );
        const added = (await Promise.all(adds)).filter((version) => version !== undefined);
        expect(added).toHaveLength(1);
        expect(await data.policies.list()).toEqual(added);
      });

      it("are listed newest first, page by page", async () => {
        const { policies } = await open();
        expect(await policies.list()).toEqual([]);
        for (let i = 0; i < 7; i++) await policies.add(draft(`text ${i}`), i || undefined);
        const ids = async (page?: { most?: number; before?: number }) =>
          (await policies.list(page)).map(({ id }) => id);
        expect(await ids()).toEqual([7, 6, 5, 4, 3, 2, 1]);
        expect(await ids({ most: 3 })).toEqual([7, 6, 5]);
        expect(await ids({ most: 3, before: 5 })).toEqual([4, 3, 2]);
        expect(await ids({ most: 3, before: 2 })).toEqual([1]);
        expect(await ids({ before: 1 })).toEqual([]);
        expect(await ids({ before: 100, most: 2 })).toEqual([7, 6]);
        expect(await ids({ most: -4 })).toEqual([7]);
        expect(await ids({ most: Number.NaN, before: Number.NaN })).toHaveLength(7);
      });

      it("remember the newest of each source", async () => {
        const { policies } = await open();
        expect(await policies.newestFrom("file")).toBeUndefined();
        await policies.add(draft("a", "file"), undefined);
        await policies.add(draft("b", "file"), 1);
        await policies.add(draft("c", "api"), 2);
        await policies.add(draft("d", "rollback"), 3);
        expect((await policies.newestFrom("file"))?.text).toBe("b");
        expect((await policies.newestFrom("api"))?.text).toBe("c");
        expect((await policies.newestFrom("rollback"))?.text).toBe("d");
        expect(await policies.newestFrom("demo")).toBeUndefined();
      });

      it("tell whoever watches within a second, until they stop; one watcher's mistake harms nobody", async () => {
        const { policies } = await open();
        const heard: number[] = [];
        policies.watch(() => {
          throw new Error("a watcher's mistake");
        });
        const stop = policies.watch(({ id }) => heard.push(id));
        await policies.add(draft("a"), undefined);
        await soon("the first", () => heard.includes(1));
        await policies.add(draft("b"), 1);
        await soon("the second", () => heard.includes(2));
        stop();
        await policies.add(draft("c"), 2);
        expect(heard).toEqual([1, 2]);
      });

      it("may be large and hold any character", async () => {
        const data = await open();
        const text = hostile + "é".repeat(1_000_000);
        const added = await data.policies.add({ ...draft(text), who: hostile, why: hostile }, undefined);
        const found = await (await again(data)).policies.get(1);
        expect(found).toEqual(added);
        expect(found?.text === text).toBe(true);
      });
    });

    describe("the audit", () => {
      it("keeps who did what, why, and what was before and after", async () => {
        const data = await open();
        const entry = {
          who: hostile,
          what: "blocklist.add",
          target: hostile,
          why: hostile,
          before: null,
          after: { until: 17, nested: [hostile] },
        };
        const from = Date.now();
        const added = await data.audit.add(entry);
        expect(added).toEqual({ ...entry, id: 1, at: added.at });
        expect(added.at).toBeGreaterThanOrEqual(from);
        const plain = await data.audit.add({ who: "api", what: "client.clear" });
        expect(await (await again(data)).audit.list()).toEqual([plain, added]);
      });

      it("lists newest first, page by page, and drops the oldest beyond its bound", async () => {
        const { audit } = await open();
        expect(await audit.list()).toEqual([]);
        for (let i = 1; i <= mostAudit + 5; i++)
          await audit.add({ who: "ann", what: "n", target: String(i) });
        const all = await audit.list();
        expect(all).toHaveLength(mostAudit);
        expect(all[0]?.target).toBe(String(mostAudit + 5));
        expect(all.at(-1)?.target).toBe("6");
        const [third] = (await audit.list({ most: 3 })).slice(-1);
        const next = await audit.list({ most: 2, before: third?.id as number });
        expect(next).toEqual(all.slice(3, 5));
        expect(await audit.list({ before: all.at(-1)?.id as number })).toEqual([]);
        expect(await audit.list({ before: 0 })).toEqual([]);
      });

      it("loses none of many that come at once", async () => {
        const data = await open();
        const others = options.isShared ? [data, await again(data), await again(data)] : [data];
        const added = await Promise.all(
          Array.from({ length: 45 }, (_, i) =>
            (others[i % others.length] as Data).audit.add({ who: "ann", what: "n", target: String(i) }),
          ),
        );
        const found = await data.audit.list();
        expect(found.toReversed()).toEqual(added.toSorted((a, b) => a.id - b.id));
        expect(new Set(found.map(({ id }) => id)).size).toBe(45);
      });
    });

    describe("pending writes", () => {
      it("are kept oldest first until they are done", async () => {
        const data = await open();
        expect(await data.pending.all()).toEqual([]);
        const first = await data.pending.add({
          customer: hostile,
          tier: "pro",
          limits: { 60: 100, 3600: 5 },
        });
        const second = await data.pending.add({ customer: "b" });
        expect(first).toMatchObject({ customer: hostile, tier: "pro", limits: { 60: 100, 3600: 5 } });
        expect(second.id).toBeGreaterThan(first.id);
        const later = await again(data);
        expect(await later.pending.all()).toEqual([first, second]);
        await later.pending.done(first.id);
        await later.pending.done(first.id);
        expect(await later.pending.all()).toEqual([second]);
        const third = await later.pending.add({ customer: "c" });
        await later.pending.done(third.id);
        expect((await later.pending.add({ customer: "d" })).id).toBeGreaterThan(third.id);
      });
    });

    describe("the directory", () => {
      it("keeps who, why and until when of list entries, each list apart", async () => {
        const data = await open();
        const until = Date.now() + 60_000;
        const full = { address: "203.0.113.7", who: "ann", why: "scraper", until };
        await data.directory.put("blocklist", { address: "203.0.113.7", why: "first" });
        await data.directory.put("blocklist", full);
        await data.directory.put("blocklist", { address: "2001:db8::/32" });
        await data.directory.put("safelist", { address: "10.0.0.0/8", who: "bob" });
        const { directory } = await again(data);
        const blocked = (await directory.entries("blocklist")).toSorted(byAddress);
        // Redis keeps how long, not until when.
        expect(blocked).toEqual(
          [{ address: "2001:db8::/32" }, { ...full, until: expect.closeTo(until, -3) }].toSorted(byAddress),
        );
        expect(await directory.entries("safelist")).toEqual([{ address: "10.0.0.0/8", who: "bob" }]);
        expect(await directory.remove("blocklist", "203.0.113.7")).toBe(true);
        expect(await directory.remove("blocklist", "203.0.113.7")).toBe(false);
        expect(await directory.remove("safelist", "2001:db8::/32")).toBe(false);
        expect(await directory.entries("blocklist")).toEqual([{ address: "2001:db8::/32" }]);
      });

      it("keeps customers' tiers and limits, and removes an empty record", async () => {
        const data = await open();
        expect(await data.directory.customer("acme")).toBeUndefined();
        const limits = new Map([
          [60, 100],
          [3600, 5000],
        ]);
        await data.directory.putCustomer("acme", { tier: "pro", limits });
        await data.directory.putCustomer("solo", { limits: new Map() });
        const { directory } = await again(data);
        expect(await directory.customer("acme")).toEqual({ tier: "pro", limits });
        expect(await directory.customer("solo")).toBeUndefined();
        await directory.putCustomer("acme", { tier: "free" });
        expect(await directory.customer("acme")).toEqual({ tier: "free" });
        await directory.putCustomer("acme", {});
        expect(await directory.customer("acme")).toBeUndefined();
      });

      it("tells a watcher what there is, and then every change, until it stops", async () => {
        const { directory } = await open();
        await directory.put("blocklist", { address: "192.0.2.1" });
        const seen = watched();
        const stop = directory.watch(seen.watcher);
        await soon(
          "the first picture",
          () => seen.resets.size === 2 && seen.lists.blocklist.has("192.0.2.1"),
        );
        await directory.put("safelist", { address: "192.0.2.2", who: "ann" });
        await soon("an entry", () => seen.lists.safelist.get("192.0.2.2")?.who === "ann");
        await directory.remove("blocklist", "192.0.2.1");
        await soon("its end", () => !seen.lists.blocklist.has("192.0.2.1"));
        await directory.putCustomer("acme", { tier: "pro" });
        await soon("a customer", () => seen.customers.includes("acme"));
        stop();
        await directory.put("safelist", { address: "192.0.2.3" });
        expect(seen.lists.safelist.has("192.0.2.3")).toBe(false);
      });
    });

    controlContract({ open, again, isShared: options.isShared });
    accessContract({ open, again, isShared: options.isShared });

    it("what was written is there for whoever opens it next", async () => {
      const data = await open();
      const version = await data.policies.add({ text: "a", who: "ann", source: "file" }, undefined);
      await data.directory.put("blocklist", { address: "192.0.2.1" });
      const next = await again(data);
      expect(await next.policies.newest()).toEqual(version);
      expect(await next.directory.entries("blocklist")).toEqual([{ address: "192.0.2.1" }]);
    });
  });
}

function byAddress(a: ListEntry, b: ListEntry): number {
  return a.address.localeCompare(b.address);
}

function watched() {
  const lists = { safelist: new Map<string, ListEntry>(), blocklist: new Map<string, ListEntry>() };
  const customers: (string | undefined)[] = [];
  const resets = new Set<ListName>();
  const watcher: DirectoryWatcher = {
    reset(list, entries) {
      resets.add(list);
      lists[list].clear();
      for (const entry of entries) lists[list].set(entry.address, entry);
    },
    listed: (list, entry) => void lists[list].set(entry.address, entry),
    unlisted: (list, address) => void lists[list].delete(address),
    customerChanged: (id) => void customers.push(id),
    failed() {},
  };
  return { lists, customers, resets, watcher };
}

import { describe, expect, it } from "vitest";
import type { Clock } from "../../clock.js";
import type { DirectoryWatcher, ListEntry } from "../../directory.js";
import { ConfigError } from "../../errors.js";
import { virtualClock } from "../../testing/virtual-clock.js";
import { memoryDirectory } from "./memory-directory.js";

function recorder(): { news: unknown[][]; watcher: DirectoryWatcher } {
  const news: unknown[][] = [];
  return {
    news,
    watcher: {
      reset: (list, entries) => news.push(["reset", list, entries]),
      listed: (list, entry) => news.push(["listed", list, entry]),
      unlisted: (list, address) => news.push(["unlisted", list, address]),
      customerChanged: (id) => news.push(["customerChanged", id]),
      failed: (error) => news.push(["failed", error]),
    },
  };
}

describe("memoryDirectory", () => {
  it("lists an address once, in its canonical form, however it is written", () => {
    const directory = memoryDirectory();
    directory.put("blocklist", { address: "::ffff:45.0.186.198", who: "ann" });
    directory.put("blocklist", { address: "45.0.186.198/32", who: "bob", why: "floods" });
    directory.put("blocklist", { address: "2001:DB8::7/32" });
    expect(directory.entries("blocklist")).toEqual([
      { address: "45.0.186.198", who: "bob", why: "floods" },
      { address: "2001:db8::/32" },
    ]);
    expect(directory.entries("safelist")).toEqual([]);
    expect(directory.remove("blocklist", "2001:db8:ffff::/32")).toBe(true);
    expect(directory.remove("blocklist", "2001:db8::/32")).toBe(false);
    expect(directory.remove("safelist", "45.0.186.198")).toBe(false);
  });

  it("an entry is gone at its end, with no cleanup job", () => {
    const clock = virtualClock(1000);
    const directory = memoryDirectory({ clock });
    directory.put("blocklist", { address: "45.0.186.198", until: 2000 });
    directory.put("blocklist", { address: "45.0.186.199", until: 2000 });
    directory.put("blocklist", { address: "45.0.186.200" });
    clock.set(1999);
    expect(directory.entries("blocklist")).toHaveLength(3);
    clock.set(2000);
    expect(directory.remove("blocklist", "45.0.186.198")).toBe(false);
    expect(directory.entries("blocklist")).toEqual([{ address: "45.0.186.200" }]);
  });

  it("what is kept does not change with what was handed in", () => {
    const directory = memoryDirectory();
    const limits = new Map([[60, 100]]);
    const entry = { address: "1.2.3.4", who: "ann" };
    directory.putCustomer("c", { limits });
    directory.put("safelist", entry);
    limits.set(60, 1);
    entry.who = "eve";
    expect(directory.customer("c")).toEqual({ limits: new Map([[60, 100]]) });
    expect(directory.entries("safelist")).toEqual([{ address: "1.2.3.4", who: "ann" }]);
  });

  it.each(["c1", "constructor", "__proto__", "a{b}", "\0", ""])(
    "customer %j has what was put, and nothing once it is empty",
    (id) => {
      const directory = memoryDirectory();
      expect(directory.customer(id)).toBeUndefined();
      directory.putCustomer(id, { tier: "pro", limits: new Map() });
      expect(directory.customer(id)).toEqual({ tier: "pro" });
      directory.putCustomer(id, { limits: new Map([[3600, 5]]) });
      expect(directory.customer(id)).toEqual({ limits: new Map([[3600, 5]]) });
      directory.putCustomer(id, { limits: new Map() });
      expect(directory.customer(id)).toBeUndefined();
    },
  );

  it("tells watchers both lists at first, then every change, until they stop", () => {
    const directory = memoryDirectory();
    directory.put("safelist", { address: "10.0.0.1" });
    const { news, watcher } = recorder();
    const stop = directory.watch(watcher);
    directory.put("blocklist", { address: "10.0.0.2/8", until: 9e15 });
    directory.remove("blocklist", "10.0.0.0/8");
    directory.remove("blocklist", "10.0.0.0/8");
    directory.putCustomer("c", { tier: "pro" });
    stop();
    directory.put("blocklist", { address: "10.0.0.3" });
    expect(news).toEqual([
      ["reset", "safelist", [{ address: "10.0.0.1" }]],
      ["reset", "blocklist", []],
      ["listed", "blocklist", { address: "10.0.0.0/8", until: 9e15 }],
      ["unlisted", "blocklist", "10.0.0.0/8"],
      ["customerChanged", "c"],
    ]);
  });

  it("short-lived entries do not pile up while nobody lists them", () => {
    const clock = virtualClock(0);
    const directory = memoryDirectory({ clock });
    for (let i = 0; i < 5000; i++) {
      directory.put("blocklist", { address: `10.0.${i >> 8}.${i & 255}`, until: i + 10 });
      clock.advance(1);
    }
    // Were the ended ones still kept, a clock set back would bring them all to light again.
    clock.set(0);
    expect((directory.entries("blocklist") as ListEntry[]).length).toBeLessThanOrEqual(1024);
  });

  it("a clock that is none is refused when built", () => {
    expect(() => memoryDirectory({ clock: 7 as unknown as Clock })).toThrow(ConfigError);
    expect(() => memoryDirectory({ cluck: () => 0 } as object)).toThrow(/cluck/);
  });
});

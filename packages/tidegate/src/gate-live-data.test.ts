import { describe, expect, it } from "vitest";
import type { Directory, DirectoryWatcher } from "./directory.js";
import { memoryStore } from "./index.js";
import { memoryDirectory } from "./policy/lists/memory-directory.js";
import { openGate, perIp, start, times } from "./testing/open-gate.js";
import { subjectOf } from "./testing/subject.js";
import { virtualClock } from "./testing/virtual-clock.js";

describe("tiers and overrides", () => {
  const tiers = {
    free: ["100 per hour"],
    pro: ["100 per minute", "5000 per hour"],
    enterprise: ["200 per minute", "10000 per hour"],
  } as const;
  const api = { name: "api", by: "customer", limits: "tier" } as const;
  const of = (customer: string) => subjectOf("203.0.113.7", { customer });

  it("an unknown customer has the default tier, one on record its own, and levels are named by tier", async () => {
    const { gate } = openGate({ rules: [api], tiers, defaultTier: "free" });
    const [hundredth, over] = (await times(101, () => gate.decide(of("1")))).slice(-2);
    expect(hundredth?.allowed).toBe(true);
    expect(over).toMatchObject({ allowed: false, verdict: { name: "free/3600", tier: "free" } });
    await gate.customers.setTier("1", "pro");
    expect(await gate.decide(of("1"))).toMatchObject({
      allowed: true,
      verdicts: [
        { name: "pro/60", tier: "pro" },
        { name: "pro/3600", remaining: 4899 },
      ],
    });
  });

  it("a change of tier resets nothing: pro, free, pro", async () => {
    const { gate } = openGate({ rules: [api], tiers, defaultTier: "free" });
    await gate.customers.setTier("1", "pro");
    await times(60, () => gate.decide(of("1")));
    await gate.customers.setTier("1", "free");
    await times(5, () => gate.decide(of("1")));
    await gate.customers.setTier("1", "pro");
    expect((await gate.decide(of("1"))).verdicts.map(({ remaining }) => remaining)).toEqual([39, 4934]);
  });

  it("while a customer is looked up time goes on: it is counted when that is known", async () => {
    const clock = virtualClock(start);
    const slow = memoryDirectory({ clock });
    const directory = {
      ...slow,
      async customer(id: string) {
        const record = await slow.customer(id);
        clock.advance("2m");
        return record;
      },
    };
    const { gate } = openGate({ rules: [api], tiers, store: memoryStore({ clock }), directory });
    expect((await gate.decide(of("1"))).verdict?.at).toBe(start + 120_000);
    const delays = { ...api, limits: "5 per minute", action: "delay" } as const;
    gate.update({ rules: [delays, { ...api, name: "tiers" }], tiers });
    expect((await gate.decide(of("2"))).verdict?.at).toBe(start + 240_000);
  });

  it("who is listed while a customer is looked up is heeded, and a policy switched off too", async () => {
    const answers: (() => void)[] = [];
    const slow = memoryDirectory();
    const directory = {
      ...slow,
      customer: () => new Promise<undefined>((resolve) => answers.push(() => resolve(undefined))),
    };
    const { gate } = openGate({
      rules: [api],
      tiers: { none: ["0 per hour"] },
      directory,
      deadlineMs: 10_000,
    });
    const blocked = gate.decide(of("1"));
    await gate.blocklist.add("203.0.113.7");
    answers.pop()?.();
    expect(await blocked).toMatchObject({ allowed: false, reason: "blocklist" });
    await gate.blocklist.remove("203.0.113.7");
    const off = gate.decide(of("2"));
    gate.update({ rules: [api], tiers, mode: "off" });
    answers.pop()?.();
    expect(await off).toMatchObject({ allowed: true, reason: "off" });
  });

  it("an override replaces the tier, and can be changed and taken back while counts go on", async () => {
    const { gate } = openGate({ rules: [api], tiers, defaultTier: "free" });
    await gate.customers.setLimits("3", { 60: 100, 3600: 1000, 86400: 10_000 });
    const over = (await times(101, () => gate.decide(of("3")))).at(-1);
    expect(over).toMatchObject({ allowed: false, verdict: { name: "override/60" } });
    await gate.customers.setLimits("3", { 60: 101 });
    expect((await gate.decide(of("3"))).allowed).toBe(true);
    expect((await gate.decide(of("3"))).allowed).toBe(false);
    await gate.customers.setLimits("3", undefined);
    expect((await gate.decide(of("3"))).verdict?.tier).toBe("free");
  });

  it("an override that was read can be written", async () => {
    const { gate } = openGate({ rules: [api], tiers, defaultTier: "free" });
    await gate.customers.setLimits("3", { 60: 100, 3600: 1000 });
    const read = (await gate.customers.get("3"))?.limits;
    await gate.customers.setLimits("4", read);
    expect((await gate.customers.get("4"))?.limits).toEqual(read);
    expect(read?.size).toBe(2);
  });

  it("a tier and an override set at the same time both hold, also after a change that failed", async () => {
    const directory = memoryDirectory();
    let isDown = true;
    const slow: Directory = {
      ...directory,
      async customer(id) {
        const record = await directory.customer(id);
        await new Promise((resolve) => setImmediate(resolve));
        return record;
      },
      async putCustomer(id, record) {
        await new Promise((resolve) => setImmediate(resolve));
        if (isDown) throw new Error("down");
        await directory.putCustomer(id, record);
      },
    };
    const { gate } = openGate({ rules: [api], tiers, defaultTier: "free", directory: slow });
    const failed = gate.customers.setTier("3", "free");
    const changes = [gate.customers.setTier("3", "pro"), gate.customers.setLimits("3", { 60: 100 })];
    await expect(failed).rejects.toThrow("down");
    isDown = false;
    await Promise.all(changes);
    expect(await gate.customers.get("3")).toEqual({ tier: "pro", limits: new Map([[60, 100]]) });
  });

  it("more windows than a customer may have are refused by the API; in the data the strictest hold", async () => {
    const windows = new Map(Array.from({ length: 14 }, (_, i) => [60 * (i + 1), 100] as const));
    const directory = memoryDirectory();
    const { gate, warnings } = openGate({ rules: [api], tiers, defaultTier: "free", directory });
    await expect(gate.customers.setLimits("3", windows)).rejects.toThrow("TG_OVERRIDE");
    await directory.putCustomer("3", { limits: windows });
    await directory.putCustomer("4", { limits: new Map([...windows].reverse()) });
    const [three, four] = [await gate.decide(of("3")), await gate.decide(of("4"))];
    expect(three.verdicts.map(({ name }) => name)).toEqual(
      Array.from({ length: 12 }, (_, i) => `override/${60 * (14 - i)}`),
    );
    expect(four.verdicts.map(({ name }) => name)).toEqual(three.verdicts.map(({ name }) => name));
    const told = warnings.filter(({ code }) => code === "TG_OVERRIDE").map(({ message }) => message);
    expect(told).toEqual([expect.stringContaining('"3"'), expect.stringContaining('"4"')]);
  });

  it("an override nobody can count by leaves the customer its tier", async () => {
    const directory = memoryDirectory();
    const { gate } = openGate({ rules: [api], tiers, defaultTier: "free", directory });
    await directory.putCustomer("3", { tier: "pro", limits: new Map([[0.5, -1]]) });
    expect((await gate.decide(of("3"))).verdict?.tier).toBe("pro");
  });

  it("a tier that does not exist is refused by the API and survived in the data", async () => {
    const { gate } = openGate({ rules: [api], tiers, defaultTier: "free" });
    await expect(gate.customers.setTier("1", "gold")).rejects.toThrow("TG_TIER_UNKNOWN");
    const directory = {
      entries: () => [],
      put() {},
      remove: () => false,
      customer: () => ({ tier: "gold" }),
      putCustomer() {},
      watch: () => () => {},
    };
    const survivor = openGate({ rules: [api], tiers, defaultTier: "free", directory });
    expect((await survivor.gate.decide(of("1"))).verdict?.tier).toBe("free");
    expect(survivor.warnings.map(({ code }) => code)).toContain("TG_TIER_UNKNOWN");
  });

  it("two customers behind one address do not share a count", async () => {
    const { gate } = openGate({ rules: [api], tiers: { free: ["1 per hour"] } });
    expect((await gate.decide(of("1"))).allowed).toBe(true);
    expect((await gate.decide(of("2"))).allowed).toBe(true);
    expect((await gate.decide(of("1"))).allowed).toBe(false);
  });
});

describe("live lists", () => {
  it("entries last a week unless told otherwise, and end by themselves", async () => {
    const { gate, clock } = openGate({ rules: [perIp] });
    await gate.ready;
    const entry = await gate.blocklist.add("45.0.186.198", { who: "ann", why: "scraper" });
    expect(entry).toEqual({
      address: "45.0.186.198",
      who: "ann",
      why: "scraper",
      until: start + 604_800_000,
    });
    await gate.safelist.add("10.0.0.0/8", { for: "permanent" });
    expect(await gate.decide(subjectOf("45.0.186.198"))).toMatchObject({
      reason: "blocklist",
      listed: { who: "ann" },
    });
    clock.advance("1w");
    expect((await gate.decide(subjectOf("45.0.186.198"))).allowed).toBe(true);
    expect((await gate.decide(subjectOf("10.1.2.3"))).reason).toBe("safelist");
    expect(await gate.safelist.remove("10.0.0.0/8")).toBe(true);
    expect((await gate.decide(subjectOf("10.1.2.3"))).reason).toBe("within-limits");
  });

  it("each outage of the directory is told, however alike they are", async () => {
    const watchers: DirectoryWatcher[] = [];
    const directory: Directory = {
      ...memoryDirectory(),
      watch(watcher) {
        watchers.push(watcher);
        return () => {};
      },
    };
    const { gate, warnings } = openGate({ rules: [perIp], directory });
    for (let outage = 0; outage < 3; outage++) {
      watchers[0]?.failed(new Error("connection lost"));
      watchers[0]?.failed(new Error("connection lost"));
      watchers[0]?.reset("blocklist", []);
    }
    expect(warnings.map(({ code }) => code)).toEqual(Array(3).fill("TG_DIRECTORY_UNREACHABLE"));
    await gate.close();
  });

  it("what is no address is refused by name", async () => {
    const { gate } = openGate({ rules: [perIp] });
    await expect(gate.blocklist.add("everyone")).rejects.toThrow("TG_LIST_ADDRESS");
    expect(() => openGate({ rules: [perIp], safelist: ["10.0.0.0/40"] })).toThrow("safelist[0]");
  });
});

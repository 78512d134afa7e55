import { afterEach, describe, expect, it, vi } from "vitest";
import { concurrency, createGate, memoryStore, slidingLog, tokenBucket } from "./index.js";
import { client, openGate, perIp, start, times } from "./testing/open-gate.js";
import { subjectOf } from "./testing/subject.js";
import { virtualClock } from "./testing/virtual-clock.js";

afterEach(() => {
  vi.useRealTimers();
});

describe("what must not slip through", () => {
  it("a weight no limit takes weighs 1, and lets nobody pass by the other rules", async () => {
    const { gate } = openGate({
      rules: [
        { name: "bytes", by: "ip", limits: [slidingLog({ limit: 1000, window: "1h" })], cost: () => 1e-9 },
        perIp,
      ],
    });
    const decisions = await times(5, () => gate.decide(client));
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(3);
    expect(() =>
      openGate({
        rules: [{ ...perIp, limits: [slidingLog({ limit: 5, window: "1h", encoding: "list" })], cost: 2 }],
      }),
    ).toThrow("TG_ENCODING");
  });

  it("what is said of a connection that no adapter made changes nothing", async () => {
    const { gate } = openGate({ rules: [perIp] });
    const connection = { told: () => ({ ip: "203.0.113.250" }) };
    const forged = { ...client, connection };
    const decisions = await times(4, () => gate.decide(forged, { connection } as object));
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
    expect((await gate.decide(client)).allowed).toBe(false);
  });

  it("a policy too large for one decision is refused when made, a crowd counted in", () => {
    const many = (by: "ip" | "header:x", length: number) =>
      Array.from({ length }, (_, i) => ({ name: `r${i}`, by, limits: ["1 per hour"] }) as const);
    for (const by of ["ip", "header:x"] as const) {
      expect(() => openGate({ rules: many(by, 128) })).toThrow("TG_POLICY_LARGE");
      expect(() => openGate({ rules: many(by, 127) })).not.toThrow();
      expect(() => openGate({ rules: many(by, 255), newKeysPerSecond: false })).not.toThrow();
    }
  });

  it("the largest policy there may be is judged for a crowd of IPv6 clients too", async () => {
    const rules = [
      ...Array.from(
        { length: 10 },
        (_, i) => ({ name: `tier ${i}`, by: "customer", limits: "tier" }) as const,
      ),
      ...Array.from(
        { length: 7 },
        (_, i) => ({ name: `ip ${i}`, by: "ip", limits: ["1000 per hour"] }) as const,
      ),
    ];
    const tiers = { free: ["1000 per hour"] } as const;
    expect(() => openGate({ rules: [...rules, { ...perIp }], tiers })).toThrow("TG_POLICY_LARGE");
    const { gate } = openGate({ rules, tiers, newKeysPerSecond: 1 });
    const windows = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [i + 1, 1000]));
    for (let i = 0; i < 4; i++) {
      await gate.customers.setLimits(`c${i}`, windows);
      const visit = subjectOf(`2001:db8:0:${i}::1`, { customer: `c${i}` });
      expect(await gate.decide(visit)).toMatchObject({ allowed: true, reason: "within-limits" });
    }
    const crowded = await gate.decide(subjectOf("2001:db8:0:9::1", { customer: "c3" }));
    expect(crowded.verdicts).toHaveLength(2 * (10 * 12 + 7));
  });

  it.each([
    [{ ...perIp, by: "header:foo bar" }, "TG_BY"],
    [{ ...perIp, name: "req crowd" }, "TG_NAME"],
    [{ ...perIp, hold: { for: "1m" }, action: "delay" }, "TG_HOLD"],
    [{ ...perIp, hold: { for: "1m" }, trust: { by: "ip", for: "1d" } }, "TG_HOLD"],
    [{ ...perIp, action: "delay", trust: { by: "ip", for: "1d" } }, "TG_DELAY"],
    [{ ...perIp, only: "PSOT /login" }, "TG_MATCH"],
  ])("%j is refused when made", (rule, code) => {
    expect(() => openGate({ rules: [rule as never] })).toThrow(code);
  });

  it("a key function that asks the gate itself leaves no rule under another's key", async () => {
    const asked: Promise<unknown>[] = [];
    const { gate } = openGate({
      rules: [
        perIp,
        {
          name: "user",
          by: ({ ip, user }) => {
            if (user === "outer") asked.push(gate.decide({ ...client, ip, user: "inner" }));
            return user;
          },
          limits: ["9 per hour"],
        },
      ],
    });
    for (let i = 0; i < 2; i++) {
      const { verdicts } = await gate.decide({ ...client, ip: `203.0.113.${i}`, user: "outer" });
      expect(verdicts.map(({ key }) => key)).toEqual([`203.0.113.${i}`, "outer"]);
      await expect(asked.at(-1)).resolves.toMatchObject({
        verdicts: [{ key: `203.0.113.${i}` }, { key: "inner" }],
      });
    }
    expect(gate.metrics().byRule.user).toMatchObject({ judged: 4 });
  });

  it("a limit that throws leaves nothing charged by the rules before it", async () => {
    const limit = tokenBucket({ rate: 1, per: "1s", burst: 9 });
    let isBroken = false;
    const broken = {
      ...limit,
      step: (...args: Parameters<typeof limit.step>) => {
        if (isBroken) throw new Error("broken");
        limit.step(...args);
      },
    };
    const { gate } = openGate({ rules: [perIp, { name: "odd", by: "ip", limits: [broken] }] });
    const left = async () => (await gate.decide(client)).verdicts[0]?.remaining;
    expect(await left()).toBe(2);
    isBroken = true;
    await expect(gate.decide(client)).rejects.toThrow("broken");
    isBroken = false;
    expect(await left()).toBe(1);
  });

  it("a huge override is refused by the API and survived in the data", async () => {
    const tiers = { free: ["1 per hour"] } as const;
    const { gate } = openGate({ rules: [{ name: "api", by: "customer", limits: "tier" }], tiers });
    await expect(gate.customers.setLimits("7", { 60: 1e300 })).rejects.toThrow("TG_OVERRIDE");
  });

  it("a lease of a tier is released when the request ends", async () => {
    const tiers = { free: [concurrency({ limit: 1, leaseFor: "1h" })] };
    const { gate } = openGate({ rules: [{ name: "api", by: "ip", limits: "tier" }], tiers });
    const first = await gate.decide(client);
    expect((await gate.decide(client)).allowed).toBe(false);
    await first.finish({ status: 200 });
    expect((await gate.decide(client)).allowed).toBe(true);
  });

  it("what a rule's own function counts as a failure clears nothing", async () => {
    const { gate } = openGate({
      rules: [{ ...perIp, count: ({ status }) => status === 302, clearOnSuccess: true }],
    });
    for (let i = 0; i < 3; i++) await (await gate.decide(client)).finish({ status: 302 });
    expect((await gate.decide(client)).allowed).toBe(false);
  });

  it("a rule that delays and refuses after all speaks for itself", async () => {
    vi.useFakeTimers({ now: start });
    const gate = createGate({
      rules: [
        { name: "open", by: "ip", limits: ["5 per hour"] },
        {
          name: "leaky",
          by: "ip",
          limits: [tokenBucket({ rate: "1 per second", burst: 50 })],
          action: "delay",
          maxDelay: "500ms",
          expose: false,
        },
      ],
    });
    await gate.decide(client);
    const refused = await gate.decide(client);
    expect(refused).toMatchObject({ allowed: false, verdict: { rule: "leaky" } });
    expect(refused.exposed.map(({ rule }) => rule)).toEqual(["open"]);
    expect((await gate.explain(client)).rules[0]?.verdicts[0]?.remaining).toBe(4);
  });

  it("in an outage a rule that denies denies only where it applies, though it holds everywhere", async () => {
    const broken = {
      decide: () => Promise.reject(new Error("down")),
      peek: () => Promise.reject(new Error("down")),
    };
    const gate = createGate({
      store: broken as never,
      onWarning: () => {},
      rules: [{ ...perIp, only: "/.env", hold: { for: "1h", everywhere: true }, onStoreFailure: "deny" }],
    });
    expect((await gate.decide(subjectOf("203.0.113.7", { path: "/.env" }))).allowed).toBe(false);
    expect((await gate.decide(client)).allowed).toBe(true);
  });

  it("in an outage a crowd goes the way of its rule", async () => {
    const gate = createGate({
      store: { decide: () => Promise.reject(new Error("down")) } as never,
      onWarning: () => {},
      newKeysPerSecond: 1,
      rules: [{ name: "account", by: "account", limits: ["1 per hour"], onStoreFailure: "allow" }],
    });
    for (const account of ["a", "b", "c", "d"]) {
      expect((await gate.decide(subjectOf("203.0.113.7", { account }))).allowed).toBe(true);
    }
  });

  it("clear lifts what the crowd did, and trust", async () => {
    const { gate } = openGate({
      newKeysPerSecond: 1,
      rules: [
        { name: "account", by: "account", limits: ["1 per hour"], trust: { by: "account", for: "1d" } },
      ],
    });
    const as = (account: string) => gate.decide(subjectOf("203.0.113.7", { account }));
    for (const name of ["a", "b", "c"]) await as(name);
    expect((await as("d")).allowed).toBe(false);
    await gate.clear({ ip: "203.0.113.7", account: "d" });
    expect((await as("d")).allowed).toBe(true);
  });

  it("the policy a gate shows can be put in force again, switched off", async () => {
    const { gate } = openGate({ rules: [perIp] });
    gate.update({ ...gate.policy, mode: "off" });
    expect((await gate.decide(client)).reason).toBe("off");
  });

  it("facts of a class are facts: what has an account by a getter can be cleared by it", async () => {
    class Asked {
      ip = "203.0.113.7";
      method = "GET";
      host = "example.com";
      path = "/";
      header(): undefined {}
      get account(): string {
        return "bob";
      }
    }
    const { gate } = openGate({ rules: [{ name: "account", by: "account", limits: ["1 per hour"] }] });
    expect((await gate.clear(new Asked())).cleared).toEqual([{ rule: "account", key: "bob" }]);
  });

  it("misuse is explained: no options, no subject, an unknown event, everyone on a list", async () => {
    expect(() => createGate(undefined as never)).toThrow("TG_OPTIONS");
    const { gate } = openGate({ rules: [perIp] });
    await expect(gate.decide("1.2.3.4" as never)).rejects.toThrow(/^subject: /);
    await expect(gate.clear("1.2.3.4" as never)).rejects.toThrow(/^subject: /);
    expect(() => gate.on("refuse" as never, () => {})).toThrow('"refuse"');
    await expect(gate.blocklist.add("0.0.0.0/0")).rejects.toThrow("TG_LIST_EVERYONE");
    await expect(gate.blocklist.add("1.2.3.4", { reason: "x" } as never)).rejects.toThrow(
      "TG_OPTION_UNKNOWN",
    );
    expect((await gate.clear({ ip: "1.2.3.400" })).unknown).toEqual(["req/ip"]);
    expect((await gate.explain({ ip: "1.2.3.4" })).words).toMatch(/^GET \/ from 1\.2\.3\.4 passes/);
  });
});

describe("a cap on new identities", () => {
  it("an app's function for the key is asked once for each request, named or not, within the cap and beyond", async () => {
    const asked = vi.fn(({ user }: { user?: string | undefined }) => user);
    const { gate } = openGate({
      rules: [{ name: "own", by: asked, limits: ["5 per 1m"] }],
      newKeysPerSecond: 2,
    });
    for (let i = 0; i < 10; i++) await gate.decide(subjectOf("203.0.113.7", { user: `user ${i}` }));
    await gate.decide(client);
    expect(asked).toHaveBeenCalledTimes(11);
  });

  it("one block's flood of new keys is counted as one; others and clients known before are not touched", async () => {
    const store = memoryStore();
    const gate = createGate({
      store,
      newKeysPerSecond: 10,
      clock: virtualClock(start),
      rules: [{ name: "key", by: "header:x-name", limits: ["5 per 1m"] }],
    });
    const named = (ip: string, name: string) => subjectOf(ip, { headers: { "x-name": name } });
    await gate.decide(named("203.0.113.7", "ann"));
    const flood = await Promise.all(
      Array.from({ length: 1000 }, (_, i) => gate.decide(named(`203.0.113.${i % 250}`, `made-up-${i}`))),
    );
    expect(flood.filter(({ allowed }) => allowed)).toHaveLength(9 + 5);
    // Ten of its own, what its crowd let pass, and the crowd.
    expect(store.size).toBeLessThanOrEqual(10 + 5 + 1);
    expect((await gate.decide(named("203.0.113.7", "ann"))).verdict?.key).toBe("ann");
    expect((await gate.decide(named("198.51.100.1", "eve"))).verdict?.key).toBe("eve");
  });
});

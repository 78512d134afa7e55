import { afterEach, describe, expect, it, vi } from "vitest";
import { concurrency, createGate, memoryStore, tokenBucket } from "./index.js";
import { client, openGate, perIp, start, times } from "./testing/open-gate.js";
import { subjectOf } from "./testing/subject.js";

afterEach(() => {
  vi.useRealTimers();
});

describe("the ladder: off, safelist, blocklist, held, rules", () => {
  it("a client over the limit is refused, and no other", async () => {
    const { gate } = openGate({ rules: [perIp] });
    const decisions = await times(4, () => gate.decide(client));
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
    expect(decisions[0]).toMatchObject({ reason: "within-limits", source: "store" });
    expect(decisions[3]).toMatchObject({
      reason: "over-limit",
      verdict: { name: "req/ip/60", retryAfterMs: 60_000 },
    });
    expect((await gate.decide(subjectOf("203.0.113.8"))).allowed).toBe(true);
  });

  it("without a rule that applies a request passes, and says so", async () => {
    const { gate } = openGate({ rules: [{ ...perIp, only: "/api" }] });
    expect(await gate.decide(client)).toMatchObject({ allowed: true, reason: "no-rule", verdicts: [] });
  });

  it("off comes before everything, safelist before blocklist, blocklist before rules", async () => {
    const lists = { safelist: ["203.0.113.0/28"], blocklist: ["203.0.113.0/24"] };
    const { gate } = openGate({ rules: [perIp], ...lists });
    const decisions = await times(10, () => gate.decide(client));
    expect(decisions.every(({ allowed, reason }) => allowed && reason === "safelist")).toBe(true);
    expect(await gate.decide(subjectOf("203.0.113.77"))).toMatchObject({
      allowed: false,
      reason: "blocklist",
      listed: { address: "203.0.113.0/24" },
    });
    gate.update({ mode: "off", rules: [perIp], ...lists });
    expect(await gate.decide(subjectOf("203.0.113.77"))).toMatchObject({ allowed: true, reason: "off" });
  });

  it("a safelisted client consumes no counters", async () => {
    const store = memoryStore();
    const gate = createGate({ store, rules: [perIp], safelist: ["102.232.240.209"] });
    await times(100, () => gate.decide(subjectOf("102.232.240.209")));
    expect(store.size).toBe(0);
  });

  it("a rule that is off judges nobody", async () => {
    const { gate } = openGate({ rules: [{ ...perIp, mode: "off" }] });
    const decisions = await times(9, () => gate.decide(client));
    expect(decisions.every(({ allowed, reason }) => allowed && reason === "off")).toBe(true);
  });

  it("a shadow rule is judged and reported and refuses nobody", async () => {
    const { gate } = openGate({ rules: [{ ...perIp, mode: "shadow" }] });
    const decisions = await times(5, () => gate.decide(client));
    expect(decisions.every(({ allowed }) => allowed)).toBe(true);
    expect(decisions[4]?.verdicts).toMatchObject([{ allowed: false, shadow: true }]);
    expect(decisions[4]?.verdict).toBeUndefined();
    expect(decisions[4]?.exposed).toEqual([]);
    expect(gate.metrics().byRule["req/ip"]).toMatchObject({ judged: 5, refused: 0, shadowRefused: 2 });
  });

  it("a policy in shadow refuses nobody, listed or not", async () => {
    const { gate } = openGate({ mode: "shadow", rules: [perIp], blocklist: ["203.0.113.9"] });
    expect((await times(9, () => gate.decide(client))).every(({ allowed }) => allowed)).toBe(true);
    expect(await gate.decide(subjectOf("203.0.113.9"))).toMatchObject({ allowed: true, reason: "blocklist" });
  });
});

describe("rules", () => {
  it("several rules hold together: refused by one, charged to none", async () => {
    const { gate } = openGate({
      rules: [
        { name: "all", by: "ip", limits: ["100 per hour"] },
        { name: "search", only: "/search", by: "ip", limits: ["1 per minute"] },
      ],
    });
    const search = subjectOf("203.0.113.7", { path: "/search?q=a" });
    await gate.decide(search);
    await times(5, () => gate.decide(search));
    const { verdicts } = await gate.decide(client);
    expect(verdicts).toMatchObject([{ name: "all/3600", remaining: 98 }]);
  });

  it("IPv6 clients are counted by /64, IPv4-mapped ones as IPv4", async () => {
    const { gate } = openGate({ rules: [perIp] });
    for (const ip of ["2001:db8::1", "2001:db8::2", "2001:db8::3:4:5"]) await gate.decide(subjectOf(ip));
    expect(await gate.decide(subjectOf("2001:db8::9"))).toMatchObject({
      allowed: false,
      verdict: { key: "2001:db8::/64" },
    });
    expect((await gate.decide(subjectOf("2001:db8:0:1::9"))).allowed).toBe(true);
    await times(3, () => gate.decide(subjectOf("::ffff:198.51.100.1")));
    expect((await gate.decide(subjectOf("198.51.100.1"))).allowed).toBe(false);
  });

  it("addresses that can not be read are counted as one, never let through uncounted", async () => {
    const { gate } = openGate({ rules: [perIp] });
    for (const ip of ["", "garbage", "999.1.1.1"]) await gate.decide(subjectOf(ip));
    expect((await gate.decide(subjectOf("256.0.0.1"))).allowed).toBe(false);
    expect(await gate.decide(undefined as never).catch((error: Error) => error)).toBeInstanceOf(Error);
  });

  it("a fact the request lacks makes a rule not apply; in a list it counts as empty unless all are missing", async () => {
    const { gate } = openGate({
      rules: [
        { name: "user", by: "user", limits: ["1 per minute"] },
        { name: "pair", by: ["user", "account"], limits: ["1 per minute"] },
      ],
    });
    expect((await gate.decide(client)).reason).toBe("no-rule");
    const claimed = subjectOf("203.0.113.7", { account: "Bob " });
    expect((await gate.decide(claimed)).verdicts).toMatchObject([{ rule: "pair", key: "|bob" }]);
  });

  it("no two combinations of facts share a key", async () => {
    const { gate } = openGate({
      rules: [{ name: "pair", by: ["user", "customer"], limits: ["1 per minute"] }],
    });
    const pairs = [
      ["a|b", "c"],
      ["a", "b|c"],
      ["a%7Cb", "c"],
      ["a%", "7Cb|c"],
    ] as const;
    const decisions = await Promise.all(
      pairs.map(([user, customer]) => gate.decide(subjectOf("203.0.113.7", { user, customer }))),
    );
    expect(new Set(decisions.map(({ verdict }) => verdict?.key)).size).toBe(pairs.length);
  });

  it("secrets are counted under their digest", async () => {
    const { gate } = openGate({
      rules: [
        { name: "key", by: "apiKey", limits: ["9 per minute"] },
        { name: "session", by: "cookie:sid", limits: ["9 per minute"] },
        { name: "auth", by: "header:Authorization", limits: ["9 per minute"] },
        { name: "tenant", by: "header:x-tenant", limits: ["9 per minute"] },
      ],
    });
    const headers = { authorization: "Bearer s3cret", cookie: "a=1; sid=s3cret; b=2", "x-tenant": "acme" };
    const { verdicts } = await gate.decide(subjectOf("203.0.113.7", { headers }));
    expect(verdicts.map(({ rule }) => rule)).toEqual(["key", "session", "auth", "tenant"]);
    expect(verdicts.map(({ key }) => key).join()).not.toContain("s3cret");
    expect(verdicts[3]?.key).toBe("acme");
  });

  it("a cost may depend on the request; what is no cost weighs 1", async () => {
    const { gate } = openGate({
      rules: [
        { ...perIp, limits: ["10 per minute"], cost: ({ path }) => (path === "/heavy" ? 5 : Number.NaN) },
      ],
    });
    await gate.decide(subjectOf("203.0.113.7", { path: "/heavy" }));
    expect((await gate.decide(client)).verdict?.remaining).toBe(4);
  });

  it("a hidden rule shows no verdict to the client", async () => {
    const { gate } = openGate({ rules: [{ ...perIp, expose: false }] });
    const [first] = await times(1, () => gate.decide(client));
    expect(first).toMatchObject({ exposed: [], verdicts: [{ rule: "req/ip" }] });
  });
});

describe("holds", () => {
  const held = { ...perIp, hold: { after: 2, for: ["1m", "5m"], forget: "1h" } } as const;

  it("so many refusals hold a client, longer each time, and it is told until when", async () => {
    const { gate, clock } = openGate({ rules: [held] });
    const begun: unknown[] = [];
    gate.on("held", ({ rule, key, until }) => begun.push([rule, key, until - start]));
    await times(4, () => gate.decide(client));
    const crossing = await gate.decide(client);
    expect(crossing).toMatchObject({
      allowed: false,
      reason: "over-limit",
      verdict: { crossed: true, retryAfterMs: 60_000 },
    });
    clock.advance("30s");
    expect(await gate.decide(client)).toMatchObject({ reason: "held", verdict: { retryAfterMs: 30_000 } });
    clock.advance("30s");
    await times(3, () => gate.decide(client));
    await times(2, () => gate.decide(client));
    expect(begun).toEqual([
      ["req/ip", "203.0.113.7", 60_000],
      ["req/ip", "203.0.113.7", 360_000],
    ]);
    expect(gate.metrics().byRule["req/ip"]?.held).toBe(2);
  });

  it("a hold reaches only where its rule applies, unless it is to reach everywhere", async () => {
    for (const everywhere of [false, true]) {
      const { gate } = openGate({
        rules: [
          { ...perIp, only: "/wp-admin", limits: ["0 per 1m"], hold: { after: 3, for: "1h", everywhere } },
        ],
      });
      const probe = subjectOf("203.0.113.7", { path: "/wp-admin/setup.php" });
      expect((await gate.decide(client)).allowed).toBe(true);
      await times(3, () => gate.decide(probe));
      expect((await gate.decide(client)).allowed).toBe(!everywhere);
    }
  });

  it("the ladder's own check shows nowhere", async () => {
    const { gate } = openGate({ rules: [held] });
    const { verdicts, exposed } = await gate.decide(client);
    expect(verdicts).toHaveLength(1);
    expect(exposed).toHaveLength(1);
    expect((await gate.explain(client)).rules[0]?.verdicts).toHaveLength(1);
  });

  it("clear lifts a hold", async () => {
    const { gate } = openGate({ rules: [held] });
    await times(6, () => gate.decide(client));
    expect(await gate.clear({ ip: "203.0.113.7" })).toEqual({
      cleared: [{ rule: "req/ip", key: "203.0.113.7" }],
      unknown: [],
    });
    expect(await gate.decide(client)).toMatchObject({ allowed: true, verdict: { remaining: 2 } });
  });
});

describe("rules that delay", () => {
  it("a request waits until it may pass instead of being refused", async () => {
    vi.useFakeTimers({ now: start });
    const gate = createGate({
      rules: [{ name: "slow", by: "ip", limits: ["1 per 1s"], action: "delay", maxDelay: "5s" }],
    });
    await gate.decide(client);
    const second = gate.decide(client);
    await vi.advanceTimersByTimeAsync(999);
    expect(gate.metrics().waiting).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await second).toMatchObject({ allowed: true, delayedMs: 1000 });
    expect(gate.metrics()).toMatchObject({ waiting: 0, delayed: 1 });
  });

  it("it is refused when the wait would be too long, the room is full, or another rule refuses", async () => {
    vi.useFakeTimers({ now: start });
    const slow = { name: "slow", by: "ip", limits: ["1 per 10s"], action: "delay", maxDelay: "5s" } as const;
    const long = createGate({ rules: [slow] });
    await long.decide(client);
    expect((await long.decide(client)).allowed).toBe(false);
    const full = createGate({ rules: [{ ...slow, maxDelay: "20s" }], maxDelayed: 1 });
    await full.decide(client);
    void full.decide(client);
    await vi.advanceTimersByTimeAsync(0);
    expect((await full.decide(client)).allowed).toBe(false);
    const strict = createGate({
      rules: [
        { ...slow, maxDelay: "20s" },
        { ...perIp, limits: ["1 per hour"] },
      ],
    });
    await strict.decide(client);
    expect((await strict.decide(client)).allowed).toBe(false);
  });

  it("a leaky bucket's delay is kept", async () => {
    vi.useFakeTimers({ now: start });
    const gate = createGate({
      rules: [
        {
          name: "leaky",
          by: "ip",
          limits: [tokenBucket({ rate: "10 per second", burst: 5 })],
          action: "delay",
        },
      ],
    });
    await gate.decide(client);
    const second = gate.decide(client);
    await vi.advanceTimersByTimeAsync(100);
    expect(await second).toMatchObject({ allowed: true, delayedMs: 100 });
  });

  it("a caller that is gone waits no longer", async () => {
    vi.useFakeTimers({ now: start });
    const gate = createGate({ rules: [{ name: "slow", by: "ip", limits: ["1 per 10s"], action: "delay" }] });
    await gate.decide(client);
    const gone = new AbortController();
    const waiting = gate.decide(client, { signal: gone.signal });
    await vi.advanceTimersByTimeAsync(10);
    gone.abort();
    await waiting;
    expect(gate.metrics().waiting).toBe(0);
  });
});

describe("update", () => {
  it("swaps rules while counts go on, or changes nothing at all", async () => {
    const { gate } = openGate({ rules: [perIp] });
    await times(3, () => gate.decide(client));
    gate.update({ rules: [{ ...perIp, limits: ["5 per 1m"] }] });
    expect((await gate.decide(client)).verdict).toMatchObject({ allowed: true, remaining: 1 });
    expect(() => gate.update({ rules: [perIp, perIp] })).toThrow("TG_RULE_TWICE");
    expect(() => gate.update({ rules: [perIp], store: memoryStore() } as never)).toThrow("TG_OPTION_UNKNOWN");
    expect((await gate.decide(client)).verdict).toMatchObject({ allowed: true, remaining: 0 });
  });
});

describe("events, metrics, busiest", () => {
  it("tells of decisions and refusals; a listener that throws changes nothing", async () => {
    const { gate } = openGate({ rules: [perIp] });
    const spy = vi.spyOn(console, "error").mockImplementation(() => {});
    const seen: string[] = [];
    gate.on("decision", () => {
      throw new Error("listener");
    });
    const stop = gate.on("refused", ({ decision }) => seen.push(decision.reason));
    await times(4, () => gate.decide(client));
    stop();
    await gate.decide(client);
    expect(seen).toEqual(["over-limit"]);
    expect(spy).toHaveBeenCalledTimes(5);
    spy.mockRestore();
  });

  it("counts what it did", async () => {
    const { gate } = openGate({
      rules: [{ ...perIp, limits: ["3 per 1m", "4 per hour"] }],
      blocklist: ["198.51.100.1"],
    });
    await times(5, () => gate.decide(client));
    await gate.decide(subjectOf("198.51.100.1"));
    expect(gate.metrics()).toMatchObject({
      decisions: 6,
      allowed: 3,
      refused: 3,
      degraded: false,
      byReason: { "within-limits": 3, "over-limit": 2, blocklist: 1 },
      byRule: { "req/ip": { judged: 5, refused: 2 } },
      blocklistEntries: 1,
    });
    expect(gate.busiest(1)).toMatchObject([{ key: "203.0.113.7", refused: expect.any(Number) }]);
  });

  it("ids are of one gate and differ", async () => {
    const { gate } = openGate({ rules: [perIp] });
    const ids = (await times(100, () => gate.decide(client))).map(({ id }) => id);
    expect(new Set(ids).size).toBe(100);
  });
});

describe("what can not work is explained when the gate is made", () => {
  it.each([
    [{ rules: [perIp, perIp] }, "TG_RULE_TWICE", "rules[1].name"],
    [{ rules: [{ ...perIp, name: "é" }] }, "TG_NAME", "rules[0].name"],
    [{ rules: [{ ...perIp, by: "everyone" }] }, "TG_BY", '("req/ip").by'],
    [{ rules: [{ ...perIp, limits: [] }] }, "TG_LIMITS", '("req/ip").limits'],
    [{ rules: [{ ...perIp, limits: "tier" }] }, "TG_TIER_UNKNOWN", ".limits"],
    [{ rules: [perIp], tiers: { free: ["1/day"] }, defaultTier: "gold" }, "TG_TIER_UNKNOWN", "defaultTier"],
    [{ rules: [{ ...perIp, only: "/a", except: "/" }] }, "TG_MATCH_NOTHING", "except"],
    [{ rules: [{ ...perIp, only: "/api/v1", except: "/api" }] }, "TG_MATCH_NOTHING", "except"],
    [{ rules: [{ ...perIp, mode: "dry-run" }] }, "TG_CHOICE", ".mode"],
    [{ rules: [{ ...perIp, count: "errors" }] }, "TG_COUNT", ".count"],
    [{ rules: [{ ...perIp, cost: 0 }] }, "TG_COST", ".cost"],
    [{ rules: [{ ...perIp, hold: { for: [] } }] }, "TG_HOLD", ".hold.for"],
    [{ rules: [{ ...perIp, hold: { after: 0, for: "1m" } }] }, "TG_HOLD", ".hold.after"],
    [{ rules: [{ ...perIp, count: "successes", clearOnSuccess: true }] }, "TG_CLEAR", ".clearOnSuccess"],
    [
      { rules: [{ ...perIp, limits: [concurrency({ limit: 2, leaseFor: "1m" })], clearOnSuccess: true }] },
      "TG_CLEAR",
      ".clearOnSuccess",
    ],
    [{ rules: [{ ...perIp, maxDelay: "1s" }] }, "TG_DELAY", ".maxDelay"],
    [{ rules: [{ ...perIp, limit: "1/day" }] }, "TG_OPTION_UNKNOWN", "rules[0].limit"],
    [{ rules: {} }, "TG_RULES", "rules"],
    [{ rules: [perIp], newKeysPerSecond: 0 }, "TG_NUMBER", "newKeysPerSecond"],
    [{ rules: [perIp], identity: { ipv6Prefix: 200 } }, "TG_NUMBER", "identity.ipv6Prefix"],
    [{ rules: [perIp], store: {} }, "TG_STORE", "createGate.store"],
    [{ rules: [perIp], safelist: ["10.0.0.0/8", "0.0.0.0/0"] }, "TG_LIST_EVERYONE", "safelist[1]"],
    [{ rules: [perIp], blocklist: ["::/0"] }, "TG_LIST_EVERYONE", "blocklist[0]"],
    [{ rules: [perIp], whitelist: [] }, "TG_OPTION_UNKNOWN", "createGate.whitelist"],
  ])("%j", (options, code, path) => {
    expect(() => createGate(options as never)).toThrow(code);
    expect(() => createGate(options as never)).toThrow(path);
  });

  it("paths limited only for those logged in are pointed out, by the rule's name", () => {
    const users = { name: "users", only: "/api", by: "user", limits: ["1 per hour"] } as const;
    expect(openGate({ rules: [users] }).warnings).toMatchObject([
      { code: "TG_STRANGERS_FREE", message: expect.stringContaining('"users"') },
    ]);
    for (const by of ["broad", "apiKey", "account", "header:x-id", "cookie:session"] as const) {
      const other = { ...perIp, by };
      expect(openGate({ rules: [users, other] }).warnings).toMatchObject([{ code: "TG_STRANGERS_FREE" }]);
    }
    for (const by of ["ip", "network", "standard", "path", ["account", "ip"], () => "all"] as const) {
      expect(openGate({ rules: [users, { ...perIp, by }] }).warnings).toEqual([]);
    }
  });
});

import { afterEach, describe, expect, it, vi } from "vitest";
import type { Decision } from "./decision.js";
import {
  concurrency,
  createGate,
  earrrl,
  type Gate,
  type GateOptions,
  memoryStore,
  slidingLog,
  tokenBucket,
  type Warning,
} from "./index.js";
import { memoryDirectory } from "./policy/lists/memory-directory.js";
import { subjectOf } from "./testing/subject.js";
import { type VirtualClock, virtualClock } from "./testing/virtual-clock.js";

const start = 1_700_000_040_000;

function open(options: Partial<GateOptions> & Pick<GateOptions, "rules">): {
  gate: Gate;
  clock: VirtualClock;
  warnings: Warning[];
} {
  const clock = virtualClock(start);
  const warnings: Warning[] = [];
  const gate = createGate({
    store: memoryStore({ clock }),
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  return { gate, clock, warnings };
}

const perIp = { name: "req/ip", by: "ip", limits: ["3 per 1m"] } as const;
const client = subjectOf("203.0.113.7");

async function times(count: number, act: () => Promise<Decision>): Promise<Decision[]> {
  const decisions: Decision[] = [];
  for (let i = 0; i < count; i++) decisions.push(await act());
  return decisions;
}

afterEach(() => {
  vi.useRealTimers();
});

describe("the ladder: off, safelist, blocklist, held, rules", () => {
  it("a client over the limit is refused, and no other", async () => {
    const { gate } = open({ rules: [perIp] });
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
    const { gate } = open({ rules: [{ ...perIp, only: "/api" }] });
    expect(await gate.decide(client)).toMatchObject({ allowed: true, reason: "no-rule", verdicts: [] });
  });

  it("off comes before everything, safelist before blocklist, blocklist before rules", async () => {
    const lists = { safelist: ["203.0.113.0/28"], blocklist: ["203.0.113.0/24"] };
    const { gate } = open({ rules: [perIp], ...lists });
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
    const { gate } = open({ rules: [{ ...perIp, mode: "off" }] });
    const decisions = await times(9, () => gate.decide(client));
    expect(decisions.every(({ allowed, reason }) => allowed && reason === "off")).toBe(true);
  });

  it("a shadow rule is judged and reported and refuses nobody", async () => {
    const { gate } = open({ rules: [{ ...perIp, mode: "shadow" }] });
    const decisions = await times(5, () => gate.decide(client));
    expect(decisions.every(({ allowed }) => allowed)).toBe(true);
    expect(decisions[4]?.verdicts).toMatchObject([{ allowed: false, shadow: true }]);
    expect(decisions[4]?.verdict).toBeUndefined();
    expect(decisions[4]?.exposed).toEqual([]);
    expect(gate.metrics().byRule["req/ip"]).toMatchObject({ judged: 5, refused: 0, shadowRefused: 2 });
  });

  it("a policy in shadow refuses nobody, listed or not", async () => {
    const { gate } = open({ mode: "shadow", rules: [perIp], blocklist: ["203.0.113.9"] });
    expect((await times(9, () => gate.decide(client))).every(({ allowed }) => allowed)).toBe(true);
    expect(await gate.decide(subjectOf("203.0.113.9"))).toMatchObject({ allowed: true, reason: "blocklist" });
  });
});

describe("rules", () => {
  it("several rules hold together: refused by one, charged to none", async () => {
    const { gate } = open({
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
    const { gate } = open({ rules: [perIp] });
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
    const { gate } = open({ rules: [perIp] });
    for (const ip of ["", "garbage", "999.1.1.1"]) await gate.decide(subjectOf(ip));
    expect((await gate.decide(subjectOf("256.0.0.1"))).allowed).toBe(false);
    expect(await gate.decide(undefined as never).catch((error: Error) => error)).toBeInstanceOf(Error);
  });

  it("a fact the request lacks makes a rule not apply; in a list it counts as empty unless all are missing", async () => {
    const { gate } = open({
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
    const { gate } = open({ rules: [{ name: "pair", by: ["user", "customer"], limits: ["1 per minute"] }] });
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
    const { gate } = open({
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
    const { gate } = open({
      rules: [
        { ...perIp, limits: ["10 per minute"], cost: ({ path }) => (path === "/heavy" ? 5 : Number.NaN) },
      ],
    });
    await gate.decide(subjectOf("203.0.113.7", { path: "/heavy" }));
    expect((await gate.decide(client)).verdict?.remaining).toBe(4);
  });

  it("a hidden rule shows no verdict to the client", async () => {
    const { gate } = open({ rules: [{ ...perIp, expose: false }] });
    const [first] = await times(1, () => gate.decide(client));
    expect(first).toMatchObject({ exposed: [], verdicts: [{ rule: "req/ip" }] });
  });
});

describe("counting by outcome", () => {
  const login = {
    name: "login",
    only: { method: "POST", path: "/login" },
    by: ["ip", "account"],
    limits: ["5 per 1m"],
    count: "failures",
  } as const;
  const attempt = subjectOf("203.0.113.7", { method: "POST", path: "/login", account: "bob" });

  it("only failures count; a success gives its reservation back", async () => {
    const { gate } = open({ rules: [login] });
    for (let i = 0; i < 20; i++) await (await gate.decide(attempt)).finish({ status: 200 });
    for (let i = 0; i < 5; i++) await (await gate.decide(attempt)).finish({ status: 401 });
    expect((await gate.decide(attempt)).allowed).toBe(false);
  });

  it("a thousand parallel guesses do not slip through", async () => {
    const { gate } = open({ rules: [login] });
    const decisions = await Promise.all(Array.from({ length: 1000 }, () => gate.decide(attempt)));
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(5);
  });

  it("finish counts once, and no answer counts", async () => {
    const { gate } = open({ rules: [login] });
    const first = await gate.decide(attempt);
    await first.finish({ status: 200 });
    await first.finish({ status: 200 });
    expect((await gate.explain(attempt)).rules[0]?.verdicts[0]?.remaining).toBe(5);
    await (await gate.decide(attempt)).finish();
    expect((await gate.explain(attempt)).rules[0]?.verdicts[0]?.remaining).toBe(4);
  });

  it("successes and functions of the outcome count likewise; one that throws counts", async () => {
    const { gate } = open({
      rules: [
        { name: "signups", by: "ip", limits: ["9 per minute"], count: "successes" },
        { name: "teapots", by: "ip", limits: ["9 per minute"], count: ({ status }) => status === 418 },
        {
          name: "broken",
          by: "ip",
          limits: ["9 per minute"],
          count: () => {
            throw new Error("no");
          },
        },
      ],
    });
    await (await gate.decide(client)).finish({ status: 418 });
    const { rules } = await gate.explain(client);
    expect(rules.map(({ verdicts }) => verdicts[0]?.remaining)).toEqual([9, 8, 8]);
  });

  it("a success may clear what was counted under its key, and nothing else", async () => {
    const { gate } = open({
      rules: [
        { ...login, clearOnSuccess: true },
        { name: "by-ip", by: "ip", limits: ["100 per hour"] },
      ],
    });
    for (let i = 0; i < 4; i++) await (await gate.decide(attempt)).finish({ status: 401 });
    await (await gate.decide(attempt)).finish({ status: 302 });
    const { rules } = await gate.explain(attempt);
    expect(rules.map(({ verdicts }) => verdicts[0]?.remaining)).toEqual([5, 95]);
  });

  it("a lease is released when the request ends", async () => {
    const { gate } = open({
      rules: [{ name: "at once", by: "ip", limits: [concurrency({ limit: 1, leaseFor: "1m" })] }],
    });
    const first = await gate.decide(client);
    expect((await gate.decide(client)).allowed).toBe(false);
    await first.finish({ status: 500 });
    expect((await gate.decide(client)).allowed).toBe(true);
  });

  it("where nobody will call finish such rules are refused", () => {
    expect(() => open({ rules: [login], canFinish: false })).toThrow("TG_RULE_FINISH");
    expect(() => open({ rules: [perIp], canFinish: false })).not.toThrow();
  });
});

describe("holds", () => {
  const held = { ...perIp, hold: { after: 2, for: ["1m", "5m"], forget: "1h" } } as const;

  it("so many refusals hold a client, longer each time, and it is told until when", async () => {
    const { gate, clock } = open({ rules: [held] });
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
      const { gate } = open({
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
    const { gate } = open({ rules: [held] });
    const { verdicts, exposed } = await gate.decide(client);
    expect(verdicts).toHaveLength(1);
    expect(exposed).toHaveLength(1);
    expect((await gate.explain(client)).rules[0]?.verdicts).toHaveLength(1);
  });

  it("clear lifts a hold", async () => {
    const { gate } = open({ rules: [held] });
    await times(6, () => gate.decide(client));
    expect(await gate.clear({ ip: "203.0.113.7" })).toEqual({
      cleared: [{ rule: "req/ip", key: "203.0.113.7" }],
      unknown: [],
    });
    expect(await gate.decide(client)).toMatchObject({ allowed: true, verdict: { remaining: 2 } });
  });
});

describe("tiers and overrides", () => {
  const tiers = {
    free: ["100 per hour"],
    pro: ["100 per minute", "5000 per hour"],
    enterprise: ["200 per minute", "10000 per hour"],
  } as const;
  const api = { name: "api", by: "customer", limits: "tier" } as const;
  const of = (customer: string) => subjectOf("203.0.113.7", { customer });

  it("an unknown customer has the default tier, one on record its own, and levels are named by tier", async () => {
    const { gate } = open({ rules: [api], tiers, defaultTier: "free" });
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
    const { gate } = open({ rules: [api], tiers, defaultTier: "free" });
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
    const { gate } = open({ rules: [api], tiers, store: memoryStore({ clock }), directory });
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
    const { gate } = open({ rules: [api], tiers: { none: ["0 per hour"] }, directory, deadlineMs: 10_000 });
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
    const { gate } = open({ rules: [api], tiers, defaultTier: "free" });
    await gate.customers.setLimits("3", { 60: 100, 3600: 1000, 86400: 10_000 });
    const over = (await times(101, () => gate.decide(of("3")))).at(-1);
    expect(over).toMatchObject({ allowed: false, verdict: { name: "override/60" } });
    await gate.customers.setLimits("3", { 60: 101 });
    expect((await gate.decide(of("3"))).allowed).toBe(true);
    expect((await gate.decide(of("3"))).allowed).toBe(false);
    await gate.customers.setLimits("3", undefined);
    expect((await gate.decide(of("3"))).verdict?.tier).toBe("free");
  });

  it("a tier that does not exist is refused by the API and survived in the data", async () => {
    const { gate } = open({ rules: [api], tiers, defaultTier: "free" });
    await expect(gate.customers.setTier("1", "gold")).rejects.toThrow("TG_TIER_UNKNOWN");
    const directory = {
      entries: () => [],
      put() {},
      remove: () => false,
      customer: () => ({ tier: "gold" }),
      putCustomer() {},
      watch: () => () => {},
    };
    const survivor = open({ rules: [api], tiers, defaultTier: "free", directory });
    expect((await survivor.gate.decide(of("1"))).verdict?.tier).toBe("free");
    expect(survivor.warnings.map(({ code }) => code)).toContain("TG_TIER_UNKNOWN");
  });

  it("two customers behind one address do not share a count", async () => {
    const { gate } = open({ rules: [api], tiers: { free: ["1 per hour"] } });
    expect((await gate.decide(of("1"))).allowed).toBe(true);
    expect((await gate.decide(of("2"))).allowed).toBe(true);
    expect((await gate.decide(of("1"))).allowed).toBe(false);
  });
});

describe("live lists", () => {
  it("entries last a week unless told otherwise, and end by themselves", async () => {
    const { gate, clock } = open({ rules: [perIp] });
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

  it("what is no address is refused by name", async () => {
    const { gate } = open({ rules: [perIp] });
    await expect(gate.blocklist.add("everyone")).rejects.toThrow("TG_LIST_ADDRESS");
    expect(() => open({ rules: [perIp], safelist: ["10.0.0.0/40"] })).toThrow("safelist[0]");
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
    const { gate } = open({ rules: [perIp] });
    await times(3, () => gate.decide(client));
    gate.update({ rules: [{ ...perIp, limits: ["5 per 1m"] }] });
    expect((await gate.decide(client)).verdict).toMatchObject({ allowed: true, remaining: 1 });
    expect(() => gate.update({ rules: [perIp, perIp] })).toThrow("TG_RULE_TWICE");
    expect(() => gate.update({ rules: [perIp], store: memoryStore() } as never)).toThrow("TG_OPTION_UNKNOWN");
    expect((await gate.decide(client)).verdict).toMatchObject({ allowed: true, remaining: 0 });
  });
});

describe("explain and clear", () => {
  it("explain says in words what decide would say, and charges nothing", async () => {
    const { gate } = open({
      rules: [perIp, { name: "users", by: "user", limits: [earrrl({ rate: 1, halfLife: "10s" })] }],
    });
    await times(3, () => gate.decide(client));
    for (let i = 0; i < 3; i++) {
      const { allowed, words, rules } = await gate.explain(client);
      expect(allowed).toBe(false);
      expect(words).toBe(
        "GET / from 203.0.113.7 is refused. req/ip/60, for 203.0.113.7: refused, 3 in 60 s are used up; it may come back in 60 s.",
      );
      expect(rules[1]).toMatchObject({
        rule: "users",
        applies: false,
        words: expect.stringContaining("whom to count"),
      });
    }
    await gate.blocklist.add("203.0.113.8", { who: "ann", why: "scraper", for: "1h" });
    expect((await gate.explain(subjectOf("203.0.113.8"))).words).toContain(
      "is on the blocklist, by ann (scraper), until 2023-",
    );
  });

  it("clear forgets every rule these facts give a key for, and names the others", async () => {
    const { gate } = open({
      rules: [
        perIp,
        { name: "pair", by: ["ip", "account"], limits: [slidingLog({ limit: 1, window: "1h" })] },
        { name: "user", by: "user", limits: ["1 per hour"] },
        { name: "custom", by: ({ header }) => header("x-id"), limits: ["1 per hour"] },
      ],
    });
    const bob = subjectOf("203.0.113.7", { account: "bob", user: "7", headers: { "x-id": "z" } });
    await gate.decide(bob);
    expect((await gate.decide(bob)).allowed).toBe(false);
    expect(await gate.clear({ ip: "203.0.113.7", account: "bob" })).toMatchObject({
      cleared: [{ rule: "req/ip" }, { rule: "pair" }],
      unknown: ["user", "custom"],
    });
    expect((await gate.clear({ user: "7" })).cleared).toEqual([{ rule: "user", key: "7" }]);
  });

  it("clear lifts whatever explain names as the refuser of the same facts, and says which facts it did without", async () => {
    const { gate } = open({
      rules: [
        { name: "pair", by: ["ip", "account"], limits: ["1 per hour"] },
        { name: "here", by: ["ip", "path"], limits: ["1 per hour"] },
        { name: "agent", by: ["header:user-agent", "ip"], limits: ["1 per hour"] },
        { name: "print", by: "standard", limits: ["1 per hour"] },
        { name: "everybody", by: "path", limits: ["9 per hour"] },
        { name: "strangers", by: ["user", "customer"], limits: ["9 per hour"] },
      ],
    });
    const ip = "203.0.113.7";
    const nameless = { ip, method: "GET", host: "", path: "/", header: () => undefined };
    await times(2, () => gate.decide(nameless));
    const bob = subjectOf(ip, { path: "/login", account: "bob", headers: { "user-agent": "x" } });
    await times(2, () => gate.decide(bob));
    expect((await gate.explain({ ip })).allowed).toBe(false);

    expect(await gate.clear({ ip })).toEqual({
      cleared: [
        { rule: "pair", key: `${ip}|`, missing: ["account"] },
        { rule: "here", key: `${ip}|/`, missing: ["path"] },
        { rule: "agent", key: `|${ip}`, missing: ["header:user-agent"] },
        { rule: "print", key: expect.any(String), missing: ["host", "path", "method", "header:user-agent"] },
      ],
      unknown: ["everybody", "strangers"],
    });
    expect((await gate.explain({ ip })).allowed).toBe(true);
    expect((await gate.explain(bob)).verdict).toMatchObject({ allowed: false });

    const { cleared } = await gate.clear(bob);
    expect(cleared[0]).toEqual({ rule: "pair", key: `${ip}|bob` });
    expect((await gate.explain(bob)).allowed).toBe(true);
  });

  it("clear supposes nobody's address: those whose address is not known share a key", async () => {
    const { gate } = open({ rules: [{ name: "pair", by: ["ip", "account"], limits: ["1 per hour"] }] });
    for (const facts of [{ account: "bob" }, { ip: "nowhere", account: "bob" }, { user: "7" }])
      expect(await gate.clear(facts)).toEqual({ cleared: [], unknown: ["pair"] });
  });

  it("explain names whoever has no address by what is known instead", async () => {
    const { gate } = open({ rules: [perIp] });
    expect((await gate.explain({ customer: "42" })).words).toMatch(/^GET \/ of customer 42 passes/);
    expect((await gate.explain({ user: "7", account: "bob" })).words).toMatch(/ of user 7, account bob /);
    expect((await gate.explain({ path: "/x" })).words).toMatch(/^GET \/x from an unknown address /);
    expect((await gate.explain({ ip: "nowhere", user: "7" })).words).toMatch(/^GET \/ from unknown /);
  });

  it("what live data is refused is said in words that fit wherever it was asked", async () => {
    const { gate } = open({ rules: [perIp] });
    await expect(gate.customers.setTier("1", "pro")).rejects.toThrow(
      'tier: there is no tier "pro". The policy has no tiers: name some there first.',
    );
    await expect(gate.blocklist.add("1.2.3.4", { for: "tomorrow" as never })).rejects.toThrow(
      /^for: "tomorrow"/,
    );
    await expect(gate.blocklist.add("0.0.0.0/0")).rejects.toThrow("To refuse everyone");
    await expect(gate.safelist.add("::/0")).rejects.toThrow("To let everyone pass");
  });
});

describe("events, metrics, busiest", () => {
  it("tells of decisions and refusals; a listener that throws changes nothing", async () => {
    const { gate } = open({ rules: [perIp] });
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
    const { gate } = open({
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
    const { gate } = open({ rules: [perIp] });
    const ids = (await times(100, () => gate.decide(client))).map(({ id }) => id);
    expect(new Set(ids).size).toBe(100);
  });
});

describe("a cap on new identities", () => {
  it("an app's function for the key is asked once for each request, named or not, within the cap and beyond", async () => {
    const asked = vi.fn(({ user }: { user?: string | undefined }) => user);
    const { gate } = open({ rules: [{ name: "own", by: asked, limits: ["5 per 1m"] }], newKeysPerSecond: 2 });
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
    [{ rules: [{ ...perIp, maxDelay: "1s" }] }, "TG_DELAY", ".maxDelay"],
    [{ rules: [{ ...perIp, limit: "1/day" }] }, "TG_OPTION_UNKNOWN", "rules[0].limit"],
    [{ rules: {} }, "TG_RULES", "rules"],
    [{ rules: [perIp], newKeysPerSecond: 0 }, "TG_NUMBER", "newKeysPerSecond"],
    [{ rules: [perIp], identity: { ipv6Prefix: 200 } }, "TG_NUMBER", "identity.ipv6Prefix"],
    [{ rules: [perIp], store: {} }, "TG_STORE", "createGate.store"],
    [{ rules: [perIp], whitelist: [] }, "TG_OPTION_UNKNOWN", "createGate.whitelist"],
  ])("%j", (options, code, path) => {
    expect(() => createGate(options as never)).toThrow(code);
    expect(() => createGate(options as never)).toThrow(path);
  });

  it("paths limited only for those logged in are pointed out, by the rule's name", () => {
    const users = { name: "users", only: "/api", by: "user", limits: ["1 per hour"] } as const;
    expect(open({ rules: [users] }).warnings).toMatchObject([
      { code: "TG_STRANGERS_FREE", message: expect.stringContaining('"users"') },
    ]);
    expect(open({ rules: [users, perIp] }).warnings).toEqual([]);
  });
});

describe("what must not slip through", () => {
  it("a weight no limit takes weighs 1, and lets nobody pass by the other rules", async () => {
    const { gate } = open({
      rules: [
        { name: "bytes", by: "ip", limits: [slidingLog({ limit: 1000, window: "1h" })], cost: () => 1e-9 },
        perIp,
      ],
    });
    const decisions = await times(5, () => gate.decide(client));
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(3);
    expect(() =>
      open({
        rules: [{ ...perIp, limits: [slidingLog({ limit: 5, window: "1h", encoding: "list" })], cost: 2 }],
      }),
    ).toThrow("TG_ENCODING");
  });

  it("a policy too large for one decision is refused when made, a crowd counted in", () => {
    const many = (by: "ip" | "header:x") =>
      Array.from({ length: 130 }, (_, i) => ({ name: `r${i}`, by, limits: ["1 per hour"] }) as const);
    expect(() => open({ rules: many("ip") })).not.toThrow();
    expect(() => open({ rules: many("header:x") })).toThrow("TG_POLICY_LARGE");
  });

  it.each([
    [{ ...perIp, by: "header:foo bar" }, "TG_BY"],
    [{ ...perIp, name: "req crowd" }, "TG_NAME"],
    [{ ...perIp, hold: { for: "1m" }, action: "delay" }, "TG_HOLD"],
    [{ ...perIp, hold: { for: "1m" }, trust: { by: "ip", for: "1d" } }, "TG_HOLD"],
    [{ ...perIp, action: "delay", trust: { by: "ip", for: "1d" } }, "TG_DELAY"],
    [{ ...perIp, only: "PSOT /login" }, "TG_MATCH"],
  ])("%j is refused when made", (rule, code) => {
    expect(() => open({ rules: [rule as never] })).toThrow(code);
  });

  it("a huge override is refused by the API and survived in the data", async () => {
    const tiers = { free: ["1 per hour"] } as const;
    const { gate } = open({ rules: [{ name: "api", by: "customer", limits: "tier" }], tiers });
    await expect(gate.customers.setLimits("7", { 60: 1e300 })).rejects.toThrow("TG_OVERRIDE");
  });

  it("a lease of a tier is released when the request ends", async () => {
    const tiers = { free: [concurrency({ limit: 1, leaseFor: "1h" })] };
    const { gate } = open({ rules: [{ name: "api", by: "ip", limits: "tier" }], tiers });
    const first = await gate.decide(client);
    expect((await gate.decide(client)).allowed).toBe(false);
    await first.finish({ status: 200 });
    expect((await gate.decide(client)).allowed).toBe(true);
  });

  it("what a rule's own function counts as a failure clears nothing", async () => {
    const { gate } = open({
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
    const { gate } = open({
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
    const { gate } = open({ rules: [perIp] });
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
    const { gate } = open({ rules: [{ name: "account", by: "account", limits: ["1 per hour"] }] });
    expect((await gate.clear(new Asked())).cleared).toEqual([{ rule: "account", key: "bob" }]);
  });

  it("misuse is explained: no options, no subject, an unknown event, everyone on a list", async () => {
    expect(() => createGate(undefined as never)).toThrow("TG_OPTIONS");
    const { gate } = open({ rules: [perIp] });
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

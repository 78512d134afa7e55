import { describe, expect, it } from "vitest";
import { earrrl, slidingLog } from "./index.js";
import { client, openGate, perIp, times } from "./testing/open-gate.js";
import { subjectOf } from "./testing/subject.js";

describe("explain and clear", () => {
  it("explain says in words what decide would say, and charges nothing", async () => {
    const { gate } = openGate({
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
    const { gate } = openGate({
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
    const { gate } = openGate({
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
    const { gate } = openGate({ rules: [{ name: "pair", by: ["ip", "account"], limits: ["1 per hour"] }] });
    for (const facts of [{ account: "bob" }, { ip: "nowhere", account: "bob" }, { user: "7" }])
      expect(await gate.clear(facts)).toEqual({ cleared: [], unknown: ["pair"] });
  });

  it("explain names whoever has no address by what is known instead", async () => {
    const { gate } = openGate({ rules: [perIp] });
    expect((await gate.explain({ customer: "42" })).words).toMatch(/^GET \/ of customer 42 passes/);
    expect((await gate.explain({ user: "7", account: "bob" })).words).toMatch(/ of user 7, account bob /);
    expect((await gate.explain({ path: "/x" })).words).toMatch(/^GET \/x from an unknown address /);
    expect((await gate.explain({ ip: "nowhere", user: "7" })).words).toMatch(/^GET \/ from unknown /);
  });

  it("what live data is refused is said in words that fit wherever it was asked", async () => {
    const { gate } = openGate({ rules: [perIp] });
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

import { createHash } from "node:crypto";
import { createGate, type Gate, type IdentityOptions, memoryStore, type RuleOptions } from "tidegate";
import { subjectOf, virtualClock } from "tidegate/testing";
import { describe, expect, it } from "vitest";
import { toolOf, tools } from "../../packages/tidegate/src/policy/identity/tools.js";

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const sqlmap = "sqlmap/1.4#stable (http://sqlmap.org)";
const standard: RuleOptions = { name: "standard", by: "standard", limits: ["5 per minute"] };
const broad: RuleOptions = { name: "broad", by: "broad", limits: ["100 per minute"] };

function open(rules: RuleOptions[], identity: IdentityOptions = {}): Gate {
  const clock = virtualClock(1_700_000_000_000);
  return createGate({ store: memoryStore({ clock }), rules, identity });
}

const request = (path: string, userAgent: string, ip = "198.51.100.4", method = "GET") =>
  subjectOf(ip, { path, method, host: "www.Example.com:443", headers: { "user-agent": userAgent } });

describe("S2", () => {
  it("C1: of 200 browsers behind one address on one path only the abusive one is limited", async () => {
    const gate = open([standard]);
    for (let browser = 0; browser < 200; browser++) {
      const hits = browser === 77 ? 50 : 5;
      let passed = 0;
      for (let i = 0; i < hits; i++)
        passed += Number((await gate.decide(request("/catalog", `${firefox} #${browser}`))).allowed);
      expect(passed).toBe(5);
    }
  });

  it("C2, C3: the seed's key is the SHA-1, 40 hex digits, of host, path, method, address and user agent, in this order", async () => {
    const gate = open([standard], { fingerprint: "seed" });
    const { verdict } = await gate.decide(request("/login?next=/", firefox, "::ffff:198.51.100.4", "POST"));
    const text = `www.example.com:/login:POST:198.51.100.4:${firefox}`;
    expect(verdict?.key).toBe(createHash("sha1").update(text).digest("hex"));
    expect(verdict?.key).toMatch(/^[0-9a-f]{40}$/);
  });

  it("C4: limiting is per path: limited on /foo, free on /bar", async () => {
    const gate = open([standard]);
    for (let i = 0; i < 6; i++) await gate.decide(request("/foo", firefox));
    expect((await gate.decide(request("/foo", firefox))).allowed).toBe(false);
    expect((await gate.decide(request("/bar", firefox))).allowed).toBe(true);
  });

  it("C5, C6: a known tool is caught over 60 paths, each of them low; a browser with the same traffic is not", async () => {
    for (const [userAgent, refused] of [
      [sqlmap, 20],
      [firefox, 0],
    ] as const) {
      const gate = open([standard, broad]);
      let count = 0;
      for (let i = 0; i < 120; i++)
        count += Number(!(await gate.decide(request(`/page/${i % 60}`, userAgent))).allowed);
      expect(count).toBe(refused);
    }
  });

  it("C7: which of the two caught a client is told apart", async () => {
    const gate = open([standard, { ...broad, limits: ["8 per minute"] }]);
    const names: (string | undefined)[] = [];
    gate.on("refused", ({ decision }) => names.push(decision.verdict?.name));
    for (let i = 0; i < 6; i++) await gate.decide(request("/sign-in", firefox));
    for (let i = 0; i < 9; i++) await gate.decide(request(`/page/${i}`, sqlmap));
    expect(names).toEqual(["standard/60", "broad/60"]);
  });

  it.each([
    ["sqlmap", "sqlmap/1.4#stable (http://sqlmap.org)"],
    ["Scrapy", "Scrapy/2.11.2 (+https://scrapy.org)"],
    [
      "SimplePie",
      "SimplePie/1.3.1 (Feed Parser; http://simplepie.org; Allow like Gecko) Build/20121030095402",
    ],
    ["Nutch", "MyCrawler/Nutch-1.21"],
    ["ffuf", "Fuzz Faster U Fool v2.1.0-dev"],
    ["Wfuzz", "Wfuzz/2.4"],
  ])("C8: %s is known by the user agent it really sends", (name, userAgent) => {
    expect(toolOf(userAgent)?.name.toLowerCase()).toBe(name.toLowerCase());
  });

  it("C8: every tool on the list is known by its own example, and at least twenty stand beside the six", () => {
    expect(tools.filter(({ example, name }) => toolOf(example)?.name !== name)).toEqual([]);
    expect(tools.length).toBeGreaterThanOrEqual(26);
  });

  it("W15: no client can be made to collide with another by colons, and rotating user agents helps nobody against a rule by address", async () => {
    const gate = open([standard]);
    const keys = await Promise.all(
      [
        request("/a:GET", "x", "198.51.100.4"),
        request("/a", "GET:x", "198.51.100.4"),
        request("/a:GET:198.51.100.4", "x", "198.51.100.4"),
      ].map(async (subject) => (await gate.decide(subject)).verdict?.key),
    );
    expect(new Set(keys).size).toBe(3);
    const rotating = open([standard, { name: "ip", by: "ip", limits: ["50 per minute"] }]);
    let passed = 0;
    for (let i = 0; i < 500; i++)
      passed += Number((await rotating.decide(request("/foo", `agent ${i}`))).allowed);
    expect(passed).toBe(50);
  });

  it("W16: a feed reader named as a tool is limited lower, never refused for its name, and can be safelisted", async () => {
    const reader = "FreshRSS/1.24.0 (Linux; https://freshrss.org) SimplePie/1.8.0";
    const gate = open([{ ...broad, limits: ["3 per minute"] }]);
    const answers: boolean[] = [];
    for (let i = 0; i < 4; i++) answers.push((await gate.decide(request(`/feed/${i}`, reader))).allowed);
    expect(answers).toEqual([true, true, true, false]);
    await gate.safelist.add("198.51.100.4");
    expect((await gate.decide(request("/feed/9", reader))).reason).toBe("safelist");
  });
});

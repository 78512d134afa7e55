import { describe, expect, it } from "vitest";
import { concurrency } from "../algorithms/concurrency/concurrency.js";
import type { Policy } from "../gate.js";
import { standardFingerprint } from "../policy/identity/fingerprint.js";
import type { Fact } from "../policy/rule-options.js";
import { subjectOf } from "../testing/subject.js";
import { openRehearsal } from "./open-rehearsal.js";
import type { RecordedRequest, RehearsalOptions, RehearsalReport } from "./rehearsal.js";

/** A round instant, so that windows begin with it. */
const start = 1_700_006_400_000;

type Facts = Parameters<typeof subjectOf>[1] & Pick<RecordedRequest, "outcome" | "tookMs">;

function request(seconds: number, ip: string, { outcome, tookMs, ...facts }: Facts = {}): RecordedRequest {
  return {
    at: start + seconds * 1000,
    subject: subjectOf(ip, facts),
    ...(outcome && { outcome }),
    ...(tookMs !== undefined && { tookMs }),
  };
}

async function rehearse(
  options: RehearsalOptions,
  requests: readonly RecordedRequest[],
): Promise<RehearsalReport> {
  const rehearsal = openRehearsal(options);
  for (const each of requests) await rehearsal.add(each);
  await rehearsal.finish();
  const report = rehearsal.report();
  await rehearsal.close();
  return report;
}

function every(stepSeconds: number, count: number, ip: string, facts: Facts = {}): RecordedRequest[] {
  return Array.from({ length: count }, (_, i) => request(i * stepSeconds, ip, facts));
}

const twoRules: Policy = {
  rules: [
    { name: "all", by: "ip", limits: ["3 per 1m"] },
    { name: "login", only: "/login", by: "ip", limits: ["1 per 1m"] },
    { name: "api", only: "/api", by: "ip", limits: ["1 per 1m"] },
    { name: "users", by: "user", limits: ["1 per 1m"] },
  ],
};

describe("a rehearsal", () => {
  it("tells who is refused by which rule, when, and how much of their traffic that is", async () => {
    const report = await rehearse({ policy: twoRules }, [
      ...every(1, 5, "192.0.2.1"),
      request(10, "192.0.2.2", { path: "/login" }),
      request(11, "192.0.2.2", { path: "/login" }),
      request(61, "192.0.2.1"),
    ]);
    expect(report.requests).toBe(8);
    expect([report.from, report.to]).toEqual([start, start + 61_000]);
    expect(report.clients).toBe(2);
    expect(report.outcome).toEqual({
      allowed: 5,
      refused: 3,
      shadow: 0,
      delayed: 0,
      held: 0,
      refusedClients: 2,
    });
    expect(
      report.rules.map(({ rule, judged, refused, silence }) => [rule, judged, refused, silence]),
    ).toEqual([
      ["all", 8, 2, undefined],
      ["login", 2, 1, undefined],
      ["api", 0, 0, "never-applies"],
      ["users", 0, 0, "never-applies"],
    ]);
    expect(report.offenders).toEqual([
      {
        client: "192.0.2.1",
        address: "192.0.2.1",
        rule: "all",
        requests: 6,
        refused: 2,
        share: 1 / 3,
        firstRefusedAt: start + 3000,
        lastRefusedAt: start + 4000,
        longestHoldMs: 0,
      },
      expect.objectContaining({ client: "192.0.2.2", rule: "login", requests: 2, refused: 1 }),
    ]);
    expect(report.notes.join()).toContain('Rule "users" applied to no request: it counts by user');
  });

  it("says of a rule by several facts that the record tells none of one", async () => {
    const policy: Policy = { rules: [{ name: "pair", by: ["ip", "account"], limits: ["1 per 1m"] }] };
    const words = 'Rule "pair" counts by account, which no request of the record tells';
    const told = await rehearse({ policy }, [request(0, "192.0.2.1", { account: "ann" })]);
    expect(told.notes.join()).not.toContain(words);
    const untold = await rehearse({ policy }, [request(0, "192.0.2.1")]);
    expect(untold.notes.join()).toContain(words);
  });

  it("tells the course of it, and the worst second at the origin", async () => {
    const burst = Array.from({ length: 5 }, () => request(7, "192.0.2.1"));
    const report = await rehearse({ policy: twoRules }, [request(0, "192.0.2.1"), ...burst]);
    expect(report.series.everyMs).toBe(1000);
    expect(report.series.at).toEqual(Array.from({ length: 8 }, (_, i) => start + i * 1000));
    expect(report.series.requests).toEqual([1, 0, 0, 0, 0, 0, 0, 5]);
    expect(report.series.refused).toEqual([0, 0, 0, 0, 0, 0, 0, 3]);
    expect(report.series.refusedBy.all).toEqual([0, 0, 0, 0, 0, 0, 0, 3]);
    expect(report.worstSecond).toEqual({
      recorded: { at: start + 7000, requests: 5 },
      passed: { at: start + 7000, requests: 2 },
    });
  });

  it("tells what changes against another policy, by client", async () => {
    const against: Policy = { rules: [{ name: "old", only: "/a", by: "ip", limits: ["1 per 1m"] }] };
    const report = await rehearse({ policy: twoRules, against }, [
      ...every(1, 5, "192.0.2.1"),
      ...every(1, 3, "192.0.2.2", { path: "/a" }).map((each) => ({ ...each, at: each.at + 5000 })),
    ]);
    expect(report.against).toMatchObject({ allowed: 6, refused: 2 });
    expect(report.change).toEqual({
      newlyRefused: { requests: 2, clients: 1 },
      newlyPassed: { requests: 2, clients: 1 },
      worst: [
        { client: "192.0.2.1", requests: 5, newlyRefused: 2, newlyPassed: 0 },
        { client: "192.0.2.2", requests: 3, newlyRefused: 0, newlyPassed: 2 },
      ],
    });
    expect(report.series.refusedAgainst?.reduce((a, b) => a + b)).toBe(2);
    expect(report.worstSecond.passedAgainst?.requests).toBe(1);
  });

  it("counts what shadow would refuse, and lets it pass", async () => {
    const policy: Policy = { ...twoRules, mode: "shadow" };
    const report = await rehearse({ policy }, every(1, 5, "192.0.2.1"));
    expect(report.outcome).toMatchObject({ allowed: 5, refused: 0, shadow: 2 });
    expect(report.rules[0]).toMatchObject({ isShadow: true, refused: 2, clients: 1 });
    expect(report.offenders).toEqual([]);
    expect(report.notes.join()).toContain("in shadow");
  });

  it("tells the longest hold, and how many came while held", async () => {
    const policy: Policy = {
      rules: [{ name: "r", by: "ip", limits: ["1 per 1m"], hold: { after: 1, for: ["5m", "1h"] } }],
    };
    const report = await rehearse(
      { policy },
      every(60, 8, "192.0.2.1").flatMap((each) => [each, each]),
    );
    expect(report.outcome.held).toBeGreaterThan(5);
    expect(report.offenders[0]?.longestHoldMs).toBe(3_600_000);
  });

  it("names the blocklist where that refused, and counts nobody of the safelist", async () => {
    const policy: Policy = { ...twoRules, blocklist: ["192.0.2.9"], safelist: ["192.0.2.1"] };
    const report = await rehearse({ policy }, [
      ...every(1, 9, "192.0.2.1"),
      ...every(1, 2, "192.0.2.9").map((each) => ({ ...each, at: each.at + 10_000 })),
    ]);
    expect(report.outcome.refused).toBe(2);
    expect(report.series.refusedBy.blocklist?.reduce((a, b) => a + b)).toBe(2);
    expect(report.offenders).toEqual([
      expect.objectContaining({ client: "192.0.2.9", rule: "blocklist", requests: 2, share: 1 }),
    ]);
  });

  it("judges a request older than the last at the last one's time, and counts it as late", async () => {
    const requests = [request(0, "a"), request(70, "192.0.2.1"), request(5, "192.0.2.1")];
    const at: number[] = [];
    const onDecision: RehearsalOptions["onDecision"] = (_, { verdict }) => at.push(verdict?.at ?? 0);
    const report = await rehearse({ policy: twoRules, onDecision }, requests);
    expect(report.late).toBe(1);
    expect(report.to).toBe(start + 70_000);
    expect(at).toEqual([start, start + 70_000, start + 70_000]);
    expect(report.notes.join()).toContain("older than the one before");
  });

  it("names fingerprints as a gate in force would, though it counts them in a shorter form", async () => {
    const policy: Policy = { rules: [{ name: "fp", by: "standard", limits: ["1 per 1m"] }] };
    const headers = { "user-agent": "curl/8" };
    const report = await rehearse({ policy }, [
      ...every(1, 3, "192.0.2.1", { headers, path: "/x?1" }),
      request(3, "192.0.2.1", { headers, path: "/x?2", method: "HEAD" }),
      request(4, "192.0.2.1", { headers, path: "/y" }),
      request(5, "192.0.2.1", { headers, path: "/x", method: "POST" }),
      request(6, "192.0.2.1", { headers, path: "/x", host: "EXAMPLE.com:80" }),
      request(7, "192.0.2.1", { headers, path: "/x", host: "other.example" }),
    ]);
    const facts = {
      host: "example.com",
      path: "/x",
      method: "GET",
      address: "192.0.2.1",
      userAgent: "curl/8",
    };
    expect(report.offenders).toEqual([
      expect.objectContaining({ client: standardFingerprint(facts, "sha256"), requests: 5, refused: 4 }),
    ]);
  });

  it("gives back what does not count, as the answers of the record say", async () => {
    const policy: Policy = {
      rules: [{ name: "login", by: "ip", limits: ["2 per 1m"], count: "failures" }],
    };
    const good = every(1, 9, "192.0.2.1", { outcome: { status: 200 } });
    const bad = every(1, 9, "192.0.2.2", { outcome: { status: 401 } }).map((each) => ({
      ...each,
      at: each.at + 10_000,
    }));
    const report = await rehearse({ policy }, [...good, ...bad]);
    expect(report.offenders).toEqual([expect.objectContaining({ client: "192.0.2.2", refused: 7 })]);
  });

  it("ends requests when they ended: a limit on what happens at the same time sees them overlap", async () => {
    const policy: Policy = {
      rules: [{ name: "r", by: "ip", limits: concurrency({ limit: 2, leaseFor: "1h" }) }],
    };
    const long = await rehearse({ policy }, every(1, 10, "192.0.2.1", { tookMs: 2500 }));
    const short = await rehearse({ policy }, every(1, 10, "192.0.2.1", { tookMs: 900 }));
    // Of three requests one is too many: it comes while two are under way.
    expect(long.outcome.refused).toBe(3);
    expect(short.outcome.refused).toBe(0);
  });

  it("lets delayed requests wait by the record's time, and nobody in earnest", async () => {
    const policy: Policy = {
      rules: [{ name: "slow", by: "ip", limits: ["1 per 1h"], action: "delay", maxDelay: "1h" }],
    };
    const waited: number[] = [];
    const report = await rehearse({ policy, onDecision: (_, { delayedMs }) => waited.push(delayedMs) }, [
      request(0, "192.0.2.1"),
      request(600, "192.0.2.1"),
      request(1200, "192.0.2.1"),
      request(1800, "192.0.2.2"),
    ]);
    // The third waits for the same hour as the second, finds it taken, and may wait no longer.
    expect(report.outcome).toMatchObject({ allowed: 3, refused: 1, delayed: 2 });
    expect(waited).toEqual([0, 0, 3_000_000, 2_400_000]);
    expect(report.requests).toBe(4);
    expect(report.notes.join()).toContain("Delayed requests wait by the time of the record");
  });

  it("keeps the order of requests whose promises nobody waited for", async () => {
    const policy: Policy = { rules: [{ name: "r", by: "ip", limits: ["5 per 1m"], count: "failures" }] };
    const rehearsal = openRehearsal({ policy });
    for (const each of every(1, 20, "192.0.2.1", { outcome: { status: 500 } })) void rehearsal.add(each);
    await rehearsal.finish();
    expect(rehearsal.report().outcome).toMatchObject({ allowed: 5, refused: 15 });
  });

  it("believes what it is told of customers' tiers, and says so where it is told nothing", async () => {
    const policy: Policy = {
      rules: [{ name: "api", by: "customer", limits: "tier" }],
      tiers: { free: ["1 per 1m"], pro: ["4 per 1m"] },
    };
    const requests = every(1, 5, "192.0.2.1", { customer: "ann" });
    const told = await rehearse({ policy, tierOf: () => "pro" }, requests);
    const untold = await rehearse({ policy }, requests);
    expect([told.outcome.refused, untold.outcome.refused]).toEqual([1, 4]);
    expect(untold.notes.join()).toContain("tiers are not in the record");
  });

  it("suggests limits from the traffic's own peaks", async () => {
    const policy: Policy = { rules: [{ name: "all", by: "ip", limits: ["3 per 1m"] }] };
    const people = Array.from({ length: 99 }, (_, i) => every(1, 10, `192.0.2.${i}`)).flat();
    const all = [...people, ...every(0.1, 500, "198.51.100.1")].sort((a, b) => a.at - b.at);
    const report = await rehearse({ policy, suggest: { percentile: 0.99, headroom: 1.5 } }, all);
    expect(report.suggestions).toEqual([
      expect.objectContaining({
        rule: "all",
        limit: "3 per 1m",
        suggested: "15 per 1m",
        refused: 485,
        refusedClients: 1,
      }),
    ]);
  });

  describe("suggests", () => {
    const people = (count: number) =>
      Array.from({ length: count }, (_, i) => every(1, 10, `192.0.${i >> 8}.${i & 255}`)).flat();
    const scraper = every(0.02, 2500, "198.51.100.1");
    const sorted = (all: RecordedRequest[]) => all.sort((a, b) => a.at - b.at);
    const policy: Policy = { rules: [{ name: "all", by: "ip", limits: ["300 per 1m"] }] };

    it("nothing of fewer than a hundred clients, and says so", async () => {
      const { suggestions } = await rehearse({ policy, suggest: true }, sorted([...people(62), ...scraper]));
      expect(suggestions).toEqual([
        {
          rule: "all",
          limit: "300 per 1m",
          words:
            "None: it would stand on 62 clients, and takes 100 at least. Left out, with more than half of their requests refused: 1 client.",
        },
      ]);
    });

    it("nothing that a client decides who is refused most of what it asks for", async () => {
      const { suggestions } = await rehearse({ policy, suggest: true }, sorted([...people(120), ...scraper]));
      expect(suggestions).toMatchObject([{ suggested: "15 per 1m", refusedClients: 1 }]);
      expect(suggestions?.[0]?.words).toMatch(/^99\.9 % of 120 clients never asked for more than 10 in 1m/);
    });

    it("no limit upwards for the sake of the busiest few", async () => {
      const high: Policy = { rules: [{ name: "all", by: "ip", limits: ["2600 per 1m"] }] };
      const all = sorted([...people(120), ...scraper]);
      const { suggestions } = await rehearse({ policy: high, suggest: true }, all);
      expect(suggestions?.[0]?.suggested).toBeUndefined();
      expect(suggestions?.[0]?.words).toContain("of 121 clients only the busiest come near it");
    });

    it("no rule against guessing upwards", async () => {
      const login: Policy = { rules: [{ name: "login", by: "ip", limits: ["5 per 1m"], count: "failures" }] };
      const { suggestions } = await rehearse({ policy: login, suggest: true }, sorted(people(150)));
      expect(suggestions?.[0]?.suggested).toBeUndefined();
      expect(suggestions?.[0]?.words).toContain("not raised by what was tried");
    });
  });

  it("says of a rule without a request whether the record could tell whom it counts", async () => {
    const silent = (by: Fact): Policy => ({
      rules: [{ name: "probes", only: "/.env", by: ["ip", by], limits: ["1 per 1m"] }],
    });
    const requests = every(1, 3, "192.0.2.1", { headers: { "user-agent": "x" } });
    const notes = async (by: Fact) => (await rehearse({ policy: silent(by) }, requests)).notes;
    expect(await notes("header:User-Agent")).toEqual([
      'Rule "probes" applied to no request: none was what it is for.',
    ]);
    expect(await notes("header:x-device")).toEqual([
      'Rule "probes" applied to no request: it counts by header:x-device, which the record may not tell.',
    ]);
  });

  it("tells nothing where nothing came", async () => {
    const report = await rehearse({ policy: twoRules, suggest: true }, []);
    expect(report).toMatchObject({ requests: 0, clients: 0, offenders: [], suggestions: [] });
    expect(report.from).toBeUndefined();
    expect(report.series.at).toEqual([]);
  });

  it("is plain data, and can be asked for in the middle", async () => {
    const rehearsal = openRehearsal({ policy: twoRules, against: twoRules, suggest: true });
    for (const each of every(1, 5, "192.0.2.1")) await rehearsal.add(each);
    const first = rehearsal.report();
    expect(rehearsal.report()).toEqual(first);
    expect(JSON.parse(JSON.stringify(first))).toEqual(first);
  });

  it("says what is wrong with its options, with the policy, and with a time", () => {
    expect(() => openRehearsal({ policy: twoRules, points: 1 })).toThrow("openRehearsal.points");
    expect(() => openRehearsal({ policy: twoRules, suggest: { percentile: 2 } })).toThrow("percentile");
    expect(() => openRehearsal({ policy: { rules: [{ name: "", by: "ip", limits: [] }] } })).toThrow(
      "rules[0]",
    );
    const rehearsal = openRehearsal({ policy: twoRules });
    expect(() => rehearsal.add({ ...request(0, "a"), at: Number.NaN })).toThrow("is not a time");
  });
});

import fc from "fast-check";
import { Redis } from "ioredis";
import {
  createGate,
  type Decision,
  memoryStore,
  type Policy,
  type RuleOptions,
  type Store,
  type Verdict,
} from "tidegate";
import { redisStore } from "tidegate/redis";
import { openRehearsal, type RecordedRequest, type RehearsalReport } from "tidegate/simulate";
import { differences, subjectOf, type VirtualClock, virtualClock } from "tidegate/testing";
import { afterAll, describe, expect, inject, it } from "vitest";
import { families, ledgerFamilies } from "../equality/limits.js";

const seed = Number(process.env.TIDEGATE_PROOF_SEED ?? 20_170_428);
/** 2017-04-28 15:30:00Z and a bit. */
const start = 1_493_393_400_123;

const redis = new Redis(inject("redisPort"));
afterAll(() => redis.disconnect());

const places: readonly { readonly name: string; readonly open: (clock: VirtualClock) => Store }[] = [
  { name: "memory", open: (clock) => memoryStore({ clock }) },
  {
    name: "Redis",
    open: (clock) => redisStore({ client: redis, prefix: `t:${crypto.randomUUID()}`, clock }),
  },
];

/** Offences are counted where a rule holds; a limit that needs whole calls is asked for nothing else here. */
const limits = [...families.slice(0, -2), ...ledgerFamilies];
const by: readonly RuleOptions["by"][] = [
  "ip",
  "network",
  "standard",
  "broad",
  "user",
  "account",
  "path",
  ["ip", "account"],
  ["standard", "user"],
];

const rule = fc.record({
  by: fc.constantFrom(...by),
  limits: fc.array(fc.tuple(fc.nat(limits.length - 1), fc.integer({ min: 1, max: 6 })), {
    minLength: 1,
    maxLength: 3,
  }),
  only: fc.constantFrom(undefined, undefined, "/login", { method: "POST" }),
  count: fc.constantFrom(undefined, undefined, "failures" as const, "successes" as const),
  mode: fc.constantFrom(undefined, undefined, undefined, "shadow" as const),
  more: fc.constantFrom(
    {},
    {},
    { clearOnSuccess: true },
    { hold: { after: 2, for: ["10s", "1m"] } } as const,
    { hold: { for: "30s", everywhere: true } } as const,
    { trust: { by: ["ip", "account"], for: "1m" } } as const,
  ),
});

const policies: fc.Arbitrary<Policy> = fc
  .record({
    rules: fc.array(rule, { minLength: 1, maxLength: 4 }),
    safelist: fc.constantFrom([], ["192.0.2.3"]),
    blocklist: fc.constantFrom([], [], ["2001:db8::/64"]),
  })
  .map(({ rules, ...lists }) => ({
    ...lists,
    rules: rules.map(({ by, limits: drawn, only, count, mode, more }, i): RuleOptions => {
      const made = drawn.map(([family, n]) => (limits[family] as (typeof limits)[number]).make(n));
      const distinct = [...new Map(made.map((limit) => [limit.id, limit])).values()];
      const leases = distinct.some(({ kind }) => kind === "concurrency");
      const isMixed = leases && distinct.length > 1;
      const clearsAll = "clearOnSuccess" in more && (leases || count === "successes");
      return {
        name: `rule ${i}`,
        by,
        limits: isMixed ? distinct.slice(0, 1) : distinct,
        ...(only !== undefined && { only }),
        ...(count !== undefined && { count }),
        ...(mode !== undefined && { mode }),
        ...(!clearsAll && more),
      };
    }),
  }));

const requests: fc.Arbitrary<RecordedRequest[]> = fc
  .array(
    fc.record({
      later: fc.constantFrom(0, 0, 1, 7.25, 100, 333, 1000, 2000, 10_000, 60_000),
      ip: fc.constantFrom("192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1", "2001:DB8:1::1", "garbage"),
      method: fc.constantFrom("GET", "HEAD", "POST"),
      host: fc.constantFrom("example.com", "Example.com:80", "other.example"),
      path: fc.constantFrom("/login", "/login?a", "/a//b", "/a"),
      agent: fc.constantFrom("Mozilla/5.0", "sqlmap/1.4", "sqlmap/1.5", ""),
      user: fc.constantFrom(undefined, undefined, "ann"),
      account: fc.constantFrom(undefined, "bob", " BOB"),
      status: fc.constantFrom(200, 200, 401, undefined),
    }),
    { minLength: 20, maxLength: 60 },
  )
  .map((drawn) => {
    let at = start;
    return drawn.map(({ later, ip, agent, status, ...facts }) => {
      at += later;
      const subject = subjectOf(ip, { ...facts, headers: { "user-agent": agent } });
      return { at, subject, outcome: status === undefined ? {} : { status } };
    });
  });

describe("replaying a record equals sending the same requests to a gate, verdict for verdict, in", () => {
  for (const { name, open } of places) {
    it(name, { timeout: 300_000 }, async () => {
      const property = fc.asyncProperty(policies, requests, async (policy, record) => {
        const clock = virtualClock(start);
        const [replayed, report] = await replay(policy, record);
        const sent = await send(policy, record, open(clock), clock);
        expect(differing(replayed, sent)).toEqual([]);
        expect(report.outcome.refused).toBe(sent.filter(({ allowed }) => !allowed).length);
      });
      await fc.assert(property, { seed, numRuns: 60, endOnFailure: true });
    });
  }

  it("the short form of fingerprints, which a rehearsal counts by when nobody looks at its keys", () =>
    fc.assert(
      fc.asyncProperty(policies, requests, async (policy, record) => {
        const [, watched] = await replay(policy, record);
        const rehearsal = openRehearsal({ policy });
        for (const request of record) await rehearsal.add(request);
        expect(rehearsal.report()).toEqual(watched);
      }),
      { seed, numRuns: 60 },
    ));
});

async function replay(policy: Policy, record: RecordedRequest[]): Promise<[Decision[], RehearsalReport]> {
  const decisions: Decision[] = [];
  const rehearsal = openRehearsal({ policy, onDecision: (_, decision) => decisions.push(decision) });
  for (const request of record) await rehearsal.add(request);
  const report = rehearsal.report();
  await rehearsal.close();
  return [decisions, report];
}

async function send(
  policy: Policy,
  record: RecordedRequest[],
  store: Store,
  clock: VirtualClock,
): Promise<Decision[]> {
  // However slow the machine is, the store itself answers.
  const gate = createGate({ ...policy, store, deadlineMs: 60_000, onWarning: () => {} });
  await gate.ready;
  const decisions: Decision[] = [];
  for (const { at, subject, outcome } of record) {
    clock.set(at);
    const decision = await gate.decide(subject);
    decisions.push(decision);
    await decision.finish(outcome);
  }
  await gate.close();
  return decisions;
}

function differing(actual: readonly Decision[], expected: readonly Decision[]): string[] {
  expect(actual.length).toBe(expected.length);
  return expected.flatMap((wanted, i) => {
    const got = actual[i] as Decision;
    const lines = got.verdicts.length === wanted.verdicts.length ? [] : ["not as many verdicts"];
    for (const field of ["allowed", "reason"] as const)
      if (got[field] !== wanted[field]) lines.push(`${field}: ${got[field]}, wanted ${wanted[field]}`);
    wanted.verdicts.forEach((verdict, v) => {
      lines.push(...differences(named(got.verdicts[v]), named(verdict) as Verdict));
    });
    return lines.map((line) => `request ${i}: ${line}`);
  });
}

/** Each gate names leases in its own way. */
function named(verdict: Verdict | undefined): Partial<Verdict> {
  const { id, ...rest } = verdict ?? ({} as Partial<Verdict>);
  return rest;
}

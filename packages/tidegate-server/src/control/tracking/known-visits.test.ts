import fc from "fast-check";
import { fingerprintsOf } from "tidegate/http";
import { subjectOf } from "tidegate/testing";
import { describe, expect, test } from "vitest";
import { knownVisits, visitOf } from "./known-visits.js";

describe("what a visit is known by", () => {
  interface Facts {
    ip: string;
    method: string;
    host: string;
    path: string;
    agent: string;
    query: string;
  }
  const text = fc.constantFrom("", "a", "b", "ab", "1 1 ", "/", "/a", "/a/b", "A", "é");
  const anyFacts: fc.Arbitrary<Facts> = fc.record({
    ip: text,
    method: text,
    host: text,
    path: text,
    agent: text,
    query: text,
  });
  const subject = ({ ip, method, host, path, agent, query }: Facts) =>
    subjectOf(ip, { method, host, path: `${path}?${query}`, headers: { "user-agent": agent } });

  test("is the same only for those who have all fingerprints and the address in common", () => {
    fc.assert(
      fc.property(anyFacts, anyFacts, (one, other) => {
        const [a, b] = [subject(one), subject(other)];
        if (visitOf(a) !== visitOf(b)) return;
        expect(a.ip).toBe(b.ip);
        expect(a.method).toBe(b.method);
        expect(fingerprintsOf(a, "sha256")).toEqual(fingerprintsOf(b, "sha256"));
        expect(fingerprintsOf(a, "seed")).toEqual(fingerprintsOf(b, "seed"));
      }),
      { numRuns: 2_000 },
    );
  });

  test("tells each of its facts apart, and leaves the query out", () => {
    const facts = { ip: "192.0.2.1", method: "GET", host: "a.example", path: "/a", agent: "x", query: "1" };
    const others = [
      { ip: "192.0.2.2" },
      { method: "POST" },
      { host: "b.example" },
      { path: "/b" },
      { agent: "y" },
    ].map((other) => visitOf(subject({ ...facts, ...other })));
    expect(new Set([visitOf(subject(facts)), ...others]).size).toBe(6);
    expect(visitOf(subject({ ...facts, query: "2" }))).toBe(visitOf(subject(facts)));
  });

  test("is nothing where it would be long", () => {
    expect(visitOf(subjectOf("192.0.2.1", { path: `/${"x".repeat(600)}` }))).toBeUndefined();
  });
});

test("who comes again is remembered, of all others as many as there is room for", () => {
  const visits = knownVisits<object>(10);
  const often = [{ rule: "r", key: "often" }];
  visits.keep("often", often);
  for (let i = 0; i < 100; i++) {
    visits.keep(`once ${i}`, []);
    expect(visits.get("often")).toBe(often);
  }
  const known = Array.from({ length: 100 }, (_, i) => visits.get(`once ${i}`)).filter(Boolean);
  expect(known.length).toBeLessThanOrEqual(20);
  expect(visits.get("once 0")).toBeUndefined();
});

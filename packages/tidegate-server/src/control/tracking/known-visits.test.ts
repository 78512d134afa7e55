import fc from "fast-check";
import { fingerprintsOf } from "tidegate/http";
import { subjectOf } from "tidegate/testing";
import { describe, expect, test } from "vitest";
import { knownVisits } from "./known-visits.js";

interface Facts {
  ip: string;
  method: string;
  host: string;
  path: string;
  agent: string;
  query: string;
}

const subject = ({ ip, method, host, path, agent, query }: Facts) =>
  subjectOf(ip, { method, host, path: `${path}?${query}`, headers: { "user-agent": agent } });

describe("a visit", () => {
  const text = fc.constantFrom("", "a", "b", "ab", "1 1 ", "/", "/a", "/a/b", "A", "é");
  const anyFacts: fc.Arbitrary<Facts> = fc.record({
    ip: text,
    method: text,
    host: text,
    path: text,
    agent: text,
    query: text,
  });

  test("is known again only by who has all fingerprints and the address in common", () => {
    fc.assert(
      fc.property(anyFacts, anyFacts, (one, other) => {
        const [a, b] = [subject(one), subject(other)];
        const visits = knownVisits<string>(10);
        visits.keep(a, "a");
        expect(visits.get(a)).toBe("a");
        if (visits.get(b) === undefined) return;
        expect(a.ip).toBe(b.ip);
        expect(a.method).toBe(b.method);
        expect(fingerprintsOf(a, "sha256")).toEqual(fingerprintsOf(b, "sha256"));
        expect(fingerprintsOf(a, "seed")).toEqual(fingerprintsOf(b, "seed"));
      }),
      { numRuns: 2_000 },
    );
  });

  test("is told apart by each of its facts, whatever its query", () => {
    const facts = { ip: "192.0.2.1", method: "GET", host: "a.example", path: "/a", agent: "x", query: "1" };
    const others = [
      { ip: "192.0.2.2" },
      { method: "POST" },
      { host: "b.example" },
      { path: "/b" },
      { path: "/ab" },
      { agent: "y" },
    ].map((other) => subject({ ...facts, ...other }));
    const visits = knownVisits<number>(100);
    visits.keep(subject(facts), -1);
    expect(others.map((other) => visits.get(other))).toEqual(others.map(() => undefined));
    for (const [i, other] of others.entries()) visits.keep(other, i);
    expect(others.map((other) => visits.get(other))).toEqual(others.map((_, i) => i));
    expect(visits.get(subject({ ...facts, query: "2" }))).toBe(-1);
    expect(
      visits.get(subjectOf("192.0.2.1", { path: "/a", host: "a.example", headers: { "user-agent": "x" } })),
    ).toBe(-1);
  });

  test("is not kept where it would be long", () => {
    const visits = knownVisits<string>(10);
    const long = subjectOf("192.0.2.1", { path: `/${"x".repeat(600)}` });
    visits.keep(long, "long");
    expect(visits.get(long)).toBeUndefined();
  });

  test("of which more is found out is known by that", () => {
    const visits = knownVisits<string>(10);
    const one = subjectOf("192.0.2.1", { path: "/a" });
    visits.keep(one, "first");
    visits.keep(one, "second");
    expect(visits.get(one)).toBe("second");
  });
});

test("who comes again is remembered, of all others as many as there is room for", () => {
  const visits = knownVisits<string>(10);
  const often = subjectOf("192.0.2.1", { path: "/often" });
  const once = (i: number) => subjectOf(`198.51.100.${i}`, { path: "/once" });
  visits.keep(often, "often");
  for (let i = 0; i < 100; i++) {
    visits.keep(once(i), "once");
    expect(visits.get(often)).toBe("often");
  }
  const known = Array.from({ length: 100 }, (_, i) => visits.get(once(i))).filter(Boolean);
  expect(known.length).toBeLessThanOrEqual(20);
  expect(visits.get(once(0))).toBeUndefined();
});

test("of one address no more are remembered than can be looked through", () => {
  const visits = knownVisits<number>(1000);
  const page = (i: number) => subjectOf("192.0.2.1", { path: `/${i}` });
  for (let i = 0; i < 500; i++) visits.keep(page(i), i);
  const known = Array.from({ length: 500 }, (_, i) => visits.get(page(i))).filter((i) => i !== undefined);
  expect(known).toHaveLength(16);
  expect(visits.get(page(499))).toBe(499);
});

test("many pages of many addresses take no more room than many addresses", () => {
  const visits = knownVisits<number>(100);
  const page = (i: number, page: number) => subjectOf(`198.51.100.${i}`, { path: `/${page}` });
  for (let i = 0; i < 99; i++) visits.keep(page(i, 0), 0);
  for (let n = 1; n < 16; n++) for (let i = 0; i < 99; i++) visits.keep(page(i, n), n);
  let known = 0;
  for (let n = 0; n < 16; n++) for (let i = 0; i < 99; i++) if (visits.get(page(i, n)) !== undefined) known++;
  expect(known).toBeLessThanOrEqual(2 * (100 + 16));
});

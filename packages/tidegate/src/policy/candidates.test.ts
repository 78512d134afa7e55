import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Subject } from "../subject.js";
import { Candidates } from "./candidates.js";
import { pathReadings } from "./matching/path.js";
import type { Match } from "./rule-options.js";
import { compileRules, type Rule } from "./rules.js";

const segment = fc.constantFrom("a", "ab", "abc", "b", "B", "users", "v1", "v10", ":id", "*");
const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => `/${segments.join("/")}`);
const method = fc.constantFrom("GET", "POST", "DELETE");
const host = fc.constantFrom("example.com", "*.example.com", "api.example.com");
const match: fc.Arbitrary<Match> = fc.oneof(
  { weight: 4, arbitrary: path },
  fc.tuple(method, path).map(([name, below]) => `${name} ${below}`),
  fc.record({ method }),
  fc.record({ host, path }),
  fc.record({ host }),
  fc.constant(({ user }: Subject) => user === "ann"),
  fc.array(path, { minLength: 1, maxLength: 3 }),
);

function compiled(matches: readonly { only?: Match; except?: Match }[]): Rule[] {
  const terms = {
    keyForm: { fingerprint: "sha256", isShort: false },
    canFinish: true,
    tiersLease: false,
  } as const;
  return matches.flatMap((one, i) => {
    try {
      return compileRules([{ name: `rule ${i}`, by: "ip", limits: "5 per 1m", ...one }], terms);
    } catch {
      return []; // An except that swallows its only.
    }
  });
}

const asked = fc
  .array(fc.oneof(segment, fc.constantFrom("", ".", "..", "%41", "a%2Fb", "b;x=1", "ä", "\0", "users\\a")), {
    maxLength: 5,
  })
  .chain((segments) =>
    fc.constantFrom("", "/", "?q=/a", "#a", "?").map((end) => `/${segments.join("/")}${end}`),
  );
const subject: fc.Arbitrary<Subject> = fc.record({
  ip: fc.constant("203.0.113.7"),
  method: fc.constantFrom("GET", "get", "HEAD", "POST", "DELETE", "PATCH"),
  host: fc.constantFrom(
    "example.com",
    "api.example.com:8080",
    "API.example.com.",
    "x.api.example.com",
    "other",
  ),
  path: fc.oneof(asked, fc.constantFrom("", "*", "http://example.com/a/b", "a", "//a", "/a//b", "/v1")),
  header: fc.constant(() => undefined),
  user: fc.constantFrom(undefined, "ann"),
  ignoresCase: fc.boolean(),
});

describe("candidates", () => {
  it("are the rules whose only and except mean a request, however it is written", () => {
    const optional = fc.option(match, { nil: undefined });
    fc.assert(
      fc.property(
        fc.array(fc.record({ only: optional, except: optional }), { minLength: 1, maxLength: 8 }),
        fc.array(subject, { minLength: 1, maxLength: 20 }),
        (matches, subjects) => {
          const given = matches.map(({ only, except }) => ({
            ...(only && { only }),
            ...(except && { except }),
          }));
          const rules = compiled(given);
          const candidates = new Candidates(rules);
          for (const each of subjects) {
            const meant = ({ matches }: Rule) =>
              matches === undefined || matches(each, pathReadings(each.path));
            const found = candidates
              .of(each)
              .filter(({ rule, applies }) => applies ?? meant(rule))
              .map(({ rule }) => rule.name);
            expect(found).toEqual(rules.filter(meant).map(({ name }) => name));
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it("are told without asking a rule's match, where method, host and path decide", () => {
    const rules = compiled([
      { only: "/api" },
      { only: "POST /login" },
      { only: { host: "example.com" } },
      {},
    ]);
    const at = (path: string, method = "GET") =>
      new Candidates(rules)
        .of({ ip: "", method, host: "other", path, header: () => undefined })
        .map(({ rule, applies }) => [rule.name, applies]);
    expect(at("/api/users?page=2")).toEqual([
      ["rule 0", true],
      ["rule 3", true],
    ]);
    expect(at("/apis")).toEqual([["rule 3", true]]);
    expect(at("/login/", "post")).toEqual([
      ["rule 1", true],
      ["rule 3", true],
    ]);
  });

  it("are all to be asked where a path can be read in several ways", () => {
    const rules = compiled([{ only: "/api" }, {}]);
    const found = new Candidates(rules).of({
      ip: "",
      method: "GET",
      host: "",
      path: "/x%2F..%2Fapi",
      header: () => undefined,
    });
    expect(found.map(({ applies }) => applies)).toEqual([undefined, true]);
  });

  it("are found without asking a request for what no rule names", () => {
    const read = new Set<string | symbol>();
    const watched = new Proxy({} as Subject, {
      get(_, name) {
        read.add(name);
        return name === "ignoresCase" ? undefined : "/";
      },
    });
    new Candidates(compiled([{}, {}])).of(watched);
    expect([...read]).toEqual([]);
    new Candidates(compiled([{ only: "/api" }])).of(watched);
    expect([...read]).toEqual(["ignoresCase", "path"]);
  });

  it("a subject without a method or host is asked by rules that name neither", () => {
    const bare = { ip: "", path: "/" } as Subject;
    const found = new Candidates(compiled([{}, {}])).of(bare);
    expect(found.map(({ applies }) => applies)).toEqual([true, true]);
    const named = [{ only: "POST /login" }, { only: { host: "example.com", path: "/admin" } }, {}];
    const rules = compiled(named);
    const asked = new Candidates(rules)
      .of(bare)
      .filter(({ rule, applies }) => applies ?? rule.matches?.(bare, ["/"]));
    expect(asked.map(({ rule }) => rule.name)).toEqual(["rule 2"]);
  });
});

import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../errors.js";
import type { Subject } from "../../subject.js";
import type { Match } from "../rule-options.js";
import { compileMatch, covers, type RequestMatch } from "./match.js";
import { pathReadings } from "./path.js";

interface Facts {
  method?: string;
  host?: string;
}

function subjectOf(path: string, { method = "GET", host = "example.com" }: Facts = {}): Subject {
  return { ip: "192.0.2.1", method, host, path, header: () => undefined };
}

function applies(match: RequestMatch, path: string, facts?: Facts): boolean {
  const subject = subjectOf(path, facts);
  return match(subject, pathReadings(subject.path));
}

describe("only", () => {
  const api = compileMatch({ only: "/api/v1" }, "rules[0]");

  it.each([
    "/api/v1",
    "/api/v1/",
    "/api/v1/x",
    "/api/v1?x=1",
    "/api//v1",
    "//api/v1",
    "/./api/v1",
    "/public/../api/v1/x",
    "/public/%2e%2e/api/v1",
    "/%61pi/v1",
    "/api%2fv1",
    "/api%2Fv1%2Fx",
    "/public%2f..%2fapi/v1",
    "/public/..%2fapi/v1",
    "/api\\v1",
    "/api%5cv1",
    "/public\\..\\api\\v1",
    "/api/v1%00",
    "/api/v1%00/../../public",
    "/a%00pi/v1",
    "/api/v1;x=1",
    "/public/..;/api/v1",
    "http://other.example/api/v1",
    "//other.example/api/v1",
    "/\\other.example/api/v1",
  ])("%j does not get round it", (path) => {
    expect(applies(api, path)).toBe(true);
  });

  it.each([
    "/",
    "/api",
    "/api/v10",
    "/API/v1",
    "/api/v1x",
    "/x/api/v1",
    "/api/v1/../users",
    "/api%252fv1",
    "/%2561pi/v1",
    "/api%c0%afv1",
    "/?/api/v1",
  ])("%j is another path", (path) => {
    expect(applies(api, path)).toBe(false);
  });

  it.each<[Match, string, Facts, boolean]>([
    [{ method: "POST" }, "/x", { method: "POST" }, true],
    [{ method: "post" }, "/x", { method: "Post" }, true],
    [{ method: "GET" }, "/x", { method: "HEAD" }, true],
    ["GET /x", "/x", { method: "head" }, true],
    ["HEAD /x", "/x", { method: "GET" }, false],
    ["POST /x", "/x", { method: "HEAD" }, false],
    [{ method: ["GET", "HEAD"] }, "/x", { method: "HEAD" }, true],
    [{ method: "M-SEARCH" }, "/x", { method: "M-SEARCH" }, true],
    ["POST /login", "/login/", { method: "POST" }, true],
    ["POST /login", "/login", { method: "GET" }, false],
    [{ method: "POST", path: ["/login", "/signup"] }, "/signup", { method: "POST" }, true],
    [{ host: "example.com" }, "/", { host: "EXAMPLE.com:8080" }, true],
    [{ host: "Example.com" }, "/", { host: "example.com." }, true],
    [{ host: "example.com" }, "/", { host: "www.example.com" }, false],
    [{ host: "*.example.com" }, "/", { host: "a.b.example.com" }, true],
    [{ host: "*.example.com" }, "/", { host: "example.com" }, false],
    [{ host: "*.example.com" }, "/", { host: "badexample.com" }, false],
    [{ host: "[::1]" }, "/", { host: "[::1]:3000" }, true],
    [{ host: "example.com", path: "/a" }, "/b", {}, false],
    [["/a", { method: "PUT" }], "/b", { method: "PUT" }, true],
    [["/a", ["/b", ["/c"]]], "/c/d", {}, true],
    ["/users/*/avatar", "/users/42/avatar/small", {}, true],
    ["/users/:id/avatar", "/users/42/avatar", {}, true],
    ["/users/*/avatar", "/users/avatar", {}, false],
    ["/users/*/avatar", "/users/42/avatars", {}, false],
    ["/users/*/avatar", "/users/4/2/avatar", {}, false],
    ["/users/*/avatar", "/users/4%2f2/avatar", {}, true],
    ["/users/*", "/users", {}, false],
    ["/users/*", "/users/constructor", {}, true],
    ["/*", "/", {}, false],
    ["/café", "/caf%c3%a9/menu", {}, true],
    ["/caf%c3%a9", "/caf\u00c3\u00a9", {}, true],
    ["/a b", "/a%20b", {}, true],
    ["/%61pi/", "/api", {}, true],
    ["/things:search", "/things%3asearch", {}, true],
    ["/", "*", { method: "OPTIONS" }, true],
    [(subject) => subject.method === "PATCH", "/", { method: "PATCH" }, true],
    [(subject) => subject.method === "PATCH", "/", { method: "GET" }, false],
  ])("%j, %s %j: %s", (only, path, facts, expected) => {
    expect(applies(compileMatch({ only }, "rules[0]"), path, facts)).toBe(expected);
  });
});

describe("except", () => {
  const api = compileMatch({ only: "/api/v1", except: "/api/v1/users" }, "rules[0]");

  it.each(["/api/v1/users", "/api/v1/users/7", "/api/v1//users/", "/api/v1/x/../users", "/api/v1/%75sers"])(
    "%j is excepted: except wins",
    (path) => {
      expect(applies(api, path)).toBe(false);
    },
  );

  it.each([
    "/api/v1",
    "/api/v1/orders",
    "/api/v1/users2",
    "/api/v1/users/../orders",
    "/api/v1/users/..%2forders",
    "/api/v1/users%2f..%2forders",
    "/api/v1/users\\..\\orders",
    "/api/v1/orders%00/../users",
    "/api/v1/users;/../orders",
    "/api/v1/orders/..%2fusers",
    "/api/v1%2fusers",
  ])("%j is not, for one reading of it is not", (path) => {
    expect(applies(api, path)).toBe(true);
  });

  it("holds where every reading is excepted, each by another", () => {
    expect(applies(compileMatch({ except: "/a/b" }, "rules[0]"), "/a%5cb")).toBe(true);
    expect(applies(compileMatch({ except: ["/a/b", "/:any"] }, "rules[0]"), "/a%5cb")).toBe(false);
    expect(applies(compileMatch({ except: "/static" }, "rules[0]"), "/static/a%2fb")).toBe(false);
  });

  it("stands alone: everything else is meant", () => {
    const match = compileMatch({ except: { method: "OPTIONS" } }, "rules[0]");
    expect(applies(match, "/x")).toBe(true);
    expect(applies(match, "/x", { method: "OPTIONS" })).toBe(false);
  });
});

describe("HEAD", () => {
  it("is excepted where GET is, and GET not where only HEAD is", () => {
    const get = compileMatch({ except: "GET /x" }, "rules[0]");
    expect(applies(get, "/x", { method: "HEAD" })).toBe(false);
    expect(applies(get, "/x", { method: "POST" })).toBe(true);
    expect(applies(compileMatch({ except: "HEAD /x" }, "rules[0]"), "/x", { method: "GET" })).toBe(true);
  });

  it("is covered by GET, and GET not by it", () => {
    expect(covers("GET /x", "HEAD /x")).toBe(true);
    expect(covers("HEAD /x", "GET /x")).toBe(false);
  });
});

describe("a path too long to be read in every way", () => {
  const long = `/x${"\\\\..".repeat(2000)}`;

  it("is one that every only names and no except", () => {
    expect(applies(compileMatch({ only: "/api/v1" }, "rules[0]"), long)).toBe(true);
    expect(applies(compileMatch({ except: "/x" }, "rules[0]"), long)).toBe(true);
    expect(applies(compileMatch({ only: "/api", except: "/x" }, "rules[0]"), long)).toBe(true);
  });

  it("still has its method", () => {
    expect(applies(compileMatch({ only: "POST /api" }, "rules[0]"), long)).toBe(false);
    expect(applies(compileMatch({ except: { method: "GET" } }, "rules[0]"), long)).toBe(false);
  });

  it("is read as ever when there is but one way", () => {
    const plain = `/api/${"x".repeat(60_000)}/../%61`;
    expect(applies(compileMatch({ only: "/api/a" }, "rules[0]"), plain)).toBe(true);
    expect(applies(compileMatch({ only: "/x" }, "rules[0]"), plain)).toBe(false);
  });
});

describe("functions in doubt", () => {
  function broken(): boolean {
    throw new Error("broken");
  }
  const later = (async () => {
    throw new Error("later");
  }) as unknown as () => boolean;

  it.each([
    ["throws", broken],
    ["answers later", later],
    ["answers later, from another realm", () => runInNewContext("Promise.resolve(true)")],
  ])("one that %s counts the request", (_, ask) => {
    expect(applies(compileMatch({ only: ask }, "rules[0]"), "/x")).toBe(true);
    expect(applies(compileMatch({ except: ask }, "rules[0]"), "/x")).toBe(true);
    expect(applies(compileMatch({ only: "/x", except: ask }, "rules[0]"), "/x%2fy")).toBe(true);
  });

  it("are not asked about requests on other paths", () => {
    const asked: string[] = [];
    const ask = ({ path }: Subject) => asked.push(path) > 0;
    applies(compileMatch({ only: "/a", except: ask }, "rules[0]"), "/b");
    expect(asked).toEqual([]);
  });
});

function errorOf(act: () => unknown): ConfigError {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigError) return error;
  }
  throw new Error("no ConfigError was thrown");
}

describe("a match that can not work is refused when made", () => {
  it.each<[string, unknown, string]>([
    ["nothing", null, "rules[2].only"],
    ["a number", 7, "rules[2].only"],
    ["an empty text", "", "rules[2].only"],
    ["no leading slash", "api", "rules[2].only"],
    ["a method alone", "POST", "rules[2].only"],
    ["a URL", "https://example.com/api", "rules[2].only"],
    ["a shorthand without slash", "POST login", "rules[2].only"],
    ["a method that is none", "P@ST /login", "rules[2].only"],
    ["a query", { path: "/api?x=1" }, "rules[2].only.path"],
    ["a fragment", { path: "/api#x" }, "rules[2].only.path"],
    ["an empty path", { path: "" }, "rules[2].only.path"],
    ["a path that is no text", { path: 7 }, "rules[2].only.path"],
    ["half a wildcard", "/files/*.js", "rules[2].only"],
    ["a double wildcard", "/files/**", "rules[2].only"],
    ["dots", "/a/../b", "rules[2].only"],
    ["encoded dots", "/a/%2e%2e", "rules[2].only"],
    ["a dot", "/.", "rules[2].only"],
    ["doubled slashes", "/a//b", "rules[2].only"],
    ["an encoded slash", "/a%2fb", "rules[2].only"],
    ["a backslash", "/a\\b", "rules[2].only"],
    ["a NUL", "/a\0", "rules[2].only"],
    ["an empty object", {}, "rules[2].only"],
    ["only undefined fields", { path: undefined }, "rules[2].only"],
    ["an unknown key", { path: "/a", paths: "/b" }, "rules[2].only"],
    ["an own __proto__", JSON.parse('{"__proto__":"/a"}'), "rules[2].only"],
    ["an empty list", [], "rules[2].only"],
    ["an empty list of paths", { path: [] }, "rules[2].only.path"],
    ["a bad entry", ["/a", { path: ["/b", "c"] }], "rules[2].only[1].path[1]"],
    ["a host with a port", { host: "example.com:80" }, "rules[2].only.host"],
    ["a host with a scheme", { host: "http://example.com" }, "rules[2].only.host"],
    ["a host with a star inside", { host: "a.*.com" }, "rules[2].only.host"],
    ["every host", { host: "*" }, "rules[2].only.host"],
    ["an empty method", { method: "" }, "rules[2].only.method"],
  ])("%s", (_, only, path) => {
    const error = errorOf(() => compileMatch({ only: only as Match }, "rules[2]"));
    expect(error).toMatchObject({ code: "TG_MATCH", path });
    expect(error.help).not.toBe("");
  });

  it.each<[Match | undefined, Match]>([
    ["/api", "/api"],
    ["/api/v1", "/api/"],
    ["/api", "/"],
    [undefined, "/"],
    [
      ["/a", "/b"],
      ["/b", "/a", "/c"],
    ],
    [{ path: ["/a", "/b"] }, ["/a", "/b"]],
    ["POST /login", "/login"],
    [{ method: ["GET", "HEAD"], path: "/a" }, [{ method: "GET" }, "HEAD /a"]],
    [{ host: "a.example.com" }, { host: "*.example.com" }],
    ["/users/7/avatar", "/users/*"],
    ["/users/:id/avatar", "/users/:any"],
    [() => true, "/"],
  ])("an except that swallows its only: %j except %j", (only, except) => {
    const error = errorOf(() => compileMatch({ ...(only && { only }), except }, "rules[2]"));
    expect(error).toMatchObject({ code: "TG_MATCH_NOTHING", path: "rules[2].except" });
    expect(error.help).not.toBe("");
  });

  it.each<[Match, Match]>([
    ["/api", "/api/v1"],
    ["/api", "POST /api"],
    [["/a", "/b"], "/a"],
    [{ host: "*.example.com" }, { host: "a.example.com" }],
    ["/users/*", "/users/7"],
    [() => true, () => true],
  ])("an except that leaves something is kept: %j except %j", (only, except) => {
    expect(compileMatch({ only, except }, "rules[2]")).toBeTypeOf("function");
  });
});

describe("covers", () => {
  const path = fc.constantFrom("/", "/a", "/a/b", "/a/*", "/*/b", "/:x", "/b", "/a/b/c");
  const method = fc.constantFrom("GET", "POST");
  const host = fc.constantFrom("example.com", "a.example.com", "*.example.com", "*.a.example.com");
  const some = <T>(one: fc.Arbitrary<T>) => fc.oneof(one, fc.array(one, { minLength: 1, maxLength: 2 }));
  const fields = fc
    .record({ method: some(method), path: some(path), host: some(host) }, { requiredKeys: [] })
    .filter((given) => Object.keys(given).length > 0);
  const match = some(fc.oneof(path, fields)) as fc.Arbitrary<Match>;
  const request = fc.tuple(
    fc.constantFrom("/", "/a", "/a/b", "/a/x", "/x/b", "/b", "/a/b/c", "/x%2fb", "/a\\b"),
    fc.constantFrom("GET", "POST", "PUT"),
    fc.constantFrom("example.com", "a.example.com", "b.a.example.com", "other"),
  );

  it("says so only when every request of the inner is one of the outer", () => {
    let certain = 0;
    fc.assert(
      fc.property(
        match,
        match,
        fc.array(request, { minLength: 20, maxLength: 20 }),
        (outer, inner, requests) => {
          if (!covers(outer, inner)) return;
          certain++;
          const [wide, narrow] = [outer, inner].map((only) => compileMatch({ only }, "rules[0]"));
          for (const [target, method, host] of requests) {
            if (applies(narrow!, target, { method, host }))
              expect(applies(wide!, target, { method, host })).toBe(true);
          }
        },
      ),
      { numRuns: 2000 },
    );
    expect(certain).toBeGreaterThan(50);
  });

  it("knows that everything covers itself", () => {
    fc.assert(fc.property(match, (one) => covers(one, one)));
    const ask = () => true;
    expect(covers(ask, ask)).toBe(true);
    expect(covers(ask, () => true)).toBe(false);
    expect(covers(["/a", ask], ask)).toBe(true);
    expect(covers("/a", ask)).toBe(false);
  });
});

describe("an app that ignores case", () => {
  const subject = (path: string): Subject => ({
    ip: "203.0.113.7",
    method: "GET",
    host: "example.com",
    path,
    header: () => undefined,
    ignoresCase: true,
  });
  const isMeant = (options: { only?: Match; except?: Match }, path: string): boolean =>
    compileMatch(options, "rule")(subject(path), pathReadings(path));

  it("is limited in every spelling of the rule's path, and excepted only as written", () => {
    expect(isMeant({ only: "/api/V1/*/x" }, "/API/v1/any/X")).toBe(true);
    expect(isMeant({ only: "POST /login" }, "/LOGIN")).toBe(false);
    expect(isMeant({ except: "/home" }, "/HOME/x")).toBe(true);
    expect(isMeant({ except: "/home" }, "/home/x")).toBe(false);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isUnder, pathOf, pathReadings } from "./path.js";

describe("a request's path", () => {
  it.each([
    ["/", "/"],
    ["", "/"],
    ["/api/v1", "/api/v1"],
    ["/api/v1/", "/api/v1"],
    ["/api/v1?x=/../users", "/api/v1"],
    ["/api/v1#/users", "/api/v1"],
    ["/?/api", "/"],
    ["http://example.com/api/v1?x", "/api/v1"],
    ["HTTPS://user@example.com:8443/api", "/api"],
    ["http://example.com", "/"],
    ["http://example.com?x=/api", "/"],
    ["/to/http://example.com/x", "/to/http:/example.com/x"],
    ["*", "/*"],
    ["api/v1", "/api/v1"],
    ["/api//v1", "/api/v1"],
    ["/api/////v1//", "/api/v1"],
    ["/api/./v1/.", "/api/v1"],
    ["/public/../api/v1", "/api/v1"],
    ["/../../api/v1", "/api/v1"],
    ["/%2e%2E/api/%2e/v1", "/api/v1"],
    ["/public/%2e./api/v1", "/api/v1"],
    ["/public/../..", "/"],
    ["/.../v1", "/.../v1"],
    ["/.well-known/x", "/.well-known/x"],
    ["/a.b/..c/d..", "/a.b/..c/d.."],
    ["/%61pi/%76%31", "/api/v1"],
    ["/%7Euser/%2D%5F", "/~user/-_"],
    ["/API/v1", "/API/v1"],
    ["/%41PI", "/API"],
    ["/caf%c3%a9", "/caf%C3%A9"],
    ["/café", "/caf%C3%A9"],
    ["/caf\u00c3\u00a9", "/caf%C3%A9"],
    ["/波/🌊", "/%E6%B3%A2/%F0%9F%8C%8A"],
    ["/\ud800", "/%EF%BF%BD"],
    ["/a b|c", "/a%20b%7Cc"],
    ["/a%20b", "/a%20b"],
  ])("%j is read as %j alone", (target, reading) => {
    expect(pathReadings(target)).toEqual([reading]);
  });

  it.each([
    ["twice escaped", "/api%252fv1", "/api%252fv1"],
    ["twice escaped", "/%2561pi", "/%2561pi"],
    ["twice escaped", "/a/%252e%252e/b", "/a/%252e%252e/b"],
    ["an escape put together from two", "/%%32%66", "/%252f"],
    ["overlong", "/api%c0%afv1", "/api%C0%AFv1"],
    ["overlong", "/%c0%ae%c0%ae/api", "/%C0%AE%C0%AE/api"],
    ["no escape", "/%zz", "/%25zz"],
    ["no escape", "/%", "/%25"],
    ["no escape", "/%2", "/%252"],
    ["no escape", "/%u002fapi", "/%25u002fapi"],
  ])("%s: %j is decoded once at most, to %j", (_, target, reading) => {
    expect(pathReadings(target)).toEqual([reading]);
  });

  it.each([
    ["/api/v1/..%2fusers", ["/api/v1/..%2Fusers", "/api/users"]],
    ["/api%2Fv1", ["/api%2Fv1", "/api/v1"]],
    ["///host/////api//", ["/host/api", "/api"]],
    ["//host", ["/host", "/"]],
    ["/\\user@host:80/api", ["/%5Cuser@host:80/api", "/user@host:80/api", "/api"]],
    ["/api\\v1", ["/api%5Cv1", "/api/v1"]],
    ["/api%5cv1", ["/api%5Cv1", "/api/v1"]],
    ["/a/..\\b", ["/a/..%5Cb", "/b"]],
    ["/a%2fb\\c", ["/a%2Fb%5Cc", "/a%2Fb/c", "/a/b%5Cc", "/a/b/c"]],
    ["/api/v1%00.png", ["/api/v1%00.png", "/api/v1.png", "/api/v1"]],
    ["/api/v1\0.png", ["/api/v1%00.png", "/api/v1.png", "/api/v1"]],
    ["/a/.%00./b", ["/a/.%00./b", "/b", "/a"]],
    ["/api/v1;x=1", ["/api/v1;x=1", "/api/v1"]],
    ["/public/..;/api;a/v1", ["/public/..;/api;a/v1", "/api/v1", "/"]],
    ["/things%3Asearch", ["/things%3Asearch", "/things:search"]],
    ["/a//../b", ["/a/b", "/b"]],
  ])("%j is ambiguous, and every reading is given", (target, readings) => {
    expect([...pathReadings(target)].sort()).toEqual([...readings].sort());
    expect(pathReadings(target)[0]).toBe(readings[0]);
  });
});

const piece = fc.constantFrom(
  "/",
  "//",
  ".",
  "..",
  "%2e",
  "%2F",
  "%5c",
  "\\",
  "%00",
  "\0",
  ";",
  "%3b",
  "%",
  "%25",
  "%zz",
  "a",
  "B",
  "é",
  "\ud800",
  "?",
  "#",
  "://",
  "\n",
);
const hostile = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));

describe("any path, however hostile", () => {
  it("has from one to 144 readings, all normalised", () => {
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string({ unit: "binary" })), (target) => {
        const readings = pathReadings(target);
        expect(readings.length).toBeGreaterThan(0);
        expect(readings.length).toBeLessThanOrEqual(144);
        expect(new Set(readings).size).toBe(readings.length);
        for (const reading of readings) {
          expect(reading).toMatch(/^\/$|^(?:\/[A-Za-z0-9\-._~!$&'()*+,;=:@%]+)+$/);
          expect(reading.split("/")).not.toContain(".");
          expect(reading.split("/")).not.toContain("..");
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("has readings that stay as they are when read again", () => {
    fc.assert(
      fc.property(hostile, (target) => {
        for (const reading of pathReadings(target)) expect(pathReadings(reading)[0]).toBe(reading);
      }),
      { numRuns: 1000 },
    );
  });

  it("stays within bounds at 64 KiB of each kind of trouble", () => {
    for (const trouble of [
      "/",
      "/..",
      "/a/..",
      "%2f",
      "%2e%2e%2f",
      "\\",
      "%00",
      ";",
      "%",
      "%41",
      "é",
      "//..;%2f%5c%00",
      "://",
    ]) {
      const readings = pathReadings(`/${trouble.repeat(65_536 / trouble.length)}`);
      expect(readings.length).toBeLessThanOrEqual(144);
    }
  });
});

describe("isUnder", () => {
  it.each([
    ["/api/v1", "/api/v1", true],
    ["/api/v1/x", "/api/v1", true],
    ["/api/v10", "/api/v1", false],
    ["/api", "/api/v1", false],
    ["/API/v1", "/api/v1", false],
    ["/api/v1;x=1", "/api/v1", false],
    ["/", "/", true],
    ["/x/y", "/", true],
  ])("%s under %s: %s", (reading, path, expected) => {
    expect(isUnder(reading, path)).toBe(expected);
  });
});

it("the path as sent is left as it is, but for query, fragment and scheme", () => {
  expect(pathOf("/A//b/../%61?x#y")).toBe("/A//b/../%61");
  expect(pathOf("http://h/%61?x")).toBe("/%61");
  expect(pathOf("://x/y")).toBe("://x/y");
});

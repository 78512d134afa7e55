import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inDoubt, routes } from "./routes.js";

const upstream = (name: string, hosts: string[], path: string) => ({ name, hosts, path });
const find = routes([
  upstream("any", [], "/"),
  upstream("any files", [], "/files"),
  upstream("below", ["*.example.com"], "/"),
  upstream("below eu", ["*.eu.example.com"], "/"),
  upstream("api", ["api.example.com", "api.example.org"], "/"),
  upstream("api v1", ["API.example.com"], "/v1/"),
]);

describe("a request goes", () => {
  it.each([
    ["api.example.com", "/", "api"],
    ["api.example.com", "/v1", "api v1"],
    ["api.example.com", "/v1/", "api v1"],
    ["api.example.com", "/v1?x=/", "api v1"],
    ["api.example.com", "/v11", "api"],
    ["api.example.com", "/V1", "api"],
    ["API.EXAMPLE.COM:8080", "/v1/x", "api v1"],
    ["api.example.com.", "/v1/x", "api v1"],
    ["api.example.org", "/v1", "api"],
    ["shop.example.com", "/files", "below"],
    ["a.eu.example.com", "/", "below eu"],
    ["eu.example.com", "/", "below"],
    ["example.com", "/", "any"],
    ["evilexample.com", "/", "any"],
    ["[::1]:80", "/files/1", "any files"],
    ["", "/filesystem", "any"],
    ["", "/files/../", "any"],
    ["", "/./files/1", "any files"],
    ["", "/%66iles/1", "any files"],
    ["", "/files/1;x=1", "any files"],
    ["", "http://a.example/files/1", "any files"],
  ])("for %s%s to the upstream that names it most closely: %s%s", (host, path, name) => {
    expect(find(host, path)).toMatchObject({ name });
  });

  it("nowhere when nobody serves its host or path", () => {
    const few = routes([upstream("a", ["a.example"], "/in")]);
    expect(few("a.example", "/in/x")).toMatchObject({ name: "a" });
    for (const [host, path] of [
      ["a.example", "/out"],
      ["a.example", "/in/../out"],
      ["a.example", "/in/%2e%2E/out"],
      ["b.example", "/in"],
    ] as const)
      expect(few(host, path)).toBeUndefined();
  });

  it.each([
    "/files/..%2fx",
    "/files\\\\..\\\\x",
    "/x/..%5cfiles",
    "//evil/files",
    "/x/..;/files",
    "/files/..%00/x",
  ])("nowhere when its path may be of one upstream or of another: %s", (path) => {
    expect(find("", path)).toBe(inDoubt);
  });

  const long = "a".repeat(1025);

  it.each([
    `/files/;${long}`,
    `/;${long}/files`,
    `/files/${long}/x%40/..%2f../`,
    `/files/${long}%40/.%2E/%2e./x`,
    `/files/${long};x=1/.%00./x`,
    `//${long}/files`,
  ])(
    "nowhere when its path is too long to be read in every way, but where all goes to one upstream (%#)",
    (path) => {
      expect(find("", path)).toBe(inDoubt);
      expect(find("api.example.com", path)).toBe(inDoubt);
      expect(find("shop.example.com", path)).toMatchObject({ name: "below" });
    },
  );

  it.each([
    ["", `/files/${"a".repeat(3_000)}`, "any files"],
    ["", `/files/https%3A%2F%2Fcdn.example%2F${long}.png`, "any files"],
    ["", `/x%40${long}/files`, "any"],
    ["", `http://a.example/files/x%40${long}`, "any files"],
    ["api.example.com", `/v1/Products(%27${long}%27)`, "api v1"],
    ["api.example.com", `/v1%2F%40${long}`, undefined],
    ["api.example.com", `/v1${long}%40`, "api"],
  ])("by its head when it is too long to be read in every way (%#)", (host, path, name) => {
    const found = find(host, path);
    expect(found).toEqual(name === undefined ? inDoubt : expect.objectContaining({ name }));
  });

  it("to the same upstream by its head as by the whole path, or nowhere", () => {
    const pieces = fc.constantFrom(
      "/",
      "files",
      "v1",
      ";",
      "x",
      "%2F",
      "%2f",
      "%5C",
      "\\",
      "%40",
      ":",
      ".",
      "%20",
      "é",
      "//",
    );
    const check = fc.property(
      fc.array(pieces, { maxLength: 12 }),
      fc.array(pieces, { maxLength: 8 }),
      (head, tail) => {
        const ends = (filling: string) => `/${head.join("")}${filling}${tail.join("")}`;
        for (const host of ["", "api.example.com"]) {
          const long = find(host, ends(`%40${"y".repeat(1100)}`));
          if (long !== inDoubt) expect(long).toBe(find(host, ends(`%40${"y".repeat(40)}`)));
        }
      },
    );
    fc.assert(check, { numRuns: 2000 });
  });

  it("by a book of hosts that does not grow with what clients make up", () => {
    for (let i = 0; i < 5000; i++) expect(find(`h${i}.example.com`, "/")).toMatchObject({ name: "below" });
  });
});

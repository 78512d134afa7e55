import { describe, expect, it } from "vitest";
import { routes } from "./routes.js";

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
  ])("for %s%s to the upstream that names it most closely: %s%s", (host, path, name) => {
    expect(find(host, path)?.name).toBe(name);
  });

  it("nowhere when nobody serves its host or path", () => {
    const few = routes([upstream("a", ["a.example"], "/in")]);
    expect([few("a.example", "/in/x")?.name, few("a.example", "/out"), few("b.example", "/in")]).toEqual([
      "a",
      undefined,
      undefined,
    ]);
  });

  it("by a book of hosts that does not grow with what clients make up", () => {
    for (let i = 0; i < 5000; i++) expect(find(`h${i}.example.com`, "/")?.name).toBe("below");
  });
});

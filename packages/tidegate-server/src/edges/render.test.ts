import { describe, expect, it } from "vitest";
import { renderCaddy, renderNginxAuth, renderTraefik } from "./render.js";

const all = [
  ["nginx-auth", renderNginxAuth],
  ["caddy", renderCaddy],
  ["traefik", renderTraefik],
] as const;

describe.each(all)("what is rendered for %s", (_, render) => {
  it("names the decision service and says where each file goes", () => {
    const { files } = render({ decideUrl: "http://10.0.0.5:8090" });
    expect(files.map(({ text }) => text).join("")).toContain("10.0.0.5:8090");
    for (const { name, text } of files) {
      expect(name).toMatch(/^tidegate[\w.-]+$/);
      expect(text).toMatch(/^# Tidegate: /);
    }
  });

  it("takes names, IPv6 and https", () => {
    for (const decideUrl of ["http://tidegate.internal", "https://[2001:db8::1]:8443/", "HTTP://a-b.c:1"])
      expect(() => render({ decideUrl })).not.toThrow();
  });

  it.each([
    "",
    "127.0.0.1:8090",
    "ftp://a:1",
    "http://a:0",
    "http://a:65536",
    "http://a:1/path",
    "http://user:pw@a:1",
    "http://a:1;\n}",
    'http://a:1"',
    "http://a b:1",
    "http://a{b}:1",
    "http://$host:1",
    "http://a:1\n",
    "http://[::1\n]:1",
  ])("lets nothing else into a configuration: %j", (decideUrl) => {
    expect(() => render({ decideUrl })).toThrow(expect.objectContaining({ code: "TG_RENDER" }));
  });

  it("lets no header name end its line", () => {
    for (const customer of ["X-A;", "X A", 'X"', "X\nY", "", "{x}", "$x", "x".repeat(65)])
      expect(() => render({ decideUrl: "http://a:1", identify: { customer } })).toThrow(/TG_RENDER/);
  });
});

describe("further values", () => {
  it("a cache path is a plain one", () => {
    for (const cachePath of ["relative", "/a;b", "/a b", "/a\n", "/a/../b", "/$x", ""])
      expect(() => renderNginxAuth({ decideUrl: "http://a:1", cachePath })).toThrow(/TG_RENDER/);
  });

  it("nginx keeps refusals where it can make the folder on any system, unless told where", () => {
    const http = (options: object) => renderNginxAuth({ decideUrl: "http://a:1", ...options }).files[0]?.text;
    expect(http({})).toMatch(/^proxy_cache_path \/var\/cache\/[\w-]+ levels/m);
    expect(http({ cachePath: "/srv/refusals" })).toContain("proxy_cache_path /srv/refusals levels");
  });

  it("a time-out is a whole number of milliseconds", () => {
    for (const timeoutMs of [0, -1, 1.5, Number.NaN, "5s;" as unknown as number])
      expect(() => renderCaddy({ decideUrl: "http://a:1", timeoutMs })).toThrow(/TG_RENDER/);
    expect(renderCaddy({ decideUrl: "http://a:1", timeoutMs: 250 }).files[0]?.text).toContain("250ms");
  });

  it("headers that say who is logged in do not come from the client", () => {
    const identify = { customer: "X-Customer-Id", user: "Authorization" };
    const text = (files: readonly { text: string }[]) => files.map((file) => file.text).join("");
    const decideUrl = "http://a:1";
    expect(text(renderNginxAuth({ decideUrl, identify }).files)).toContain(
      'proxy_set_header X-Customer-Id "";',
    );
    expect(text(renderCaddy({ decideUrl, identify }).files)).toContain("header_up -X-Customer-Id");
    expect(text(renderTraefik({ decideUrl, identify, headers: ["X-Tenant"] }).files)).toMatch(
      /authRequestHeaders:\n +- "Accept"\n +- "Cookie"\n +- "User-Agent"\n +- "X-Api-Key"\n +- "X-Tenant"\n/,
    );
  });
});

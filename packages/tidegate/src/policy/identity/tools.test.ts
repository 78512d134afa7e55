import { describe, expect, it } from "vitest";
import { toolOf, tools } from "./tools.js";

const chrome =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36";

describe("known tools", () => {
  it.each([
    ["sqlmap", "sqlmap/1.4#stable (http://sqlmap.org)"],
    ["sqlmap", "sqlmap/1.8.2.1#dev (https://sqlmap.org)"],
    ["Scrapy", "Scrapy/2.11.2 (+https://scrapy.org)"],
    [
      "SimplePie",
      "SimplePie/1.3.1 (Feed Parser; http://simplepie.org; Allow like Gecko) Build/20121030175911",
    ],
    ["Nutch", "MyCrawler/Nutch-1.21"],
    ["Nutch", "NutchCVS/0.7.2 (Nutch; http://lucene.apache.org/nutch/bot.html)"],
    ["ffuf", "Fuzz Faster U Fool v2.1.0-dev"],
    ["wfuzz", "Wfuzz/2.4"],
  ])("%s is known by the user agent it really sends: %s", (name, userAgent) => {
    expect(toolOf(userAgent)?.name).toBe(name);
  });

  it.each(tools.map((tool) => [tool.name, tool] as const))("%s is known by its default", (_, tool) => {
    expect(toolOf(tool.example)).toBe(tool);
    expect(toolOf(tool.example.toUpperCase())).toBe(tool);
    expect(toolOf(`${chrome} ${tool.example}`)).toBe(tool);
    expect(tool.token).toBe(tool.token.toLowerCase());
    expect(tool.source).toMatch(/^[\w-]+\/[\w-]+ [\w./-]+/);
  });

  it("are the six of old and at least twenty more, each once", () => {
    expect(tools.length).toBeGreaterThanOrEqual(26);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    expect(new Set(tools.map(({ token }) => token)).size).toBe(tools.length);
  });

  it("a feed reader built on SimplePie is named too: that lowers limits, it refuses nobody", () => {
    expect(toolOf("FreshRSS/1.11.2 (Linux; https://freshrss.org) SimplePie/1.3.1")?.name).toBe("SimplePie");
  });
});

describe("ordinary clients", () => {
  it.each([
    chrome,
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
    "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0",
    "Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko",
    "Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0)",
    "Opera/9.80 (Windows NT 6.1; WOW64) Presto/2.12.388 Version/12.18",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "FreshRSS/1.24.0 (Linux; https://freshrss.org)",
    "Feedly/1.0 (+http://www.feedly.com/fetcher.html; 3 subscribers)",
    "NetNewsWire (RSS Reader; https://netnewswire.com/)",
    "curl/8.10.1",
    "python-requests/2.32.3",
    "python-httpx/0.27.0",
    "Go-http-client/2.0",
    "okhttp/4.12.0",
    "DailyNewspaper/4.2 CFNetwork/1496 Darwin/23.5.0",
    "Dalvik/2.1.0 (Linux; U; Android 14; Hydra Build/UP1A)",
    "",
  ])("%j is no tool", (userAgent) => {
    expect(toolOf(userAgent)).toBeUndefined();
  });

  it("a name inside a word is no name", () => {
    for (const userAgent of ["mysqlmap/1.0", "3scrapy", "xwfuzz", "constructor", "__proto__"]) {
      expect(toolOf(userAgent)).toBeUndefined();
    }
  });
});

it("a hostile user agent costs no more than its first 512 characters", () => {
  expect(toolOf(`${" ".repeat(505)}sqlmap/1.4`)?.name).toBe("sqlmap");
  expect(toolOf(`${" ".repeat(512)}sqlmap/1.4`)).toBeUndefined();
  expect(toolOf("(hydra".repeat(11_000))).toBeUndefined();
  expect(toolOf("\u0130\ud800é (Hydra)")?.name).toBe("Hydra");
});

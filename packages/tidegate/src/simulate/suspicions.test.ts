import { describe, expect, it } from "vitest";
import { subjectOf } from "../testing/subject.js";
import { ClientRow } from "./client-row.js";
import { suspicionOf } from "./suspicions.js";

const browser =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36";

interface Look {
  readonly agent?: string;
  readonly agents?: readonly string[];
  readonly users?: readonly string[];
  readonly paths?: readonly string[];
  readonly requests?: number;
  readonly refused?: number;
}

function why({ agent = browser, agents = [agent], users, paths = ["/a.css", "/a"], ...counts }: Look) {
  const { requests = 100, refused = 5 } = counts;
  const row = new ClientRow({ rule: 0, client: "c", address: "192.0.2.1", userAgent: agent, requests });
  for (let i = 0; i < 50; i++) {
    const user = users?.[i % users.length];
    const headers = { "user-agent": agents[i % agents.length] as string };
    row.watch(
      subjectOf("192.0.2.1", {
        path: paths[i % paths.length] as string,
        headers,
        ...(user !== undefined && { user }),
      }),
    );
  }
  for (let i = 0; i < refused; i++) row.refuse(i, 0);
  return suspicionOf(row)?.why;
}

describe("refused, and maybe wrongly:", () => {
  it("a browser that fetches what its pages are made of", () => {
    expect(why({})).toBe("browser");
  });

  it("not what calls itself a browser and fetches pages only", () => {
    expect(why({ paths: ["/a", "/b", "/c"] })).toBeUndefined();
  });

  it("not a browser of which most requests are refused", () => {
    expect(why({ refused: 80 })).toBeUndefined();
  });

  it.each([
    "curl/8.5",
    "python-requests/2.31",
    "sqlmap/1.4#stable (http://sqlmap.org)",
    "",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/126.0 Safari/537.36",
  ])("not a tool: %s", (agent) => {
    expect(why({ agent })).toBeUndefined();
  });

  it.each([
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0) Chrome/116.0 Safari/537.36",
  ])("a known crawler, however it behaves: %s", (agent) => {
    expect(why({ agent, paths: ["/a"], refused: 90 })).toBe("crawler");
  });

  it("many browsers behind one address", () => {
    const agents = Array.from({ length: 12 }, (_, i) => `${browser} Edg/${i}`);
    expect(why({ agents, refused: 80 })).toBe("many-behind-one-address");
  });

  it("not one scraper that changes its name", () => {
    const agents = Array.from({ length: 12 }, (_, i) => `${browser} Edg/${i}`);
    expect(why({ agents, paths: ["/a"], refused: 80 })).toBeUndefined();
  });

  it("many users behind one address", () => {
    expect(why({ agent: "app/1", users: ["ann", "bob", "cid", "dan", "eve"], paths: ["/a"] })).toBe(
      "many-behind-one-address",
    );
  });
});

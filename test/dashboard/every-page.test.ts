import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { After } from "../server/running.js";
import { startRedis } from "../servers/index.js";
import { flood, type Rig, startRig } from "./rig.js";

let rig: Rig;
const closing: Parameters<After>[0][] = [];
beforeAll(async () => {
  rig = await startRig({ after: (close) => void closing.unshift(close) });
  await flood(rig, "203.0.113.50", { "user-agent": "a long name ".repeat(30) });
  await flood(rig, "2001:db8:1:2::7", { "user-agent": "curl/8" });
  await rig.ask("PUT", "/v1/lists/blocklist/2001:db8:ffff:eeee:dddd:cccc:bbbb:aaaa", {
    why: "x".repeat(900),
  });
  await rig.ask("POST", "/v1/tokens", { name: "somebody with a name of forty characters", role: "admin" });
  await rig.ask("PUT", "/v1/customers/acme/tier", { tier: "pro" });
  await rig.ask("PUT", "/v1/customers/acme/limits", { limits: { "60": 100 } });
});
afterAll(async () => {
  for (const close of closing) await close();
});

/** Where each page is, and what stands there once it is complete. */
const places: readonly (readonly [place: string, heading: string, complete: string])[] = [
  ["#/overview", "Overview", "203.0.113.50"],
  ["#/lists/blocklist", "Lists", "2001:db8:ffff:eeee:dddd:cccc:bbbb:aaaa"],
  ["#/clients?find=203.0.113.50", "Clients", "Refused."],
  ["#/clients?find=203.0.113.0%2F24", "Clients", "203.0.113.50"],
  [`#/clients?find=${"0".repeat(64)}`, "Clients", "Nobody is held under it."],
  ["#/lists/blocklist?address=203.0.113.0%2F24", "Lists", "1 client seen lately would be refused."],
  ["#/customers?id=acme", "Customers", "Allowed."],
  ["#/edges", "Edges", "Time to enforce"],
  ["#/policy", "Policy", "Versions, newest first"],
  ["#/playground", "Playground", "Let in by EARRRL"],
  ["#/audit", "Audit", "own limits set"],
  ["#/tokens", "Tokens", "somebody with a name of forty characters"],
];

async function opened(place: readonly string[], options: Parameters<Rig["open"]>[1]): Promise<Page> {
  const [hash = "", heading = "", complete = ""] = place;
  const page = await rig.open(hash, options);
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  await page
    .getByText(complete)
    .or(page.getByRole("region", { name: complete }))
    .first()
    .waitFor();
  return page;
}

/** What axe finds wrong, one line each. */
async function faults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
  }>("axe.run(document)");
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** How much wider than the window the page is. */
function tooWide(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}

/** To be looked at by people, whatever the tests say. */
async function keepPicture(page: Page, place: readonly string[], how: string): Promise<void> {
  const name = place[0]?.replace(/\W+/g, " ").trim().replaceAll(" ", "-").slice(0, 60);
  await page.screenshot({ path: `test-artefacts/dashboard/${name}-${how}.png`, fullPage: true });
}

describe.each(places)("%s", (...place) => {
  it("is free of faults axe can find, wide and light, narrow and dark, and never wider than the window", async () => {
    const wide = await opened(place, { width: 1440 });
    await keepPicture(wide, place, "wide-light");
    expect(await faults(wide)).toEqual([]);
    expect(await tooWide(wide)).toBe(0);
    const narrow = await opened(place, { width: 360, isDark: true });
    await keepPicture(narrow, place, "narrow-dark");
    expect(await tooWide(narrow)).toBe(0);
    expect(await faults(narrow)).toEqual([]);
  });
});

it("the way in is free of faults axe can find, and no wider than a narrow window", async () => {
  const page = await rig.open("", { isOut: true, width: 360 });
  await page.getByLabel("Token").waitFor();
  expect(await faults(page)).toEqual([]);
  expect(await tooWide(page)).toBe(0);
});

it("every page is reached by keyboard alone, and its content by the first key", async () => {
  const page = await rig.open("#/overview");
  await page.locator("body").press("Tab");
  expect(await page.evaluate("document.activeElement?.textContent")).toBe("Skip to the page");
  await page.keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement?.id")).toBe("main");
  for (const [, title] of places) {
    const link = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: title });
    await link.focus();
    const outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
    expect([title, outline]).toEqual([title, "solid"]);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    await vi.waitFor(async () => expect(await page.title()).toBe(`${title} · Tidegate`), 10_000);
  }
});

describe("when something is wrong", () => {
  it("a lost connection is said, and forgotten when the server is back; what was on the page stays", async () => {
    const own = await startRig();
    const page = await own.open("#/lists");
    await own.ask("PUT", "/v1/lists/blocklist/203.0.113.7", { why: "still here" });
    await page.getByText("still here").waitFor();
    const lost = page.getByText("Connection lost, retrying.");
    await own.stop();
    await lost.waitFor();
    await page.getByText("still here").waitFor();
    await own.start();
    await lost.waitFor({ state: "detached" });
    await own.ask("PUT", "/v1/lists/blocklist/203.0.113.8", { why: "and goes on" });
    await page.getByText("and goes on").waitFor();
  });

  it("a store that can not be reached can not be missed", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const own = await startRig({ store: redis.url });
    const page = await own.open("#/overview");
    await page.getByText("redis", { exact: true }).waitFor();
    await redis.stop();
    const banner = page.getByText("The store is degraded.");
    await expect
      .poll(
        async () => {
          await own.visit("203.0.113.7");
          return banner.isVisible();
        },
        { timeout: 30_000, interval: 300 },
      )
      .toBe(true);
  });
});

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { After } from "../server/running.js";
import { flood, type Rig, startRig, token } from "./rig.js";

const src = fileURLToPath(new URL("../../packages/dashboard/src", import.meta.url));

/** Would each say so in `window.ran` if anything of it were taken for more than text. */
const attacks = (field: string): string[] => [
  `<img src=x onerror="window.ran='${field}'">`,
  `"><script>window.ran='${field}'</script>`,
  `javascript:window.ran='${field}'`,
];

/** Turns the rest of a line around, and hides. */
const bidi = "\u202e\u200b";

let rig: Rig;
let decision = "";
const closing: Parameters<After>[0][] = [];
const address = "203.0.113.66";

/** Everything a client, or somebody who may only write lists, can set. */
beforeAll(async () => {
  rig = await startRig({ after: (close) => void closing.unshift(close) });
  for (const [i, agent] of attacks("userAgent").entries())
    await flood(rig, `203.0.113.${i + 1}`, { "user-agent": agent });
  for (const text of attacks("identity"))
    await rig.visit("203.0.113.9", { "x-user": text, "x-customer": text, "x-account": text });
  await flood(rig, address);
  const [text = ""] = attacks("agent");
  const refused = await rig.visit(
    address,
    { "user-agent": text, "x-user": text, "x-customer": text, host: "<b>x</b>" },
    "/<img/src=x/onerror=window.ran='path'>",
  );
  decision = refused.id;
  for (const [i, why] of attacks("why").entries())
    await rig.ask("PUT", `/v1/lists/blocklist/198.51.100.${i}`, { why: `${why}${bidi}` });
  await rig.ask("POST", "/v1/edges/cdn/mode", { mode: "shadow", why: attacks("edge why")[0] });
  for (const id of attacks("customer"))
    await rig.ask("PUT", `/v1/customers/${encodeURIComponent(id)}/tier`, { tier: "pro" });
  const { version } = await rig.ask<{ version: { text: string } }>("GET", "/v1/policy");
  await rig.ask("POST", "/v1/policy", {
    text: `${version.text.replace("name: api,", `name: ${JSON.stringify(attacks("rule")[0])},`)}# ${attacks("policy")[1]}\n`,
    why: attacks("policy why")[0],
  });
  await flood(rig, "203.0.113.67", { "x-customer": "anybody" });
  await rig.ask("PUT", `/v1/policy/rules/${encodeURIComponent(attacks("rule")[0] as string)}/mode`, {
    mode: "shadow",
    why: attacks("rule why")[0],
  });
  await fetch(`${rig.admin}/v1/tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "tidegate-who": "<img src=x onerror=window.ran='made by'>" },
    body: JSON.stringify({ name: "somebody", role: "viewer" }),
  });
});
afterAll(async () => {
  for (const close of closing) await close();
});

async function expectTextOnly(page: Page): Promise<void> {
  expect(await page.evaluate("window.ran")).toBeUndefined();
  expect(await page.locator("main img, main script, main b, main iframe").count()).toBe(0);
  const links = await page.evaluate<string[]>("[...document.links].map(({ protocol }) => protocol)");
  expect([...new Set(links)]).toEqual(["http:"]);
}

const hostileCustomer = encodeURIComponent(attacks("customer")[0] as string);

describe("what others wrote is text, and runs nowhere", () => {
  it.each<[place: string, shown: string]>([
    ["#/overview", "userAgent"],
    ["#/lists/blocklist", "window.ran='why'"],
    ["#/audit", "window.ran='why'"],
    ["#/edges", "window.ran='edge why'"],
    ["#/policy", "window.ran='policy why'"],
    [`#/customers?id=${hostileCustomer}`, "window.ran='customer'"],
    [`#/clients?find=${encodeURIComponent(`customer:${attacks("search")[0]}`)}`, "window.ran='search'"],
    ["#/clients?find=203.0.113.1", "window.ran='rule'"],
    ["#/clients?find=203.0.113.0%2F24", "window.ran='userAgent'"],
    ["#/lists/blocklist?address=203.0.113.0%2F24", "window.ran='userAgent'"],
    ["#/lists/blocklist?address=198.51.100.0", "window.ran='why'"],
    [`#/lists/blocklist?address=${encodeURIComponent("<img/src=x/onerror=window.ran='typed'>")}`, "'typed'"],
    [`#/clients?find=${encodeURIComponent(`<img/src=x/onerror=window.ran='block'>.0/24`)}`, "'block'"],
    ["#/tokens", "window.ran='made by'"],
  ])("%s", async (place, shown) => {
    const page = await rig.open(place);
    await page.getByText(shown).first().waitFor();
    await expectTextOnly(page);
  });

  it("of a refused request: user agent, path and identities", async () => {
    const page = await rig.open(`#/clients?find=${encodeURIComponent(decision)}`);
    await page.getByRole("heading", { name: "The refused request" }).waitFor();
    for (const field of ["path", "agent"]) await page.getByText(`window.ran='${field}'`).first().waitFor();
    await expectTextOnly(page);
  });

  it("of what somebody else changed meanwhile: who, why, before and after", async () => {
    const page = await rig.open("#/policy");
    const rules = page.getByRole("region", { name: "Rules" });
    await rules.getByText("window.ran='rule'").first().waitFor();
    const row = rules.getByRole("row").filter({ hasText: "window.ran='rule'" });
    await row.getByRole("button", { name: "Switch off" }).click();
    await page.route("**/v1/policy/rules", (route) => route.abort());
    await rig.ask("PUT", "/v1/policy/rules/req%2Fip/mode", { mode: "off", why: attacks("late")[0] });
    await row.getByRole("button", { name: "Yes, switch off" }).click();
    await page.getByRole("alert").getByText("window.ran='late'").waitFor();
    await expectTextOnly(page);
  });

  it("characters that hide or turn a line around are made visible", async () => {
    const page = await rig.open("#/lists/blocklist");
    await page.getByText("\\u202e\\u200b").first().waitFor();
    expect(await page.locator("main").textContent()).not.toContain(bidi);
  });

  it("a link that would sign in with markup, or lead elsewhere, does nothing", async () => {
    const page = await rig.open(`#login=<img src=x onerror=window.ran=1>`, { isOut: true });
    await page.getByLabel("Token").waitFor();
    expect(await page.evaluate("window.ran")).toBeUndefined();
  });
});

/** Run by the page itself; answers which rules of its policy stood in the way. */
const attempts = `(async () => {
  const refused = new Set();
  addEventListener("securitypolicyviolation", ({ effectiveDirective }) => refused.add(effectiveDirective));
  const box = document.createElement("div");
  box.innerHTML = '<img src=x onerror="window.ran=1"><iframe src="https://example.com"></iframe>';
  document.body.append(box);
  const script = document.createElement("script");
  script.textContent = "window.ran=2";
  document.body.append(script);
  await fetch("https://example.com/").catch(() => {});
  while (refused.size < 4) await new Promise((resolve) => setTimeout(resolve, 20));
  return [...refused].sort();
})()`;

describe("should a text ever be taken for HTML all the same", () => {
  it("the page's content policy lets no script in it run, and no other host be asked", async () => {
    const page = await rig.open("#/overview");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const refused = await page.evaluate<string[]>(attempts);
    expect(refused).toEqual(["connect-src", "frame-src", "script-src-attr", "script-src-elem"]);
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect([...rig.asked]).toEqual([rig.admin]);
  });

  it("no source makes HTML of a text, or code of one", () => {
    const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) =>
      /\.tsx?$/.test(file),
    );
    expect(files.length).toBeGreaterThan(20);
    const found = files.filter((file) =>
      /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc/.test(
        readFileSync(join(src, file), "utf8"),
      ),
    );
    expect(found).toEqual([]);
  });
});

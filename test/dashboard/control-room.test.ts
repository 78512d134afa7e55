import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { After } from "../server/running.js";
import { startRedis } from "../servers/index.js";
import { flood, type Rig, startRig } from "./rig.js";

let rig: Rig;
const closing: Parameters<After>[0][] = [];
const policy = `rules:
  - { name: req/ip, by: ip, limits: [20 per minute], hold: { after: 3, for: [10m] }, edges: true } # everybody
  - { name: api, by: customer, limits: tier }
  # who rotates addresses
  - name: browsers
    only: /fingerprinted
    by: standard
    limits: [2 per hour]
tiers: { free: [10 per hour], pro: [100 per hour] }
defaultTier: free
`;
beforeAll(async () => {
  rig = await startRig({ policy, after: (close) => void closing.unshift(close) });
});
afterAll(async () => {
  for (const close of closing) await close();
});

const editor = "Addresses or blocks, one a line";

describe("lists", () => {
  it("whom an entry would hit is shown while one types, as clients come; then it hits them, and nobody else", async () => {
    const page = await rig.open("#/lists/blocklist");
    for (const ip of ["203.0.113.21", "203.0.113.22"]) await rig.visit(ip);
    await rig.visit("203.0.114.23");
    await page.getByLabel(editor).fill("203.0.113.16/28");
    const preview = page.getByRole("region", { name: "Before it is added" });
    await preview.getByText("2 clients seen lately would be refused.").waitFor();
    const row = preview.getByRole("row").filter({ hasText: "203.0.113.21" });
    await row.getByText("passes").waitFor();
    await page.getByLabel(editor).fill("203.0.113.16/28\n127.0.0.1\n0.0.0.0/0\nnonsense");
    await preview.getByText("127.0.0.1 names the address you are calling from.").waitFor();
    await preview.getByText(/everyone can be on no list/).waitFor();
    await preview.getByText("nonsense: This is not an address or a block.").waitFor();
    expect((await rig.ask<{ entries: unknown[] }>("GET", "/v1/lists/blocklist")).entries).toEqual([]);
    await page.getByLabel(editor).fill("203.0.113.16/28");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("203.0.113.16/28 is on the blocklist.").waitFor();
    const statuses = [];
    for (const ip of ["203.0.113.21", "203.0.113.22", "203.0.114.23"])
      statuses.push((await rig.visit(ip)).status);
    expect(statuses).toEqual([403, 403, 200]);
  });

  it("an entry somebody else made meanwhile is shown with who and why, and replaced only when that is meant", async () => {
    const page = await rig.open("#/lists/blocklist");
    await page.getByRole("heading", { name: "On the blocklist" }).waitFor();
    await rig.ask("PUT", "/v1/lists/blocklist/198.51.100.30", { for: "1h", why: "theirs" });
    await page.getByLabel(editor).fill("198.51.100.30");
    await page
      .getByRole("region", { name: "Before it is added" })
      .getByText(/is there already, by ann/)
      .waitFor();
    await page.getByLabel("Why", { exact: true }).fill("mine");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const note = page.getByRole("alert").filter({ hasText: "was not added" });
    await note.getByText("theirs").waitFor();
    const why = async () =>
      (await rig.ask<{ entry: { why: string } }>("GET", "/v1/lists/blocklist/198.51.100.30")).entry.why;
    expect(await why()).toBe("theirs");
    await note.getByRole("button", { name: "Replace" }).click();
    await page.getByText("198.51.100.30 is on the blocklist.").waitFor();
    expect(await why()).toBe("mine");
    expect((await rig.visit("198.51.100.30")).status).toBe(403);
  });
});

describe("clients", () => {
  it("those of a block appear as they come, with a way to put all of it on a list", async () => {
    const page = await rig.open(`#/clients?find=${encodeURIComponent("203.0.115.0/24")}`);
    await page.getByText("Nobody there is known by name.").waitFor();
    await rig.visit("203.0.115.9");
    const clients = page.getByRole("region", { name: "Clients" });
    await clients.getByRole("link", { name: "203.0.115.9" }).waitFor();
    await page.getByRole("link", { name: "blocklist" }).click();
    await page
      .getByRole("region", { name: "Before it is added" })
      .getByText("1 client seen lately would be refused.")
      .waitFor();
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("203.0.115.0/24 is on the blocklist.").waitFor();
    expect((await rig.visit("203.0.115.200")).status).toBe(403);
  });

  it("one is found by the fingerprint a rule counted it under, and blocked from its page", async () => {
    const visit = () => rig.visit("203.0.116.5", { "user-agent": "same/1" }, "/fingerprinted");
    let refused = await visit();
    for (let i = 0; i < 5 && refused.status === 200; i++) refused = await visit();
    const { decision } = await rig.ask<{ decision: { verdicts: { rule: string; key: string }[] } }>(
      "GET",
      `/v1/decisions/${refused.id}`,
    );
    const digest = decision.verdicts.find(({ rule }) => rule === "browsers")?.key ?? "";
    const page = await rig.open("#/clients");
    await page.getByLabel("Find a client").fill(digest);
    await page.keyboard.press("Enter");
    const clients = page.getByRole("region", { name: "Clients" });
    await clients.getByText("same/1").waitFor();
    await clients.getByRole("link", { name: "203.0.116.5" }).click();
    await page.getByRole("button", { name: "Block" }).click();
    await page.getByText("203.0.116.5 is on the blocklist.").waitFor();
    expect((await rig.visit("203.0.116.5")).status).toBe(403);
  });

  it("one's rate is plotted against the limit it is nearest to, until it is cleared", async () => {
    const page = await rig.open("#/clients?find=203.0.113.75");
    await flood(rig, "203.0.113.75");
    await page.locator("figure .chart canvas").waitFor();
    await page.getByText(/requests in the last 1 min, [1-9]\d* of them refused/).waitFor();
    await page.getByText(/req\/ip allows 20 in 1 min/).waitFor();
    await page.getByRole("button", { name: "Clear everywhere" }).click();
    await page.getByText(/^Forgotten under/).waitFor();
    expect((await rig.visit("203.0.113.75")).status).toBe(200);
  });
});

describe("the policy", () => {
  const text = async () => (await rig.ask<{ version: { text: string } }>("GET", "/v1/policy")).version.text;

  it("a rule switched elsewhere appears; one switched off here refuses nobody from the next request on, and that is undone", async () => {
    const before = await text();
    const page = await rig.open("#/policy");
    const rules = page.getByRole("region", { name: "Rules" });
    const row = (name: string) => rules.getByRole("row").filter({ hasText: name });
    await row("req/ip").getByText("enforce", { exact: true }).waitFor();
    await rig.ask("PUT", "/v1/policy/rules/api/mode", { mode: "shadow", why: "elsewhere" });
    await row("api").getByText("shadow", { exact: true }).waitFor();
    await flood(rig, "203.0.113.97");
    expect((await rig.visit("203.0.113.97")).status).toBe(429);
    await page.getByLabel("Why a rule is switched").fill("customers complain");
    await row("req/ip").getByRole("button", { name: "Switch off" }).click();
    expect((await rig.visit("203.0.113.97")).status).toBe(429);
    await row("req/ip").getByRole("button", { name: "Yes, switch off" }).click();
    await page.getByText(/^req\/ip is set to off: version \d+ is in force\./).waitFor();
    expect((await rig.visit("203.0.113.97")).status).toBe(200);
    expect(await text()).toBe(
      before
        .replace("name: req/ip,", "name: req/ip, mode: off,")
        .replace("name: api,", "name: api, mode: shadow,"),
    );
    await page.getByRole("cell", { name: "rule req/ip: off (customers complain)" }).first().waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Undone.").waitFor();
    expect((await rig.visit("203.0.113.97")).status).toBe(429);
    await row("req/ip").getByText("enforce", { exact: true }).waitFor();
  });

  it("of two who switch at once the second changes nothing, and is told who was first with what", async () => {
    const page = await rig.open("#/policy");
    const row = page.getByRole("region", { name: "Rules" }).getByRole("row").filter({ hasText: "browsers" });
    await row.getByRole("button", { name: "Switch off" }).click();
    await page.route("**/v1/policy/rules", (route) => route.abort()); // it sees nothing newer
    await rig.ask("PUT", "/v1/policy/rules/browsers/mode", { mode: "shadow", why: "faster" });
    await row.getByRole("button", { name: "Yes, switch off" }).click();
    const late = page.getByRole("alert").filter({ hasText: "TG_CHANGED" });
    await late.getByText(/changed it/).waitFor();
    await late.getByText(/rule browsers: shadow \(faster\)/).waitFor();
    const { rules } = await rig.ask<{ rules: { name: string; mode: string }[] }>("GET", "/v1/policy/rules");
    expect(rules.find(({ name }) => name === "browsers")?.mode).toBe("shadow");
  });

  it("is not rolled back over a version one has not seen", async () => {
    const page = await rig.open("#/policy");
    await page.getByRole("button", { name: "Roll back to version 1", exact: true }).waitFor();
    await page.route(/\/v1\/policy$/, (route) => route.abort());
    await rig.ask("POST", "/v1/policy", { text: `${await text()}# unseen\n` });
    await page.getByRole("button", { name: "Roll back to version 1", exact: true }).click();
    await page
      .getByRole("alert")
      .filter({ hasText: "TG_CHANGED" })
      .getByText(/changed it/)
      .waitFor();
    expect(await text()).toContain("# unseen");
    await page.unroute(/\/v1\/policy$/);
    await page.reload();
    await page.getByRole("button", { name: "Roll back to version 1", exact: true }).click();
    await page.getByText(/with the text of 1\./).waitFor();
    expect(await text()).not.toContain("# unseen");
  });
});

describe("customers", () => {
  it("a tier somebody else set meanwhile is not overwritten unseen, and who it was is told", async () => {
    const page = await rig.open("#/customers?id=twice");
    await page.getByText("Nothing is on record").waitFor();
    await page.route("**/v1/customers/twice", (route) => route.abort());
    await rig.ask("PUT", "/v1/customers/twice/tier", { tier: "pro" });
    await page.getByLabel(/^Own limits/).fill("1 in 3600");
    await page.getByRole("button", { name: "Set the limits" }).click();
    const late = page.getByRole("alert").filter({ hasText: "TG_CHANGED" });
    await late.getByText(/ann changed it/).waitFor();
    expect(await rig.ask("GET", "/v1/customers/twice")).toMatchObject({ tier: "pro", limits: null });
    await page.unroute("**/v1/customers/twice");
    await page.getByText("Tier: pro").waitFor();
    await page.getByLabel(/^Own limits/).fill("1 in 3600");
    await page.getByRole("button", { name: "Set the limits" }).click();
    await page.getByText("1 in 3600 s").waitFor();
    const visit = async () => (await rig.visit("203.0.113.98", { "x-customer": "twice" })).status;
    expect([await visit(), await visit()]).toContain(429);
  });
});

describe("tokens", () => {
  it("one made elsewhere appears; one made here is shown once, works, and ends when it is revoked here", async () => {
    const page = await rig.open("#/tokens");
    await rig.ask("POST", "/v1/tokens", { name: "made elsewhere", role: "viewer" });
    const tokens = page.getByRole("region", { name: "Tokens" });
    await tokens.getByRole("cell", { name: "made elsewhere", exact: true }).waitFor();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByLabel("Name").fill("made here");
    await page.getByLabel("Role").selectOption("operator");
    await page.getByLabel("For").selectOption("12h");
    await page.getByRole("button", { name: "Create" }).click();
    const fresh = page.getByRole("region", { name: "The new token" });
    const secret = await fresh.getByLabel("Token").inputValue();
    await fresh.getByRole("button", { name: "Copy" }).click();
    await fresh.getByText("Copied.").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(secret);
    const put = (address: string) =>
      fetch(`${rig.admin}/v1/lists/blocklist/${address}`, {
        method: "PUT",
        headers: { authorization: `Bearer ${secret}` },
        body: "{}",
      });
    expect((await put("198.51.100.60")).status).toBe(201);
    expect((await rig.visit("198.51.100.60")).status).toBe(403);
    const row = tokens.getByRole("row").filter({ hasText: "made here" });
    await row.getByText(/^11 h/).waitFor();
    await page.reload();
    await row.getByRole("button", { name: "Revoke made here" }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await row.getByRole("button", { name: "Revoke made here" }).click();
    await row.getByRole("button", { name: "Yes, revoke made here" }).click();
    await page.getByText("made here is revoked.").waitFor();
    expect((await put("198.51.100.61")).status).toBe(401);
    expect((await rig.visit("198.51.100.61")).status).toBe(200);
  });

  it("a name that can not be is told why", async () => {
    const page = await rig.open("#/tokens");
    await page.getByLabel("Name").fill("<img src=x onerror=window.ran=1>");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("alert").filter({ hasText: "TG_REQUEST" }).waitFor();
    expect(await page.evaluate("window.ran")).toBeUndefined();
  });

  it.each(["viewer", "operator"] as const)("are nothing for whoever is %s", async (role) => {
    const page = await rig.open("#/tokens", { role });
    await page.getByText(`You are signed in as ${role}; this needs an admin.`).waitFor();
    expect(await page.getByRole("button", { name: "Create" }).count()).toBe(0);
  });
});

it("every act is done by keyboard alone: what is asked first has the focus", async () => {
  const page = await rig.open("#/tokens");
  await rig.ask("POST", "/v1/tokens", { name: "by keyboard", role: "viewer" });
  await page.getByRole("button", { name: "Revoke by keyboard" }).focus();
  await page.keyboard.press("Enter");
  const yes = page.getByRole("button", { name: "Yes, revoke by keyboard" });
  await yes.waitFor();
  await expect
    .poll(() => page.evaluate("document.activeElement?.textContent"), { timeout: 10_000 })
    .toContain("Yes");
  await yes.press("Enter");
  await page.getByText("by keyboard is revoked.").waitFor();
});

it("on Redis too: what is previewed, switched and changed meanwhile is so at the proxy, and after a restart", async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const own = await startRig({ policy, store: redis.url });
  await flood(own, "203.0.113.31");
  const page = await own.open("#/policy");
  const row = page.getByRole("region", { name: "Rules" }).getByRole("row").filter({ hasText: "req/ip" });
  await row.getByRole("button", { name: "Switch off" }).click();
  await row.getByRole("button", { name: "Yes, switch off" }).click();
  await page.getByText(/^req\/ip is set to off/).waitFor();
  expect((await own.visit("203.0.113.31")).status).toBe(200);
  await page.evaluate("location.hash = '#/lists/blocklist'");
  await page.getByLabel(editor).fill("203.0.113.31");
  const preview = page.getByRole("region", { name: "Before it is added" });
  await preview.getByText("1 client seen lately would be refused.").waitFor();
  await preview.getByText("passes").waitFor();
  await own.ask("PUT", "/v1/lists/blocklist/203.0.113.31", { for: "1h", why: "theirs" });
  await preview.getByText(/is there already, by ann/).waitFor();
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("button", { name: "Replace" }).click();
  await page.getByText("203.0.113.31 is on the blocklist.").waitFor();
  await own.stop();
  await own.start();
  expect((await own.visit("203.0.113.31")).status).toBe(403);
  const { rules } = await own.ask<{ rules: unknown[] }>("GET", "/v1/policy/rules");
  expect(rules[0]).toEqual({ name: "req/ip", mode: "off" });
});

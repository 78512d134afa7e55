import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { After } from "../server/running.js";
import { startRedis } from "../servers/index.js";
import { flood, type Rig, startRig, token } from "./rig.js";

const stores = {
  "the embedded default": async () => "memory",
  async Redis(after: After) {
    const redis = await startRedis();
    after(() => redis.stop());
    return `redis://127.0.0.1:${redis.port}`;
  },
};

describe.each(Object.entries(stores))("on %s", (_, openStore) => {
  let rig: Rig;
  const closing: Parameters<After>[0][] = [];
  const after: After = (close) => void closing.unshift(close);
  beforeAll(async () => {
    rig = await startRig({ store: await openStore(after), after });
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });

  /** An act on a page holds at the proxy within a second, counted in turns of 50 ms. */
  async function sees(status: number, ip: string): Promise<void> {
    let seen = 0;
    for (let turn = 0; turn < 20 && seen !== status; turn++) {
      if (turn > 0) await sleep(50);
      seen = (await rig.visit(ip)).status;
    }
    expect(seen).toBe(status);
  }

  describe("signing in", () => {
    it("takes a token, tells when it is wrong, lasts over a reload and ends by signing out", async () => {
      const page = await rig.open("", { isOut: true });
      await page.getByLabel("Token").fill("not-the-token");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").filter({ hasText: "TG_ADMIN_TOKEN" }).waitFor();
      await page.getByLabel("Token").fill(token);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await page.reload();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("Token").waitFor();
      await page.reload();
      await page.getByLabel("Token").waitFor();
    });

    it("takes a one-time code once, and leaves it out of the address", async () => {
      const { code } = await rig.ask<{ code: string }>("POST", "/v1/login-codes", {});
      const page = await rig.open(`#login=${code}`, { isOut: true });
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      expect(page.url()).not.toContain(code);
      const other = await rig.open(`#login=${code}`, { isOut: true });
      await other.getByRole("alert").filter({ hasText: "TG_" }).waitFor();
      expect(await other.getByRole("button", { name: "Sign out" }).count()).toBe(0);
    });

    it("as a viewer shows everything and lets nothing be changed, and says why", async () => {
      await rig.ask("PUT", "/v1/lists/blocklist/198.51.100.200", { why: "seen by viewers" });
      const page = await rig.open("#/lists", { role: "viewer" });
      await page.getByRole("cell", { name: "seen by viewers" }).waitFor();
      await page.getByText("You are signed in as viewer; this needs an operator.").waitFor();
      const remove = page.getByRole("button", { name: "Remove 198.51.100.200" });
      expect(await remove.isDisabled()).toBe(true);
      expect(await remove.getAttribute("title")).toContain("operator");
      expect(await page.getByRole("button", { name: "Add", exact: true }).isDisabled()).toBe(true);
    });
  });

  describe("the overview", () => {
    it("shows traffic as it comes: by rule, by client, who is held, and the edge that has it", async () => {
      const page = await rig.open("#/overview");
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await flood(rig, "203.0.113.50", { "user-agent": "flooder/1" });
      const busiest = page.getByRole("region", { name: "Busiest clients" });
      await busiest.getByRole("link", { name: "203.0.113.50" }).waitFor();
      await page.getByRole("region", { name: "By rule" }).getByRole("cell", { name: "req/ip" }).waitFor();
      const held = page.getByRole("region", { name: "Held now" });
      await held.getByRole("link", { name: "203.0.113.50" }).waitFor();
      await held.getByText("here and at cdn").first().waitFor();
      await page.getByRole("region", { name: "Edges", exact: true }).getByText("in step").waitFor();
      await page.locator(".chart canvas").first().waitFor();
      await held.getByRole("link", { name: "203.0.113.50" }).click();
      await page.getByRole("heading", { name: "Clients" }).waitFor();
      await page.getByText("Refused.", { exact: true }).waitFor();
    });
  });

  describe("lists", () => {
    it("an entry made elsewhere appears; one made here holds at the proxy, and can be undone", async () => {
      const page = await rig.open("#/lists");
      await rig.ask("PUT", "/v1/lists/blocklist/198.51.100.7", { for: "1h", why: "made elsewhere" });
      const row = page.getByRole("row").filter({ hasText: "198.51.100.7" });
      await row.getByText("made elsewhere").waitFor();
      await row.getByText(/^59 min/).waitFor();

      expect((await rig.visit("203.0.113.60")).status).toBe(200);
      await page.getByLabel("Addresses or blocks, one a line").fill("203.0.113.60");
      await page.getByLabel("Why").fill("asked too much");
      await page.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByText("203.0.113.60 is on the blocklist.").waitFor();
      await sees(403, "203.0.113.60");
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
      await sees(200, "203.0.113.60");
    });

    it("many are added at once; what a guard stops is added only when it is meant", async () => {
      const page = await rig.open("#/lists/blocklist");
      await page
        .getByLabel("Addresses or blocks, one a line")
        .fill("203.0.113.61\n203.0.113.62, 203.0.114.0/24\n10.0.0.0/7\nnonsense");
      await page.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByText("3 entries are on the blocklist.").waitFor();
      await page.getByText("Not added: 10.0.0.0/7 names a good part of the Internet.").waitFor();
      await page.getByText("Not added: nonsense").waitFor();
      await sees(403, "203.0.114.200");
      expect((await rig.visit("10.1.2.3")).status).toBe(200);
      await page.getByRole("button", { name: "Add anyway" }).click();
      await page.getByText("10.0.0.0/7 is on the blocklist.").waitFor();
      await sees(403, "10.1.2.3");
      await page.getByRole("button", { name: "Remove 10.0.0.0/7" }).click();
      await page.getByText("10.0.0.0/7 is off the blocklist.").waitFor();
      await sees(200, "10.1.2.3");
    });

    it("an end is moved; an entry somebody else changed meanwhile is not overwritten", async () => {
      await rig.ask("PUT", "/v1/lists/safelist/198.51.100.9", { for: "1h", why: "first" });
      const page = await rig.open("#/lists/safelist");
      const row = page.getByRole("row").filter({ hasText: "198.51.100.9" });
      await row.getByRole("button", { name: "Extend" }).click();
      await row.getByLabel("From now on for").selectOption("30d");
      await row.getByRole("button", { name: "Set" }).click();
      await row.getByText(/^29 d|^30 d/).waitFor();
      await page.route("**/v1/lists/safelist?*", (route) => route.abort()); // it sees nothing newer
      await page.route("**/v1/events", (route) => route.abort());
      await rig.ask("PUT", "/v1/lists/safelist/198.51.100.9", { for: "1d", why: "second" });
      await row.getByRole("button", { name: "Remove" }).click();
      await page.getByRole("alert").filter({ hasText: "TG_CHANGED" }).waitFor();
      expect((await rig.ask<{ entries: unknown[] }>("GET", "/v1/lists/safelist")).entries).toMatchObject([
        { address: "198.51.100.9", why: "second" },
      ]);
    });

    it("a long one is shown whole, a hundred a page", async () => {
      for (let i = 0; i < 110; i++) await rig.ask("PUT", `/v1/lists/safelist/198.51.100.${i}`, {});
      const page = await rig.open("#/lists/safelist");
      const rows = page.getByRole("region", { name: "On the safelist" }).locator("tbody tr");
      await rows.nth(99).waitFor();
      expect(await rows.count()).toBe(100);
      await page.getByRole("button", { name: "Next page" }).click();
      await page.getByRole("button", { name: "Page before" }).waitFor();
      expect(await rows.count()).toBe(10);
      await page.getByRole("button", { name: "Page before" }).click();
      await rows.nth(99).waitFor();
    });
  });

  describe("clients", () => {
    it("one is found by the decision it quotes, told why in words, and cleared", async () => {
      const { id } = await flood(rig, "203.0.113.70", { "user-agent": "quoting/1" });
      const page = await rig.open("#/clients");
      await page.getByLabel("Find a client").fill(id);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "The refused request" }).waitFor();
      await page.getByText("quoting/1").first().waitFor();
      await page.getByText("Refused.", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Clear everywhere" }).click();
      await page.getByText(/^Forgotten under/).waitFor();
      expect((await rig.visit("203.0.113.70")).status).toBe(200);
    });

    it("one found by address is put on a list from there", async () => {
      await rig.visit("203.0.113.71");
      const page = await rig.open("#/clients?find=203.0.113.71");
      await page.getByText("Allowed.", { exact: true }).waitFor();
      await page.getByRole("cell", { name: "19 of 20", exact: true }).waitFor();
      await page.getByLabel("Why").fill("from its page");
      await page.getByRole("button", { name: "Block" }).click();
      await page.getByText("203.0.113.71 is on the blocklist.").waitFor();
      await sees(403, "203.0.113.71");
      await page.getByText("Refused.", { exact: true }).waitFor();
    });
  });

  describe("customers", () => {
    it("a tier set elsewhere appears; limits set here hold at the proxy", async () => {
      const page = await rig.open("#/customers?id=acme");
      await page.getByText("Nothing is on record").waitFor();
      await rig.ask("PUT", "/v1/customers/acme/tier", { tier: "pro" });
      await page.getByText("Tier: pro").waitFor();
      const visit = () => rig.visit("203.0.113.80", { "x-customer": "acme" });
      expect((await visit()).status).toBe(200);
      await page.getByLabel(/^Own limits/).fill("1 in 3600");
      await page.getByRole("button", { name: "Set the limits" }).click();
      await page.getByText("1 in 3600 s").waitFor();
      const answers = [(await visit()).status, (await visit()).status];
      expect(answers).toContain(429);
    });
  });

  describe("edges", () => {
    it("a mode set elsewhere appears with its reason; one set here is set, and a sync is shown first", async () => {
      const page = await rig.open("#/edges");
      await rig.ask("POST", "/v1/edges/cdn/mode", { mode: "shadow", why: "to be sure" });
      const edge = page.getByRole("region", { name: "Edge cdn" });
      await edge.getByText("to be sure").waitFor();
      await edge.getByLabel("Why cdn is set").fill("enough seen");
      await edge.getByRole("button", { name: "off" }).click();
      await page.getByText("cdn is set to off.").waitFor();
      const { edges } = await rig.ask<{ edges: unknown[] }>("GET", "/v1/edges");
      expect(edges).toMatchObject([{ mode: "off", setBy: { why: "enough seen" } }]);
      await edge.getByRole("button", { name: "What would a sync do?" }).click();
      await edge.getByText(/^It would put/).waitFor();
      await edge.getByRole("button", { name: "Sync now" }).click();
      await page.getByText(/^cdn was set right/).waitFor();
      await edge.getByRole("button", { name: "on cdn" }).click();
      await page.getByText("cdn is set to on.").waitFor();
    });
  });

  describe("the audit", () => {
    it("a change made elsewhere appears, is found by a filter, and is undone from there", async () => {
      const page = await rig.open("#/audit");
      await rig.ask("PUT", "/v1/lists/blocklist/203.0.113.90", { why: "to be undone" });
      await page.getByRole("cell", { name: "to be undone", exact: true }).waitFor();
      await page.getByLabel("Target").fill("203.0.113.90");
      await expect.poll(() => page.getByRole("row").count()).toBe(2);
      await sees(403, "203.0.113.90");
      await page.getByRole("button", { name: "Undo put on the blocklist 203.0.113.90" }).click();
      await page.getByText("Undone.").waitFor();
      await sees(200, "203.0.113.90");
    });
  });

  describe("the policy", () => {
    it("is checked while one writes, applied with its difference shown, and rolled back", async () => {
      const page = await rig.open("#/policy");
      const editor = page.getByLabel("Policy, as YAML");
      const first = await editor.inputValue();
      await editor.fill(first.replace("20 per hour", "20 per houre"));
      await page.getByText(/^Line 2, column/).waitFor();
      expect(await page.getByRole("button", { name: "Apply" }).isDisabled()).toBe(true);
      await editor.fill(first.replace("20 per hour", "1 per hour"));
      await page.getByText("It can be used.").waitFor();
      await page.getByRole("region", { name: "What would change" }).getByText("1 per hour").first().waitFor();
      await page.getByRole("button", { name: "Apply" }).click();
      await page.getByText(/^Version \d+ is in force\./).waitFor();
      expect((await rig.visit("203.0.113.95")).status).toBe(200);
      expect((await rig.visit("203.0.113.95")).status).toBe(429);
      await page.getByRole("button", { name: "Compare 1 with the one in force" }).click();
      await page.getByRole("region", { name: /^From version 1 to/ }).waitFor();
      await page.getByRole("button", { name: "Roll back to version 1" }).click();
      await page.getByText(/with the text of 1\./).waitFor();
      expect((await rig.visit("203.0.113.96")).status).toBe(200);
      expect((await rig.visit("203.0.113.96")).status).toBe(200);
    });

    it("what somebody else put in force meanwhile is not overwritten", async () => {
      const page = await rig.open("#/policy");
      const editor = page.getByLabel("Policy, as YAML");
      const first = await editor.inputValue();
      await editor.fill(`${first}# mine\n`);
      await rig.ask("POST", "/v1/policy", { text: `${first}# theirs\n` });
      await page.getByText(/came in force while you wrote/).waitFor();
      expect(await editor.inputValue()).toContain("# mine");
      await page.getByText("It can be used.").waitFor();
      expect(await page.getByRole("button", { name: "Apply", exact: true }).count()).toBe(0);
      await page.getByRole("button", { name: /^Apply mine over version/ }).click();
      await page.getByRole("button", { name: "Leave" }).click();
      expect((await rig.ask<{ version: { text: string } }>("GET", "/v1/policy")).version.text).toContain(
        "# theirs",
      );
    });
  });

  it("no page asked any other host for anything", () => {
    expect([...rig.asked]).toEqual([rig.admin]);
  });
});

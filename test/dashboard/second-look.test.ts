import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limitsText, readLimits } from "../../packages/dashboard/src/limits-text.js";
import { lineMerge } from "../../packages/dashboard/src/line-diff.js";
import { type After, startTidegate, temporaryFolder } from "../server/running.js";
import { openWindow, type Rig, startRig } from "./rig.js";

let rig: Rig;
const closing: Parameters<After>[0][] = [];
beforeAll(async () => {
  rig = await startRig({ after: (close) => void closing.unshift(close) });
});
afterAll(async () => {
  for (const close of closing) await close();
});

const policyText = async () =>
  (await rig.ask<{ version: { text: string } }>("GET", "/v1/policy")).version.text;

describe("lists", () => {
  it("of two of which one is a slip, it is said which was added and which was not", async () => {
    const page = await rig.open("#/lists/blocklist");
    await page.getByLabel("Addresses or blocks, one a line").fill("203.0.113.0/24\n127.0.0.1");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("Added to the blocklist: 203.0.113.0/24. The rest was not:").waitFor();
    const stopped = page.getByRole("alert").filter({ hasText: "Not added:" });
    await stopped.getByText("127.0.0.1 names the address you are calling from.").waitFor();
    expect(await page.locator("body").textContent()).not.toContain("Nothing was changed");
    expect((await rig.visit("203.0.113.9")).status).toBe(403);
  });
});

describe("the policy's file", () => {
  it("its settings that wait for a restart are named", async () => {
    const page = await rig.open("#/overview");
    await page.route(/\/v1\/policy$/, async (route) => {
      const answer = (await (await route.fetch()).json()) as { status: { file: object } };
      Object.assign(answer.status.file, { needsRestart: ["admin.token", "trustedProxies"] });
      await route.fulfill({ json: answer });
    });
    await page.getByRole("link", { name: "Policy", exact: true }).click();
    await page.getByText(/in effect from the next start: admin\.token, trustedProxies\./).waitFor();
  });
});

describe("two who edit the policy", () => {
  it("what each changed elsewhere is put together; the difference is to what is in force now", async () => {
    const page = await rig.open("#/policy");
    const editor = page.getByLabel("Policy, as YAML");
    const first = await editor.inputValue();
    await editor.fill(first.replace("20 per hour", "25 per hour"));
    await rig.ask("POST", "/v1/policy", { text: `${first}# theirs\n` });
    await page.getByText(/by ann, came in force while you wrote on/).waitFor();
    const diff = page.getByRole("region", { name: "What would change" });
    await diff.getByText("− # theirs").waitFor();
    await page.getByRole("button", { name: "Put my changes on top of theirs" }).click();
    await diff.getByText("− # theirs").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Apply", exact: true }).click();
    await page.getByText(/^Version \d+ is in force\./).waitFor();
    expect(await policyText()).toBe(`${first.replace("20 per hour", "25 per hour")}# theirs\n`);
  });

  it("one text goes over the other only after a yes; and not over a third nobody has shown", async () => {
    const page = await rig.open("#/policy");
    const editor = page.getByLabel("Policy, as YAML");
    const first = await editor.inputValue();
    await editor.fill(`${first}# mine\n`);
    await rig.ask("POST", "/v1/policy", { text: `${first}# second\n` });
    await page.getByText(/Both of you changed the same lines/).waitFor();
    await page.getByText("It can be used.").waitFor();
    await page.getByRole("button", { name: /^Apply mine over version/ }).click();
    await page.route(/\/v1\/policy$/, (route) =>
      route.request().method() === "GET" ? route.abort() : route.continue(),
    );
    await rig.ask("POST", "/v1/policy", { text: `${first}# third\n` });
    await page.getByRole("button", { name: "Yes, apply mine" }).click();
    const late = page.getByRole("alert").filter({ hasText: "TG_POLICY_CONFLICT" });
    await late.getByText(/What yours would change of it now is shown below/).waitFor();
    expect(await policyText()).toContain("# third");
    await page.unroute(/\/v1\/policy$/);
    await page.getByRole("region", { name: "What would change" }).getByText("− # third").waitFor();
    await page.getByRole("button", { name: /^Apply mine over version/ }).click();
    await page.getByRole("button", { name: "Yes, apply mine" }).click();
    await page.getByText(/^Version \d+ is in force\./).waitFor();
    expect(await policyText()).toBe(`${first}# mine\n`);
  });

  it("lines are put together where both left the other's alone, and never otherwise", () => {
    const base = "a\nb\nc\nd\ne\n";
    expect(lineMerge(base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\nf\n")).toBe("A\nb\nc\nd\nE\nf\n");
    expect(lineMerge(base, "b\nc\nd\ne\n", "a\nb\nc\nx\nd\ne\n")).toBe("b\nc\nx\nd\ne\n");
    expect(lineMerge(base, base, "other")).toBe("other");
    expect(lineMerge(base, "mine", base)).toBe("mine");
    expect(lineMerge(base, "a\nB\nc\nd\ne\n", "a\nB\nc\nd\ne\n")).toBe("a\nB\nc\nd\ne\n");
    expect(lineMerge(base, "a\nB\nc\nd\ne\n", "a\nX\nc\nd\ne\n")).toBeUndefined();
    expect(lineMerge(base, "a\nB\nc\nd\ne\n", "a\nb\nC\nd\ne\n")).toBeUndefined();
    expect(lineMerge(base, `${base}mine\n`, `${base}theirs\n`)).toBeUndefined();
  });
});

describe("customers", () => {
  it("a tier is chosen among the policy's, limits are written as everywhere, and only rules by customer are shown", async () => {
    const page = await rig.open("#/customers?id=acme");
    await page.getByLabel("Tier").selectOption("pro");
    await page.getByRole("button", { name: "Set the tier" }).click();
    await page.getByText("Tier: pro").waitFor();
    const limits = page.getByLabel(/^Own limits/);
    await limits.fill("100 per fortnight");
    await page.getByText('Line 1, "100 per fortnight": write a number and a time').waitFor();
    expect(await page.getByRole("button", { name: "Set the limits" }).isDisabled()).toBe(true);
    await limits.fill("1 per hour");
    await page.getByRole("button", { name: "Set the limits" }).click();
    await page.getByText("1 in 3600 s").waitFor();
    expect(await rig.ask("GET", "/v1/customers/acme")).toMatchObject({ tier: "pro", limits: { 3600: 1 } });
    const rules = page.getByRole("region", { name: "Rule by rule" });
    await rules.getByRole("cell", { name: "acme", exact: true }).first().waitFor();
    expect(await page.locator("main").textContent()).not.toContain("req/ip");
  });

  it("limits are read in both forms, and what can not be read is said by line", () => {
    expect(readLimits("100 per minute\n1000 in 3600\n5/s\n300 per 5m\n9 per 2 days\n")).toEqual({
      limits: { 60: 100, 3600: 1000, 1: 5, 300: 300, 172800: 9 },
    });
    expect(readLimits(" \n")).toEqual({ limits: null });
    expect(limitsText({ 60: 100, 90: 7 })).toBe("100 per minute\n7 per 90s");
    expect(readLimits(limitsText({ 60: 100, 90: 7 }))).toEqual({ limits: { 60: 100, 90: 7 } });
    for (const line of [
      "100",
      "per minute",
      "100 per constructor",
      "100 in 0",
      "1 in 60\n2 per minute",
      "-1 in 60",
    ])
      expect([line, readLimits(line)]).toEqual([line, { problem: expect.stringMatching(/^Line [12], /) }]);
  });
});

describe("the audit", () => {
  it("says what was before and after in words, and who it was", async () => {
    const page = await rig.open("#/lists/safelist");
    await page.getByLabel("Addresses or blocks, one a line").fill("198.51.100.40");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("198.51.100.40 is on the safelist.").waitFor();
    await rig.ask("POST", "/v1/policy", { text: `${await policyText()}# again\n` });
    await page.evaluate("location.hash = '#/audit'");
    const changes = page.getByRole("region", { name: "Changes, newest first" });
    const row = changes.getByRole("row").filter({ hasText: "198.51.100.40" });
    await row.getByText("put on the safelist").first().waitFor();
    await row.getByText("admin (admin.token)").first().waitFor();
    await row.getByText(/^198\.51\.100\.40, .*until \d+ \w+ \d{4}, [\d:]+ \S+/).waitFor();
    await changes.getByText("policy edited").first().waitFor();
    expect(await changes.textContent()).not.toMatch(/\d{13}|[{}]|policy\.api|[0-9a-f]{40}/);
  });

  it("is searched from one moment to another", async () => {
    await rig.ask("PUT", "/v1/lists/blocklist/198.51.100.41", { why: "today" });
    const page = await rig.open("#/audit");
    await page.getByLabel("Target").fill("198.51.100.41");
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
    await page.getByLabel("Until").fill("2020-01-01T00:00");
    await page.getByText("None.").waitFor();
    await page.getByLabel("Until").fill("");
    await page.getByLabel("Since").fill("2020-01-01T00:00");
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
    await page.getByLabel("What").selectOption("policy.");
    await page.getByText("None.").waitFor();
  });

  it("an undo that comes too late says in words how it is by now", async () => {
    const page = await rig.open("#/audit");
    await rig.ask("PUT", "/v1/customers/late/tier", { tier: "pro" });
    await page.getByLabel("Target").fill("late");
    const act = page.getByRole("button", { name: "Undo tier set late" });
    await act.waitFor();
    await page.route("**/v1/audit?*", (route) =>
      route.request().url().includes("target=late") ? route.abort() : route.continue(),
    );
    await rig.ask("PUT", "/v1/customers/late/tier", { tier: "free" });
    await act.first().click();
    await page.getByText("It has changed again since: it is now free. Nothing was changed.").waitFor();
    await page.getByRole("button", { name: "Undo anyway" }).click();
    await page.getByText("Undone. Tier set: late, free → the default tier.").waitFor();
    await page.getByRole("button", { name: "Redo" }).waitFor();
  });
});

it("what was just done is said on its own page only, and not to whoever signs in next", async () => {
  const page = await rig.open("#/lists/blocklist");
  const add = async (address: string) => {
    await page.getByLabel("Addresses or blocks, one a line").fill(address);
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText(`${address} is on the blocklist.`).waitFor();
  };
  await add("198.51.100.50");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone. Taken off the blocklist: 198.51.100.50.").waitFor();
  await page.getByRole("link", { name: "Audit" }).click();
  await page.getByText(/^Undone\./).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Lists" }).click();
  await add("198.51.100.51");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Token").waitFor();
  expect(await page.locator("body").textContent()).not.toContain("is on the blocklist.");
});

describe("on a screen of 360 pixels", () => {
  it.each([
    ["#/audit", "Changes, newest first", "Undo"],
    ["#/policy", "Rules", "Switch off"],
    ["#/lists/blocklist", "On the blocklist", "Remove"],
  ])("%s has what can be done within the window, and every cell named", async (place, table, act) => {
    await rig.ask("PUT", "/v1/lists/blocklist/198.51.100.60", { why: "narrow" });
    const page = await rig.open(place, { width: 360 });
    const region = page.getByRole("region", { name: table });
    const button = region.getByRole("button", { name: act }).first();
    await button.waitFor();
    const box = await button.boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= 360).toBe(true);
    const wider = await region.evaluate((element) => element.scrollWidth - element.clientWidth);
    expect(wider).toBe(0);
    const labels = await page.evaluate<string[]>(
      `[...document.querySelector('[aria-label="${table}"] tbody tr').cells].map((cell) => getComputedStyle(cell, "::before").content)`,
    );
    expect(labels.length).toBeGreaterThan(3);
    expect(labels.every((label) => /^"\w/.test(label))).toBe(true);
  });
});

it("who came by the link a first start prints is named so in the audit", async () => {
  const demo = await startTidegate({ folder: temporaryFolder() });
  const page = await openWindow(demo.admin, "#/lists/blocklist");
  await page.getByLabel("Addresses or blocks, one a line").fill("198.51.100.70");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const row = page.getByRole("row").filter({ hasText: "198.51.100.70" });
  await row.getByText("admin (login link)").waitFor();
});

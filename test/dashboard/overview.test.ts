import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { After } from "../server/running.js";
import { startRedis } from "../servers/index.js";
import { flood, type Rig, startRig } from "./rig.js";

const policy = `rules:
  - { name: quiet hold, by: ip, limits: [10 per hour], hold: { after: 3, for: [10m] } }
  - { name: api, by: customer, limits: [5 per hour] }
`;

let rig: Rig;
const closing: Parameters<After>[0][] = [];
beforeAll(async () => {
  rig = await startRig({ policy, after: (close) => void closing.unshift(close) });
});
afterAll(async () => {
  for (const close of closing) await close();
});

interface Client {
  readonly client: string;
  readonly requests: number;
  readonly refused: number;
  readonly heldUntil?: number;
}

describe("who is held by a rule that feeds no edge", () => {
  it("stands among those held now, and with its end among the clients, until it is cleared", async () => {
    await flood(rig, "203.0.113.80", { "user-agent": "flooder/1" });
    const page = await rig.open("#/overview");
    const held = page.getByRole("region", { name: "Held now" });
    const row = held.getByRole("row").filter({ hasText: "203.0.113.80" });
    await row.getByText("quiet hold").waitFor();
    await row.getByText("here", { exact: true }).waitFor();
    await row.getByText(/^9 min|^10 min/).waitFor();
    const { clients } = await rig.ask<{ clients: Client[] }>("GET", "/v1/clients?within=203.0.113.80");
    expect(clients[0]?.heldUntil).toBeGreaterThan(Date.now());

    await rig.ask("POST", "/v1/clear", { subject: { ip: "203.0.113.80" } });
    await row.waitFor({ state: "detached" });
    expect(await rig.ask("GET", "/v1/held")).toEqual({ held: [], count: 0 });
    const after = await rig.ask<{ clients: Client[] }>("GET", "/v1/clients?within=203.0.113.80");
    expect(after.clients[0]?.heldUntil).toBeUndefined();
  });
});

describe("numbers", () => {
  it("of a busy client are whole ones: its rate in the last minute, and never more refused than came", async () => {
    await flood(rig, "203.0.113.81");
    const page = await rig.open("#/overview");
    const busiest = page.getByRole("region", { name: "Busiest clients" });
    const cells = busiest.getByRole("row").filter({ hasText: "203.0.113.81" }).getByRole("cell");
    await expect.poll(async () => Number(await cells.nth(1).textContent())).toBeGreaterThanOrEqual(10);
    expect(await cells.nth(2).textContent()).toMatch(/^\d+(\.\d)?$/);
    expect(await cells.nth(3).textContent()).toMatch(/^\d+$/);
    expect(await cells.nth(4).textContent()).toMatch(/^\d+$/);
    const { clients } = await rig.ask<{ clients: Client[] }>("GET", "/v1/clients");
    for (const { requests, refused } of clients) expect(refused).toBeLessThanOrEqual(requests);
  });
});

describe("the plot by rule", () => {
  it("has a line with its swatch for every rule that judged, switched on and off beside it", async () => {
    await flood(rig, "203.0.113.82", { "x-customer": "acme" });
    const page = await rig.open("#/overview");
    const rules = page.getByRole("list", { name: "Rules in the plot" });
    const hold = rules.getByRole("checkbox", { name: "quiet hold" });
    await rules.getByRole("checkbox", { name: "api" }).waitFor();
    expect(await rules.locator("svg.swatch").count()).toBe(2);
    const figure = page.locator("figure").filter({ has: rules });
    await figure.locator("canvas").waitFor();
    await hold.uncheck();
    await figure.locator("canvas").waitFor();
    expect(await hold.isChecked()).toBe(false);
    await figure.getByLabel("Per second, by rule").selectOption("judged");
    await hold.check();
    await figure.locator("canvas").waitFor();
    const lines = page.getByRole("list", { name: "Lines" });
    expect((await lines.getByRole("listitem").allTextContents()).map((each) => each.trim())).toEqual([
      "allowed",
      "refused",
      "would be refused in shadow",
    ]);
    expect(await lines.locator("svg.swatch").count()).toBe(3);
  });
});

describe("what is wrong", () => {
  it("stays in sight however far one scrolled, and a question that got no answer is not taken for a change", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const own = await startRig({ policy, store: redis.url });
    for (let i = 1; i < 20; i++) await own.visit(`203.0.113.${i}`);
    const page = await own.open("#/overview", { width: 360 });
    await page.getByRole("region", { name: "Busiest clients" }).getByRole("row").nth(5).waitFor();
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    await own.stop();
    const lost = page.getByText("Connection lost, retrying.");
    await lost.waitFor();
    await page.getByText("The server does not answer.").first().waitFor();
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    expect(await page.evaluate<number>("scrollY")).toBeGreaterThan(0);
    expect((await lost.boundingBox())?.y).toBe(0);
    expect(await page.getByText(/change was made/).count()).toBe(0);
    expect(await page.getByText(/If this was a change/).count()).toBe(0);
  });

  it("another page begins at its top", async () => {
    const page = await rig.open("#/overview", { width: 360 });
    await page.getByRole("heading", { name: "Edges" }).waitFor();
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    expect(await page.evaluate<number>("scrollY")).toBeGreaterThan(0);
    await page.evaluate("location.hash = '#/policy'");
    await page.getByRole("heading", { level: 1, name: "Policy" }).waitFor();
    await expect.poll(() => page.evaluate<number>("scrollY")).toBe(0);
  });
});

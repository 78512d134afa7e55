import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClearAnswer, ExplainAnswer } from "../../packages/tidegate-server/src/api/types.js";
import type { After } from "../server/running.js";
import { flood, type Rig, startRig } from "./rig.js";

const closing: Parameters<After>[0][] = [];
const after: After = (close) => void closing.unshift(close);
afterAll(async () => {
  for (const close of closing) await close();
});

const browser = "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0";

describe("with the preset for websites", () => {
  let rig: Rig;
  beforeAll(async () => {
    const preset = new URL("../../packages/tidegate-server/presets/website.yaml", import.meta.url);
    rig = await startRig({ policy: readFileSync(preset, "utf8"), after });
  });

  const visit = (ip: string, userAgent = browser, path = "/last") =>
    rig.visit(ip, { "user-agent": userAgent }, path);

  /** Page after page, until `pages` not only refuses it but holds it: at its limit it would soon pass again. */
  async function browse(ip: string, userAgent = browser): Promise<void> {
    let refused = 0;
    for (let i = 0; i < 900 && refused < 120; i++)
      if ((await visit(ip, userAgent, `/page/${i}`)).status === 429) refused++;
    expect(refused).toBe(120);
  }

  it("who is refused for what its browser asks is found refused by its address alone, told why, and passes once it is cleared", async () => {
    const ip = "192.0.2.60";
    await browse(ip);
    expect((await visit(ip)).status).toBe(429);
    const page = await rig.open(`#/clients?find=${ip}`);
    await page.getByText("Refused.", { exact: true }).waitFor();
    await page
      .getByText(/^As its last refused request, .*GET .*\/last with the user agent Mozilla/)
      .waitFor();
    await page.getByText(/GET \/last from 192\.0\.2\.60 is refused\. pages\//).waitFor();
    await page.getByRole("button", { name: "Clear everywhere" }).click();
    await page.getByText(/^Forgotten under .*pages.*, also as 50 refused requests of it\./).waitFor();
    await page.getByText(/Not reached: [^.]*login/).waitFor();
    await page.getByText("Allowed.", { exact: true }).waitFor();
    expect((await visit(ip)).status).toBe(200);
  });

  it("every browser behind an address is forgotten with it", async () => {
    const ip = "192.0.2.61";
    const other = `${browser} other`;
    await browse(ip);
    for (let i = 0; i < 500 && (await visit(ip, other, `/other/${i}`)).status === 200; i++);
    const answer = await rig.ask<ClearAnswer>("POST", "/v1/clear", { subject: { ip }, remembered: true });
    expect(answer.cleared.filter(({ rule }) => rule === "pages")).toHaveLength(2);
    expect([(await visit(ip)).status, (await visit(ip, other)).status]).toEqual([200, 200]);
  });

  it("what is not remembered is said: a plain request is judged, and no limit drawn that is of something else", async () => {
    const page = await rig.open("#/clients?find=192.0.2.62");
    await page.getByText(/^No refusal of it is remembered here/).waitFor();
    await page.getByText("Allowed.", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Clear everywhere" }).click();
    await page.getByText(/Under pages only what came without .*its user agent: the rest stays/).waitFor();
    await visit("192.0.2.62");
    await page.getByText(/No limit is drawn/).waitFor();
  });

  it("what is said of a request wins over what is remembered", async () => {
    const ip = "192.0.2.63";
    await browse(ip);
    const explain = (subject: object) =>
      rig.ask<ExplainAnswer>("POST", "/v1/explain", { subject: { ip, ...subject }, remembered: true });
    const elsewhere = await explain({ path: "/elsewhere" });
    expect(elsewhere).toMatchObject({ allowed: false, asRefused: { about: { userAgent: browser } } });
    expect(elsewhere.words).toMatch(/^GET \/elsewhere from 192\.0\.2\.63 is refused\. pages/);
    expect(await explain({ headers: { "User-Agent": "another" } })).toMatchObject({ allowed: true });
    const page = await rig.open(`#/clients?find=${encodeURIComponent(`${ip} GET /elsewhere`)}`);
    await page.getByText("Refused.", { exact: true }).waitFor();
    await page.getByText(/^What was not said, as in its last refused request/).waitFor();
  });
});

describe("by other ways", () => {
  let rig: Rig;
  beforeAll(async () => {
    const policy = `rules:
  - { name: req/ip, by: ip, limits: [20 per minute], hold: { after: 3, for: [10m] } }
  - { name: browsers, only: /fingerprinted, by: standard, limits: [2 per hour] }
  - { name: api, by: customer, limits: [3 per hour] }
`;
    rig = await startRig({ policy, after });
  });

  it("found by a decision's id it is headed by what it asked; a hold is shown instead of what a limit has left", async () => {
    const { id } = await flood(rig, "203.0.113.80", { "user-agent": "quoting/1" });
    const page = await rig.open(`#/clients?find=${id}`);
    await page.getByRole("heading", { name: /^Now: 203\.0\.113\.80 GET .* \/flood quoting\/1$/ }).waitFor();
    const row = page
      .getByRole("region", { name: "Rule by rule" })
      .getByRole("row")
      .filter({ hasText: "req/ip" });
    await row.getByText("none while held").waitFor();
    await row.getByText(/^9 min/).waitFor();
    expect(await row.getByText("of 20", { exact: false }).count()).toBe(0);
  });

  it("who is refused under a fingerprint is shown so, and passes once that is cleared", async () => {
    const visit = () => rig.visit("203.0.113.81", { "user-agent": "same/2" }, "/fingerprinted");
    let refused = await visit();
    for (let i = 0; i < 5 && refused.status === 200; i++) refused = await visit();
    const { decision } = await rig.ask<{ decision: { verdict: { key: string } } }>(
      "GET",
      `/v1/decisions/${refused.id}`,
    );
    const page = await rig.open(`#/clients?find=${decision.verdict.key}`);
    const row = page.getByRole("region", { name: "Clients" }).getByRole("row").filter({ hasText: "same/2" });
    await row.getByText("refused", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Clear everywhere" }).click();
    await page.getByText(/^Forgotten under .*browsers/).waitFor();
    await row.getByText("passes", { exact: true }).waitFor();
    expect((await visit()).status).toBe(200);
  });

  it("a customer's counts are not forgotten with an address it came from", async () => {
    const visit = (ip: string) => rig.visit(ip, { "x-customer": "acme" });
    for (let i = 0; i < 4; i++) await visit("203.0.113.82");
    const page = await rig.open("#/clients?find=203.0.113.82");
    await page.getByText("Refused.", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Clear everywhere" }).click();
    await page.getByText(/Not reached: [^.]*api/).waitFor();
    expect((await visit("203.0.113.82")).status).toBe(429);
    await page.getByRole("link", { name: "acme" }).click();
    await page.getByRole("heading", { name: "Now: acme" }).waitFor();
    await page.getByRole("button", { name: "Clear everywhere" }).click();
    await page.getByText(/^Forgotten under api/).waitFor();
    expect((await visit("203.0.113.82")).status).toBe(200);
  });

  it("whom a list refuses is plotted without a limit", async () => {
    await rig.ask("PUT", "/v1/lists/blocklist/203.0.113.83", { for: "1h" });
    for (let i = 0; i < 5; i++) await rig.visit("203.0.113.83");
    const page = await rig.open("#/clients?find=203.0.113.83");
    await page.getByText("Refused.", { exact: true }).waitFor();
    await page.getByText(/No limit is drawn/).waitFor();
  });

  it.each(["42", "no such thing", "www.example.com"])(
    "%s is answered with what can be typed",
    async (text) => {
      const page = await rig.open(`#/clients?find=${encodeURIComponent(text)}`);
      const note = page.getByRole("alert").filter({ hasText: "Nothing is found under" });
      await note.getByRole("link", { name: `customer:${text}` }).waitFor();
      expect(await note.textContent()).not.toContain("/v1/");
      await note.getByRole("link", { name: `user:${text}` }).click();
      await page.getByRole("heading", { name: `Now: ${text}` }).waitFor();
    },
  );
});

import { readFileSync, writeFileSync } from "node:fs";
import { createGate, type Policy } from "tidegate";
import { trafficModel } from "tidegate/simulate";
import { describe, expect, it } from "vitest";
import { parsePolicy } from "../../packages/tidegate-server/src/config/parse-policy.js";
import { presetNames, presetPolicy } from "../../packages/tidegate-server/src/config/preset-policies.js";
import { type Measured, measure } from "./measure.js";
import { type MeasuredPreset, measuredTable, tableIn, withTable } from "./measured-table.js";
import { isRewriting } from "./rewriting.js";
import { purposes, seeds, tierOf, workingDay } from "./shipped.js";

const page = new URL("../../docs/server/presets.md", import.meta.url);

/** Of the usual cast, with the class of a quarter past ten; none of the API. */
const morning = { seed: 1, hours: 2.5, flooders: 0, apiClients: 0 };

/** Much traffic, and maybe a busy machine. */
const patience = 240_000;

function policyOf(preset: string): Policy {
  return parsePolicy(presetPolicy(preset)?.text ?? "");
}

describe("on a modelled working day, of which the truth is known", () => {
  const measured: MeasuredPreset[] = [];

  it.each(presetNames)(
    "the preset %s finds those it is for, and refuses no ordinary client",
    async (preset) => {
      const against = purposes[preset] ?? [];
      const runs: Measured[] = [];
      for (const seed of seeds) {
        const traffic = trafficModel(workingDay(seed));
        runs.push(await measure({ policy: policyOf(preset), traffic, against, tierOf }));
      }
      measured.push({ preset, against, runs });
      for (const { wronged, missed, abusive, ordinary, recall, precision } of runs) {
        expect(wronged).toEqual([]);
        expect(recall, `missed: ${missed.join(", ")}`).toBeGreaterThanOrEqual(0.99);
        expect(precision).toBe(1);
        expect(abusive).toBeGreaterThan(3);
        expect(ordinary).toBeGreaterThan(500);
      }
    },
    240_000,
  );

  it("the page on presets shows what was measured", () => {
    const table = measuredTable(measured);
    const text = readFileSync(page, "utf8");
    if (isRewriting) writeFileSync(page, withTable(text, table));
    else expect(tableIn(text)).toBe(table);
  });
});

describe("the measure itself", { timeout: patience }, () => {
  const traffic = () => trafficModel(morning);
  const against = purposes.website ?? [];

  it("sees that a limit too low wrongs a campus, and lowers precision", async () => {
    const policy: Policy = { rules: [{ name: "strict", by: "ip", limits: ["60 per minute"] }] };
    const { wronged, precision } = await measure({ policy, traffic: traffic(), against, tierOf });
    expect(wronged.some((client) => client.startsWith("campus-0/"))).toBe(true);
    expect(precision).toBeLessThan(0.9);
  });

  it("sees that no rule finds nobody", async () => {
    const { recall, missed, abusive } = await measure({
      policy: { rules: [] },
      traffic: traffic(),
      against,
      tierOf,
    });
    expect(recall).toBe(0);
    expect(missed).toHaveLength(abusive);
  });

  it("sees that a preset without its rule by address misses who changes its name each time", async () => {
    const { rules, ...rest } = policyOf("website");
    const policy = { ...rest, rules: rules.filter(({ name }) => name !== "address") };
    const { missed } = await measure({ policy, traffic: traffic(), against, tierOf });
    expect(missed).toContain("scraper-4");
  });

  it("sees that a campus would pay for a scraper in it, if what is refused weighed fully by address", async () => {
    const policy = parsePolicy(presetPolicy("website")?.text.replace(/, overage: [\d.]+/, "") ?? "");
    const { wronged } = await measure({ policy, traffic: traffic(), against, tierOf });
    expect(wronged.join()).toContain("campus-0/");
  });
});

describe("the numbers of website have room", { timeout: patience }, () => {
  const times = (factor: number) => {
    const scaled = (text: string) => `${Math.round(Number(text) * factor)} per`;
    const text =
      presetPolicy("website")?.text.replace(/([1-9]\d*) per/g, (_, number) => scaled(number)) ?? "";
    const traffic = trafficModel(morning);
    return measure({ policy: parsePolicy(text), traffic, against: purposes.website ?? [], tierOf });
  };

  it("two thirds of them, and half as much again, tell as well", async () => {
    for (const factor of [2 / 3, 1.5]) expect(await times(factor)).toMatchObject({ wronged: [], missed: [] });
  });

  it("a quarter of them wrongs the campus, and four times lets scrapers through", async () => {
    expect((await times(1 / 4)).wronged.join()).toContain("campus-0/");
    expect((await times(4)).missed.join()).toContain("scraper-");
  });
});

it("one scanner on a campus does not take the campus with it", async () => {
  const gate = createGate(policyOf("website"));
  const at = (userAgent: string, path: string) =>
    gate.decide({
      ip: "192.0.2.1",
      method: "GET",
      host: "www.example.com",
      path,
      header: (name) => (name.toLowerCase() === "user-agent" ? userAgent : undefined),
    });
  for (let i = 0; i < 5; i++) expect((await at("scanner", "/.env")).allowed).toBe(false);
  expect((await at("scanner", "/")).reason).toBe("held");
  expect((await at("browser", "/")).allowed).toBe(true);
  await gate.close();
});

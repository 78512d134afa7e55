import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  burstLetThrough,
  graceCalls,
  lambdaOf,
  lockedOutAbove,
  sharePassing,
  silenceNeeded,
} from "tidegate/simulate";
import { describe, expect, it } from "vitest";
import { figures } from "../../scripts/figures.js";
import { tidegate } from "../server/cli-rig.js";
import { temporaryFolder } from "../server/running.js";

const page = readFileSync(new URL("../../docs/earrrl.md", import.meta.url), "utf8");
const guide = readFileSync(new URL("../../docs/server/simulate.md", import.meta.url), "utf8");

describe("docs/earrrl.md", () => {
  it.each([1, 10, 20, 60, 300])("says of a half-life of %s s what follows from it", (halfLife) => {
    const limit = { rate: 1, halfLife };
    const seconds = (value: number) => `${value.toFixed(1)} s`;
    const cells = [
      `${halfLife} s`,
      burstLetThrough(limit),
      `± ${(lambdaOf(halfLife) / 2).toFixed(3)}`,
      ...[2, 10].map((times) => seconds(graceCalls(times, limit) / times)),
      ...[2, 10].map((times) => seconds(silenceNeeded(times, limit))),
    ];
    expect(page).toContain(`\n| ${cells.join(" | ")} |\n`);
  });

  it.each([1, 0.75, 0.5, 0.25, 0])("says of an overage of %s what passes", (overage) => {
    const limit = { rate: 1, halfLife: 20, overage };
    const locked = lockedOutAbove(limit);
    const cells = [
      overage === 1 ? "1 (default)" : overage,
      Number.isFinite(locked) ? locked.toFixed(2) : "nobody",
      ...[1.2, 1.5, 3, 10].map((perSecond) => `${(100 * sharePassing(perSecond, limit)).toFixed(0)} %`),
    ];
    expect(page).toContain(`\n| ${cells.join(" | ")} |\n`);
  });

  it("shows or names every figure", () => {
    for (const name of Object.keys(figures)) expect(page).toContain(`figures/${name}`);
  });

  it("names its other names", () => {
    expect(page).toContain("**CEWMA**");
    expect(page).toContain("**EARRRRL**");
  });
});

it("the scenario in docs/server/simulate.md runs, and draws", async () => {
  const cwd = temporaryFolder();
  const [, text = ""] = /^```yaml\n([\s\S]*?)^```/m.exec(guide) ?? [];
  writeFileSync(join(cwd, "crawlers.yaml"), text);
  const { code, stdout, stderr } = await tidegate(["simulate", "crawlers.yaml", "--svg", "crawlers.svg"], {
    cwd,
  });
  expect([code, stderr]).toEqual([0, expect.stringContaining("wrote")]);
  expect(stdout).toContain("Two crawlers and a class");
  expect(readFileSync(join(cwd, "crawlers.svg"), "utf8")).toContain("the whole class");
});

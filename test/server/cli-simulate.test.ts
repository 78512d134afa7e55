import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tidegate } from "./cli-rig.js";
import { temporaryFolder } from "./running.js";

const scenario = `title: Two crawlers
seconds: 120
plot: estimates
readAt: [30, 60]
clients:
  - { name: polite, phases: [{ from: 0, to: 120, rate: 30 per minute }] }
  - { name: greedy, count: 2, seed: 5, phases: [{ from: 0, to: 60, rate: 4, pattern: poisson }] }
limits:
  - { earrrl: { rate: 60 per minute, halfLife: 10s, overage: 0.5 } }
  - { slidingLog: { limit: 60, window: 1m }, name: a log, shared: true }
`;

function inFolder(files: Record<string, string> = {}): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

describe("tidegate simulate", () => {
  it("without a scenario lists those there are", async () => {
    const { code, stdout } = await tidegate(["simulate"]);
    expect(code).toBe(0);
    for (const name of ["convergence", "reform", "overage", "gaming", "botnet"])
      expect(stdout).toMatch(new RegExp(`^${name} +\\S`, "m"));
    const json = JSON.parse((await tidegate(["simulate", "--json"])).stdout);
    expect(json.map(({ name }: { name: string }) => name)).toContain("reform");
  });

  it("E12: tells the estimates at t = 60, 70, 110, 200 and 210 beside the closed form, for half-lives 10 and 1", async () => {
    const { stdout } = await tidegate(["simulate", "convergence"]);
    const rows = [
      ...stdout.matchAll(/^EARRRL, half-life (\d+) s +([\d.]+) per second +(\d+) s +([\d.]+) +([\d.]+)$/gm),
    ];
    expect(rows).toHaveLength(2 * 3 * 5);
    expect([...new Set(rows.map(([, , , at]) => at))]).toEqual(["60", "70", "110", "200", "210"]);
    expect([...new Set(rows.map(([, halfLife]) => halfLife))]).toEqual(["10", "1"]);
    for (const [, , , , estimate, closed] of rows)
      expect(Math.abs(Number(estimate) - Number(closed))).toBeLessThanOrEqual(1.1e-6);
  });

  it("E16, E17: reform compares EARRRL with four others", async () => {
    const { limits } = JSON.parse((await tidegate(["simulate", "reform", "--json"])).stdout);
    expect(limits.map(({ kind }: { kind: string }) => kind).sort()).toEqual([
      "earrrl",
      "fixed-window",
      "sliding-counter",
      "sliding-log",
      "token-bucket",
    ]);
    const estimated = limits.find(({ kind }: { kind: string }) => kind === "earrrl");
    expect(estimated).toMatchObject({ burst: 29, clients: [{ sent: 500, passed: 189 }] });
    expect(estimated.clients[0].passedSoFar.at(-1)).toBe(189);
  });

  it("takes other numbers, and other limits to compare", async () => {
    const told = async (...args: string[]) => (await tidegate(["simulate", ...args])).stdout;
    expect(
      await told("reform", "--half-life", "1m", "--rate", "30 per minute", "--overage", "0.5"),
    ).toContain("EARRRL, 0.5 per second, half-life 60 s, overage 0.5");
    const compared = await told(
      "reform",
      "--limit",
      "sliding-log 60 per 1m",
      "--limit",
      "earrrl",
      "--rate",
      "2",
    );
    expect(compared).toContain("Sliding log, 60 per 60 s");
    expect(compared).toContain("EARRRL, 2 per second, half-life 20 s");
    expect(compared).not.toContain("Fixed window");
    expect(await told("overage", "--overage", "0")).toMatch(/overage 0 .* nobody$/m);
  });

  it("runs a scenario of a file, YAML or JSON, with the numbers of the flags", async () => {
    const cwd = inFolder({
      "mine.yaml": scenario,
      "mine.json": JSON.stringify({
        seconds: 10,
        clients: [{ name: "a", phases: [{ from: 0, to: 10, rate: 1 }] }],
        limits: [{ fixedWindow: { limit: 5, window: "10s" } }],
      }),
    });
    const { stdout } = await tidegate(["simulate", "mine.yaml"], { cwd });
    expect(stdout).toContain("Two crawlers");
    expect(stdout).toMatch(/^EARRRL, 1 per second, half-life 10 s, overage 0.5 +polite +60 +60 +100.0 %/m);
    expect(stdout).toMatch(/^a log +greedy +\d+ +\d+/m);
    expect(stdout).toMatch(/polite +30 s +0\.\d+ +0\.\d+$/m);
    expect((await tidegate(["simulate", "mine.yaml", "--half-life", "30s"], { cwd })).stdout).toContain(
      "half-life 30 s",
    );
    expect((await tidegate(["simulate", "mine.json"], { cwd })).stdout).toMatch(
      /Fixed window, 5 per 10 s +a +10 +5 +50.0 %/,
    );
  });

  it("writes SVG, PNG and a page", async () => {
    const cwd = inFolder({ "mine.yaml": scenario });
    const { code, stderr } = await tidegate(
      ["simulate", "mine.yaml", "--svg", "a.svg", "--png", "a.png", "--dark", "--html", "a.html"],
      { cwd },
    );
    expect([code, stderr.match(/wrote/g)?.length]).toEqual([0, 3]);
    expect(readFileSync(join(cwd, "a.svg"), "utf8")).toMatch(/^<svg [\s\S]*Two crawlers[\s\S]*<\/svg>\n$/);
    expect(readFileSync(join(cwd, "a.png")).subarray(0, 8)).toEqual(
      Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    );
    expect(readFileSync(join(cwd, "a.html"), "utf8")).toContain("What passed");
    const { files } = JSON.parse(
      (await tidegate(["simulate", "mine.yaml", "--svg", "b.svg", "--json"], { cwd })).stdout,
    );
    expect(files).toEqual([join(cwd, "b.svg")]);
  });

  it.each<[args: string[], says: string]>([
    [["refrom"], "Did you mean reform?"],
    [["something"], "There are convergence, reform, overage, gaming, botnet."],
    [["missing.yaml"], "missing.yaml: It can not be read (ENOENT)."],
    [["reform", "--half-life", "soon"], '--half-life: "soon" is not a duration'],
    [["reform", "--rate", "0"], '--rate "0" can not be used'],
    [["reform", "--rate", "often"], '--rate: "often" is not a rate'],
    [["reform", "--overage", "2"], '--overage "2" is not a weight'],
    [["reform", "--limit", "leaky"], "earrrl, fixed-window, sliding-log, sliding-counter or token-bucket"],
    [["reform", "--rate", "90000"], "they send about"],
  ])("%o is not understood, and it is said why", async (args, says) => {
    const { code, stdout, stderr } = await tidegate(["simulate", ...args], { cwd: inFolder() });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(says);
  });

  it.each<[text: string, says: string]>([
    ["seconds: 10", "clients"],
    [scenario.replace("halfLife: 10s", "halfLife: 10"), "mine.yaml:9:48 limits[0].earrrl.halfLife"],
    [scenario.replace("slidingLog", "slidingLgo"), "Did you mean slidingLog?"],
    [scenario.replace("rate: 30 per minute", "rate: 30 a minute"), '"30 a minute" is not a rate.'],
    [scenario.replace("to: 60,", "to: 0,"), "0 is not after its beginning."],
    [scenario.replace("overage: 0.5", "overage: 5"), "limits[0].earrrl.overage"],
    [scenario.replace("rate: 4", "rate: 400000"), "calls."],
    [
      scenario.replace("{ slidingLog", "{ fixedWindow: { limit: 1, window: 1s }, slidingLog"),
      "One limit has one algorithm.",
    ],
    ["- a\n- b", "not a map"],
    ["a: [", "not YAML"],
    ["", "Nothing is written in it."],
  ])("a file that says %j is refused, with its place", async (text, says) => {
    const cwd = inFolder({ "mine.yaml": text });
    const { code, stdout, stderr } = await tidegate(["simulate", "mine.yaml", "--svg", "a.svg"], { cwd });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(says);
    expect(existsSync(join(cwd, "a.svg"))).toBe(false);
  });

  it("a place that can not be written to is said before anything is run", async () => {
    const { code, stdout, stderr } = await tidegate(["simulate", "reform", "--svg", "no/such/folder.svg"], {
      cwd: inFolder(),
    });
    expect([code, stdout, stderr]).toEqual([
      2,
      "",
      expect.stringContaining("no/such/folder.svg can not be written (ENOENT)"),
    ]);
  });

  it("names of clients reach a terminal, a plot and a page as text", async () => {
    const evil = "\\e[31m<script>alert(1)</script>";
    const cwd = inFolder({ "mine.yaml": scenario.replace("name: polite", `name: "${evil}"`) });
    const { stdout } = await tidegate(["simulate", "mine.yaml", "--svg", "a.svg", "--html", "a.html"], {
      cwd,
    });
    expect(stdout).not.toContain("\u001b");
    for (const name of ["a.svg", "a.html"])
      expect(readFileSync(join(cwd, name), "utf8")).not.toContain("<script");
  });
});

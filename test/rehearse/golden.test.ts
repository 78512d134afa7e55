import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { openRehearsal, type TrafficModelOptions, trafficModel } from "tidegate/simulate";
import { describe, expect, it } from "vitest";
import { parsePolicy } from "../../packages/tidegate-server/src/config/parse-policy.js";
import { presetPolicy } from "../../packages/tidegate-server/src/config/preset-policies.js";
import { tidegate } from "../server/cli-rig.js";
import { temporaryFolder } from "../server/running.js";
import { type LogFormat, logLines } from "./log-lines.js";
import { isRewriting } from "./rewriting.js";

/** An hour in the morning, with the class at a quarter past ten: some 40,000 requests. */
const morning: TrafficModelOptions = {
  seed: 11,
  from: Date.UTC(2026, 0, 12, 9, 45),
  hours: 1,
  users: 400,
  browsersPerCampus: 150,
  scrapers: 5,
  probers: 1,
  bruteForcers: 2,
  hammerers: 1,
  flooders: 1,
  apiClients: 2,
};

const strict = "rules:\n  - { name: req/ip, by: ip, limits: [100 per minute] }\n";

interface Told {
  readonly input: unknown;
  readonly notes: readonly string[];
  readonly offenders: readonly { readonly client: string; readonly userAgent?: string }[];
  readonly falsePositives: readonly unknown[];
}

interface Golden {
  readonly name: string;
  readonly preset: string;
  readonly format: LogFormat;
  readonly flags?: readonly string[];
}

const goldens: readonly Golden[] = [
  { name: "website-combined", preset: "website", format: "combined" },
  {
    name: "website-json-against-strict",
    preset: "website",
    format: "nginx-json",
    flags: ["--against", "strict.yaml", "--suggest"],
  },
  { name: "api-json", preset: "api", format: "nginx-json" },
  { name: "login-alb", preset: "login", format: "alb" },
];

function read(name: string): Told {
  return JSON.parse(readFileSync(new URL(`golden/${name}.json`, import.meta.url), "utf8"));
}

/** Every other request in the second file, which is packed: they have to be merged by time. */
function writeLogs(folder: string, format: LogFormat): void {
  const lines = [...logLines(trafficModel(morning), format)];
  expect(lines.length).toBeGreaterThan(10_000);
  const half = (rest: number) => lines.filter((_, index) => index % 2 === rest).join("\n");
  writeFileSync(join(folder, "one.log"), `${half(0)}\n`);
  writeFileSync(join(folder, "two.log.gz"), gzipSync(`${half(1)}\n`));
}

/** How much a client asked for is estimated, within 2 %: what is as near as that is taken for the golden's. */
function nearly(told: unknown, golden: unknown): unknown {
  if (typeof told !== "object" || typeof golden !== "object" || told === null || golden === null) return told;
  if (Array.isArray(told)) return told.map((each, i) => nearly(each, (golden as unknown[])[i]));
  const isClient = "client" in told;
  return Object.fromEntries(
    Object.entries(told).map(([name, value]) => {
      const other = (golden as Record<string, unknown>)[name];
      const isEstimate = isClient && (name === "requests" || name === "share") && typeof other === "number";
      return [name, isEstimate && Math.abs(value - other) <= 0.02 * other ? other : nearly(value, other)];
    }),
  );
}

describe("tidegate replay tells of the model's logs what it told before", () => {
  it.each(goldens)(
    "$name",
    async ({ name, preset, format, flags = [] }) => {
      const cwd = temporaryFolder();
      writeLogs(cwd, format);
      writeFileSync(join(cwd, "preset.yaml"), presetPolicy(preset)?.text ?? "");
      writeFileSync(join(cwd, "strict.yaml"), strict);
      const args = ["one.log", "two.log.gz", "--policy", "preset.yaml", "--limit-clients", "12", ...flags];
      const { code, stdout, stderr } = await tidegate(["replay", ...args, "--json"], { cwd });
      expect(code, stderr).toBe(0);
      const report = JSON.parse(stdout);
      const file = new URL(`golden/${name}.json`, import.meta.url);
      if (isRewriting) writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`);
      const golden = JSON.parse(readFileSync(file, "utf8"));
      expect(nearly(report, golden)).toEqual(golden);
    },
    120_000,
  );
});

it("a log with every fact loses nothing: the golden report is that of the traffic itself", async () => {
  const [website, inForce] = [presetPolicy("website")?.text ?? "", strict].map((text) => parsePolicy(text));
  if (website === undefined || inForce === undefined) throw new Error("both are written above");
  const rehearsal = openRehearsal({ policy: website, against: inForce, suggest: true, clients: 12 });
  for (const request of trafficModel(morning)) await rehearsal.add(request);
  await rehearsal.finish();
  const { input, notes, ...told } = read("website-json-against-strict");
  expect(nearly(JSON.parse(JSON.stringify(rehearsal.report())), told)).toMatchObject(told);
  await rehearsal.close();
}, 120_000);

it("nobody in a golden report of the website is ordinary", () => {
  const abusers = new Set<string>();
  const ordinary = new Set<string>();
  for (const { subject, truth } of trafficModel(morning)) {
    const { ip } = subject;
    (truth.abuse === undefined ? ordinary : abusers).add(`${ip} ${subject.header("user-agent")}`);
  }
  const { offenders, falsePositives } = read("website-combined");
  expect(offenders.length).toBeGreaterThan(5);
  expect(falsePositives).toEqual([]);
  for (const { client, userAgent } of offenders) {
    const names = [...abusers].filter((name) => name.endsWith(` ${userAgent}`));
    expect(names, client).not.toEqual([]);
    // A pair of address and user agent names the client itself.
    const [ip, rest] = client.split("|");
    if (rest !== undefined) expect(ordinary).not.toContain(`${ip} ${userAgent}`);
  }
});

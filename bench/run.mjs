#!/usr/bin/env node
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = dirname(HERE);

const HELP = `Speed and memory of Tidegate and its peers, side by side.

  npm run bench -- [options]

  --only <a,b>       only these measures (see --list)
  --against <a,b>    only these contestants' libraries, e.g. tidegate,rlr,bare
  --json <file|->    every sample as JSON, to a file or (-) to standard output instead of the table
  --rounds <n>       rounds of samples (7)
  --client <name>    node-redis (default) or ioredis
  --quick            few and short samples: for development, not for figures
  --strict           end with 1 when a bar is missed
  --list             the measures
  --help             this text
`;

function options() {
  const flags = ["quick", "strict", "list", "help"].map((name) => [
    name,
    { type: "boolean", default: false },
  ]);
  const texts = ["only", "against", "json", "rounds", "client"].map((name) => [name, { type: "string" }]);
  try {
    return parseArgs({ options: Object.fromEntries([...flags, ...texts]) }).values;
  } catch (error) {
    fail(`${error.message}\n\n${HELP}`);
  }
}

function fail(message) {
  process.stderr.write(`bench: ${message}\n`);
  process.exit(2);
}

const note = (text) => process.stderr.write(`bench: ${text}\n`);

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ["ignore", 2, 2] });
  if (error || status !== 0)
    fail(`\`${command} ${args.join(" ")}\` failed${error ? `: ${error.message}` : ""}`);
}

/** When anything in a folder was last written; 0 when there is no such folder. */
function newest(folder) {
  if (!existsSync(folder)) return 0;
  const entries = readdirSync(folder, { withFileTypes: true });
  const times = entries.map((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? newest(path) : statSync(path).mtimeMs;
  });
  return Math.max(0, ...times);
}

const isStale = (name) =>
  newest(join(ROOT, "packages", name, "src")) > newest(join(ROOT, "packages", name, "dist"));

function prepare(withTidegate) {
  if (withTidegate && ["tidegate", "tidegate-server"].some(isStale)) {
    if (!existsSync(join(ROOT, "node_modules/typescript"))) {
      note("installing what the build needs");
      run("npm", ["install", "--no-audit", "--no-fund"], ROOT);
    }
    note("building tidegate and its server");
    run("npm", ["run", "build"], ROOT);
  }
  const needed = Object.keys(JSON.parse(readFileSync(join(HERE, "package.json"), "utf8")).dependencies);
  if (needed.some((name) => !existsSync(join(HERE, "node_modules", name)))) {
    note("installing the peers");
    // The root's engine-strict comes along with `npm run`; one peer asks for Node 22 and runs on 20 as well.
    run("npm", ["install", "--no-audit", "--no-fund", "--engine-strict=false"], HERE);
  }
}

const wanted = options();
if (wanted.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const clientName = wanted.client ?? "node-redis";
if (!["node-redis", "ioredis"].includes(clientName))
  fail(`--client is node-redis or ioredis, not "${clientName}"`);
const rounds = wanted.rounds === undefined ? (wanted.quick ? 2 : 7) : Number(wanted.rounds);
if (!Number.isInteger(rounds) || rounds < 1)
  fail(`--rounds is a whole number from 1, not "${wanted.rounds}"`);

const against = wanted.against?.split(",");
const { measures } = await import("./measures/index.mjs");
const { contest } = await import("./lib/contest.mjs");
const { startRedis } = await import("./lib/redis-server.mjs");
const { figure, rowBuilder, table } = await import("./lib/rows.mjs");
const { label, peers } = await import("./peers/index.mjs");
const { median } = await import("./lib/stats.mjs");

if (wanted.list) {
  process.stdout.write(measures.map(({ id, title }) => `${id.padEnd(20)} ${title}\n`).join(""));
  process.exit(0);
}
const only = wanted.only?.split(",");
for (const id of only ?? [])
  if (!measures.some((measure) => measure.id === id)) fail(`no measure "${id}"; see --list`);
for (const id of against ?? [])
  if (!(id in peers)) fail(`no contestant "${id}"; there are ${Object.keys(peers).join(", ")}`);
prepare(against === undefined || against.includes("tidegate"));
const chosen = measures.filter(({ id }) => only === undefined || only.includes(id));

let redis;
if (chosen.some((measure) => measure.redis)) {
  try {
    redis = await startRedis();
  } catch (error) {
    fail(error.message);
  }
}
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

const versionOf = (name) =>
  JSON.parse(readFileSync(join(HERE, "node_modules", name, "package.json"), "utf8")).version;
const dependencies = Object.keys(JSON.parse(readFileSync(join(HERE, "package.json"), "utf8")).dependencies);
const report = {
  node: process.version,
  cpu: cpus()[0]?.model,
  cores: availableParallelism(),
  redis: redis?.version,
  client: clientName,
  quick: wanted.quick,
  versions: Object.fromEntries(
    dependencies
      .filter((name) => existsSync(join(HERE, "node_modules", name)))
      .map((name) => [name, versionOf(name)]),
  ),
  measures: [],
};

for (const measure of chosen) {
  const contestants = measure.contestants.filter(
    (name) => against === undefined || against.includes(name.split(".")[0]),
  );
  if (contestants.length === 0) continue;
  const settings = {
    clientName,
    port: measure.redis ? redis.port : undefined,
    sampleMs: wanted.quick ? 150 : measure.redis || measure.http ? 1000 : 500,
    quick: wanted.quick,
  };
  const usual = wanted.rounds === undefined ? Math.min(rounds, measure.rounds ?? rounds) : rounds;
  const count = usual * (measure.turns ?? 1);
  for (const text of measure.notes ?? []) note(`${measure.id}: ${text}`);
  const started = Date.now();
  const { samples, failures } = await contest({ measure, contestants, rounds: count, settings, note });
  note(`${measure.id}: done in ${Math.round((Date.now() - started) / 1000)} s`);
  report.measures.push({
    id: measure.id,
    title: measure.title,
    rows: measure.rows(rowBuilder(samples)),
    samples,
    failures,
  });
}
await redis?.stop();

const UNITS = {
  rate: "/s",
  nanos: "ns",
  p50Ms: "ms",
  p99Ms: "ms",
  offP50Ms: "ms",
  offP99Ms: "ms",
  stolenMs: "ms",
  p50ToIncr: "×",
  maxMs: "ms",
  p9999Ms: "ms",
  cpuMicros: "µs",
  redisCpuMicros: "µs",
  bytes: "B",
  memoryUsage: "B",
  megabytes: "MB",
  uncollectedMegabytes: "MB",
  leaked: "each",
  longestMs: "ms",
  busyShare: "of a core",
  detectMs: "ms",
  restoreMs: "ms",
};
const HEADINGS = {
  rate: "calls",
  nanos: "a call",
  p50Ms: "p50",
  p99Ms: "p99",
  offP50Ms: "p50 without",
  offP99Ms: "p99 without",
  stolenMs: "stolen",
  p50ToIncr: "p50/INCR",
  maxMs: "max",
  p9999Ms: "p99.99",
  cpuMicros: "CPU",
  redisCpuMicros: "Redis CPU",
  bytes: "bytes",
  memoryUsage: "MEMORY USAGE",
  megabytes: "size",
  uncollectedMegabytes: "before GC",
  leaked: "leaked",
  longestMs: "longest task",
  busyShare: "busy",
  detectMs: "until detected",
  restoreMs: "then restored",
};

function details({ id, title, samples }) {
  const { metrics } = chosen.find((measure) => measure.id === id);
  const lines = Object.entries(samples).flatMap(([contestant, byParams]) =>
    Object.entries(byParams).map(([params, list]) => [
      params === "" ? label(contestant) : `${label(contestant)}, ${params}`,
      ...metrics.map((metric) => figure(median(list.map((sample) => sample[metric])), UNITS[metric])),
    ]),
  );
  return `${title}: medians of all\n\n${table([["", ...metrics.map((metric) => HEADINGS[metric])], ...lines])}\n`;
}

function summary() {
  const lines = report.measures.flatMap(({ title, rows }) =>
    rows.map((row) => [
      `${title}: ${row.what}`,
      figure(row.ours, row.unit),
      figure(row.peer, row.unit),
      row.peerName ?? "–",
      row.ratio === undefined ? "–" : `${row.ratio.toFixed(3)}×`,
      row.spread ?? "–",
      row.bar ?? "",
      row.met === undefined ? "" : row.met ? "met" : "NOT MET",
    ]),
  );
  return table([["measure", "ours", "best peer", "who", "ratio", "±", "bar", ""], ...lines]);
}

if (wanted.json !== undefined) {
  const text = `${JSON.stringify(report, null, 1)}\n`;
  if (wanted.json === "-") process.stdout.write(text);
  else writeFileSync(wanted.json, text);
}
if (wanted.json !== "-") {
  process.stdout.write(`\n${report.measures.map(details).join("\n")}\n${summary()}\n`);
  for (const { id, failures } of report.measures) {
    for (const [contestant, why] of Object.entries(failures))
      process.stdout.write(`\n${id}: ${label(contestant)} did not run: ${why.split("\n")[0]}\n`);
  }
  if (wanted.quick) process.stdout.write("\n--quick: too few and too short samples to judge by.\n");
}
const missed = report.measures.some(
  ({ rows, failures }) => rows.some((row) => row.met === false) || Object.keys(failures).length > 0,
);
process.exit(wanted.strict && missed ? 1 : 0);

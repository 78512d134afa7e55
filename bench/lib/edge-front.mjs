import { execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

// Debian puts servers where only root's PATH leads.
const FOLDERS = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];

const find = (program) => FOLDERS.map((folder) => join(folder, program)).find((path) => existsSync(path));

/** The contestants whose server is installed, and a note of each that is not. */
export function installedEdges(face) {
  const programs = { haproxy: "haproxy", varnish: "varnishd" };
  const missing = Object.keys(programs).filter((kind) => find(programs[kind]) === undefined);
  return {
    contestants: Object.keys(programs)
      .filter((kind) => !missing.includes(kind))
      .map((kind) => `tidegate.${face}-${kind}`),
    notes: missing.map((kind) => `${programs[kind]} was not found on PATH and is left out`),
  };
}

/** A folder that is gone when this process is. */
export function ownFolder() {
  const dir = mkdtempSync(join(tmpdir(), "tidegate-bench-"));
  process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const accepts = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true));
    socket.once("error", () => resolve(false)).once("connect", () => socket.destroy());
  });

export async function listens(port, isAlive = () => true) {
  while (isAlive() && !(await accepts(port))) await pause(5);
}

/** A server in the foreground, up when all its ports are; it ends with this process. */
export async function startFront(program, args, ports) {
  const child = spawn(find(program) ?? program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (said = (said + text).slice(-2000)));
  process.once("exit", () => child.kill("SIGKILL"));
  let failed;
  child.once("error", (error) => (failed = error));
  const isAlive = () => child.exitCode === null && failed === undefined;
  for (const port of ports) await listens(port, isAlive);
  if (!isAlive()) throw new Error(`${program} did not start: ${failed?.message ?? said}`);
  return child.pid;
}

/** Runs one of a server's own tools; answers what it said. */
export const runTool = async (program, args) => (await run(find(program) ?? program, args)).stdout;

/** User and system time of processes in µs: Linux counts them in hundredths of a second. */
export function cpuMicros(pids) {
  if (process.platform !== "linux") return Number.NaN;
  const ticks = pids.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, each) => sum + each, 0) * 10_000;
}

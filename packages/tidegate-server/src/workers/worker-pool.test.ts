import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, it, onTestFinished, vi } from "vitest";
import { startWorkers, type WorkerPool } from "./worker-pool.js";

/** A pool of one worker that runs this program. */
async function poolOf(program: string, readyWithinMs?: number): Promise<WorkerPool> {
  const folder = mkdtempSync(join(tmpdir(), "tidegate-workers-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "worker.mjs");
  writeFileSync(file, program);
  const pool = await startWorkers({
    count: 1,
    log: pino({ level: "silent" }),
    args: [],
    file,
    config: {},
    drainMs: 0,
    ...(readyWithinMs !== undefined && { readyWithinMs }),
  });
  onTestFinished(() => pool.close());
  return pool;
}

const isReady = "process.send({ urls: { proxy: String(process.pid) } });";
const endsWhenTold = 'process.on("message", (told) => { if (told.isEnd) process.exit(); });';

/** Kills it and waits, without a turn of the event loop in which its end could be noticed. */
function killUnnoticed(pid: number): void {
  process.kill(pid, "SIGKILL");
  while (!/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "latin1")));
}

it("a worker that dies while it is asked something costs its answer, and no wait for it", async () => {
  const pool = await poolOf(`${isReady} process.on("message", () => process.kill(process.pid, "SIGKILL"));`);
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  expect((await pool.state(0)).notReady).not.toEqual([]);
});

it("a worker that is dead, and not yet known to be, is asked in vain, and nobody else falls", async () => {
  const pool = await poolOf(isReady + endsWhenTold);
  killUnnoticed(Number(pool.urls.proxy));
  expect((await pool.state(0)).notReady).not.toEqual([]);
});

it("a worker that ends before it is ready fails the start", async () => {
  await expect(poolOf("process.exit(3);")).rejects.toThrow(/code 3.*TG_WORKERS_START/);
});

it("a worker that says why it can not start fails the start with that", async () => {
  const program = `process.send({ failure: "No port. [TG_LISTEN]" }); process.on("message", () => {});`;
  await expect(poolOf(program)).rejects.toThrow("No port. [TG_LISTEN]");
});

it("a worker that never gets ready fails the start when its time is over", async () => {
  await expect(poolOf("setInterval(() => {}, 1000);", 300)).rejects.toThrow(/0 of 1.*TG_WORKERS_START/);
});

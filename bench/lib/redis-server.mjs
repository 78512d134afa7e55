import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** The bench's own server: in memory only, on a free port, gone when the bench is. */
export async function startRedis() {
  const found = spawnSync("redis-server", ["--version"], { encoding: "utf8" });
  if (found.error || found.status !== 0) {
    throw new Error(
      "redis-server was not found on PATH. Install it (Debian: apt-get install redis-server), or leave the Redis measures out with --only.",
    );
  }
  const version = /v=(\S+)/.exec(found.stdout)?.[1] ?? "unknown";
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), "tidegate-bench-"));
  const args = [
    "--port",
    port,
    "--bind",
    "127.0.0.1",
    "--save",
    "",
    "--appendonly",
    "no",
    "--dir",
    directory,
  ];
  const child = spawn("redis-server", args.map(String), { stdio: ["ignore", "pipe", "inherit"] });
  const stopNow = () => {
    child.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  };
  process.once("exit", stopNow);
  await new Promise((resolve, reject) => {
    let log = "";
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`redis-server ended with ${code}:\n${log}`)));
    child.stdout.setEncoding("utf8").on("data", (text) => {
      log += text;
      if (log.includes("Ready to accept connections")) resolve();
    });
  });
  return {
    port,
    version,
    pid: child.pid,
    async stop() {
      process.off("exit", stopNow);
      await new Promise((resolve) => {
        child.removeAllListeners("exit");
        child.once("exit", resolve);
        child.kill("SIGTERM");
      });
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, expect, inject, test } from "vitest";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

const source = (path: string) => JSON.stringify(fileURLToPath(new URL(path, import.meta.url)));

/** Asks when told to, all at once, and says how many passed. It closes nothing: an idle store keeps no process alive. */
const script = (servers: string[], prefix: string, limits: string) => `
  import { once } from "node:events";
  import { earrrl } from ${source("../../algorithms/earrrl/earrrl.ts")};
  import { fixedWindow } from ${source("../../algorithms/fixed-window/fixed-window.ts")};
  import { memcachedStore } from ${source("./memcached-store.ts")};
  const store = memcachedStore({ servers: ${JSON.stringify(servers)}, prefix: ${JSON.stringify(prefix)} });
  const checks = ${limits}.map((limit) => ({ rule: "r", key: "k", limit }));
  await store.peek(checks);
  console.log("ready");
  await once(process.stdin, "data");
  process.stdin.destroy();
  const ask = () => store.decide(checks);
  let passed = 0;
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(Array.from({ length: 20 }, ask));
    passed += answers.filter((verdicts) => verdicts.every(({ allowed }) => allowed)).length;
  }
  console.log(passed);
`;

async function line(child: ChildProcess): Promise<string> {
  const [data] = await Promise.race([
    once(child.stdout as NonNullable<ChildProcess["stdout"]>, "data"),
    once(child, "close").then(() => ["it ended"]),
  ]);
  return String(data).trim();
}

test.each([
  ["one limit", `[fixedWindow({ limit: 37, window: "1h", align: "first-hit" })]`],
  [
    "three limits",
    `[fixedWindow({ limit: 37, window: "1h", align: "first-hit" }), fixedWindow({ limit: 90, window: "1d", align: "first-hit" }), earrrl({ rate: 100, halfLife: "1m" })]`,
  ],
])("exactly the limit passes through four processes on one key, for %s", async (_, limits) => {
  const text = script([`127.0.0.1:${inject("memcachedPort")}`], `t:${crypto.randomUUID()}`, limits);
  const started = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ["--import", "tsx", "--input-type=module", "--eval", text], {
      stdio: ["pipe", "pipe", "inherit"],
    }),
  );
  children.push(...started);
  expect(await Promise.all(started.map(line))).toEqual(["ready", "ready", "ready", "ready"]);
  const exits = started.map((child) => once(child, "exit"));
  const counts = started.map(line);
  for (const child of started) child.stdin.write("go\n");
  const passed = (await Promise.all(counts)).map(Number);
  expect(passed.reduce((sum, count) => sum + count, 0)).toBe(37);
  expect(await Promise.all(exits)).toEqual(started.map(() => [0, null]));
});

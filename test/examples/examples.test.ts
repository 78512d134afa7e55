import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";

let child: ChildProcess | undefined;
afterEach(() => child?.kill());

/** Starts an example as a newcomer would, on a free port, and answers where it is. */
async function start(name: string): Promise<string> {
  const file = fileURLToPath(new URL(`../../examples/${name}/server.mjs`, import.meta.url));
  const started = spawn(process.execPath, [file], {
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  child = started;
  for await (const line of createInterface({ input: started.stdout })) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`${name} ended without saying where it is`);
}

async function statuses(count: number, ask: () => Promise<Response>): Promise<number[]> {
  const answers: number[] = [];
  for (let i = 0; i < count; i++) answers.push((await ask()).status);
  return answers;
}

describe("the examples", () => {
  it("hello-node lets 100 calls a minute through, and stops when told", async () => {
    const url = await start("hello-node");
    const answers = await statuses(101, () => fetch(url));
    // A minute may end meanwhile.
    expect(answers.filter((status) => status === 200).length).toBeGreaterThanOrEqual(100);
    child?.kill("SIGTERM");
    const [code] = await once(child as ChildProcess, "exit");
    expect(code).toBe(0);
  });

  it("express-tiers knows customers by tier, and protects its login", async () => {
    const url = await start("express-tiers");
    const items = (key: string) => fetch(`${url}/api/items`, { headers: { "x-api-key": key } });
    expect(await (await items("key-of-bob")).json()).toMatchObject({ tier: "pro" });
    expect(await statuses(12, () => items("key-of-ann"))).toContain(429);
    const guess = () =>
      fetch(`${url}/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ account: "ann", password: "guess" }),
      });
    const guesses = await statuses(8, guess);
    expect(guesses.slice(0, 3)).toEqual([401, 401, 401]);
    expect(guesses).toContain(429);
    expect(await (await fetch(`${url}/why`)).json()).toMatchObject({
      allowed: true,
      words: expect.any(String),
    });
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { MessageChannel } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { Deadlines } from "./deadlines.js";

const never = () => new Promise<never>(() => {});

describe("deadlines", () => {
  it("an answer in time is the answer", async () => {
    const deadlines = new Deadlines(1000);
    expect(await deadlines.race(Promise.resolve(7))).toBe(7);
    await expect(deadlines.race(Promise.reject(new Error("no")))).rejects.toThrow("no");
  });

  it("what does not answer is given up at the deadline, not before", async () => {
    const deadlines = new Deadlines(40);
    const began = performance.now();
    await expect(deadlines.race(never())).rejects.toMatchObject({
      code: "TG_STORE_DEADLINE",
      transient: true,
      message: expect.stringContaining("40 ms"),
    });
    expect(performance.now() - began).toBeGreaterThanOrEqual(40);
  });

  it("tells who raced before it gives up, once, and not when the answer came", async () => {
    const deadlines = new Deadlines(20);
    const told: string[] = [];
    await deadlines.race(Promise.resolve(), () => told.push("answered"));
    await deadlines.race(never(), () => told.push("late")).catch(() => told.push("rejected"));
    await sleep(60);
    expect(told).toEqual(["late", "rejected"]);
  });

  it("an answer after the deadline changes nothing", async () => {
    const deadlines = new Deadlines(10);
    let answer: (value: number) => void = () => {};
    const late = deadlines.race(
      new Promise<number>((resolve) => {
        answer = resolve;
      }),
    );
    await expect(late).rejects.toThrow("TG_STORE_DEADLINE");
    answer(1);
    expect(await deadlines.race(Promise.resolve(2))).toBe(2);
  });

  it("thousands race at once, each against its own deadline", async () => {
    const deadlines = new Deadlines(30);
    const outcomes: string[] = [];
    const race = (answer: Promise<unknown>) =>
      deadlines.race(answer).then(
        () => outcomes.push("answered"),
        () => outcomes.push("late"),
      );
    const first = Array.from({ length: 3000 }, (_, i) => race(i % 3 === 0 ? Promise.resolve() : never()));
    await sleep(15);
    const second = Array.from({ length: 3000 }, () => race(never()));
    await Promise.all(first);
    expect(outcomes.filter((outcome) => outcome === "answered")).toHaveLength(1000);
    await Promise.all(second);
    expect(outcomes.filter((outcome) => outcome === "late")).toHaveLength(5000);
    expect(await deadlines.race(Promise.resolve("still works"))).toBe("still works");
  });

  it("an answer that came while this process stood still is heard", async () => {
    const deadlines = new Deadlines(40);
    const { port1, port2 } = new MessageChannel();
    const answer = new Promise<string>((resolve) => port2.once("message", resolve));
    await new Promise(setImmediate);
    const raced = deadlines.race(answer);
    port1.postMessage("here");
    const wakeAt = performance.now() + 200;
    while (performance.now() < wakeAt);
    expect(await raced).toBe("here");
    port1.close();
  });

  it("a process that stands still again and again does not wait for ever", async () => {
    const deadlines = new Deadlines(20);
    const busy = setInterval(() => {
      const wakeAt = performance.now() + 30;
      while (performance.now() < wakeAt);
    }, 1);
    await expect(deadlines.race(never())).rejects.toThrow("TG_STORE_DEADLINE");
    clearInterval(busy);
  });

  it("one that is reused after resting still keeps its deadline", async () => {
    const deadlines = new Deadlines(20);
    for (let i = 0; i < 3; i++) {
      await expect(deadlines.race(never())).rejects.toThrow("TG_STORE_DEADLINE");
      await sleep(30);
    }
  });
});

describe("a process with a limiter", () => {
  it("ends by itself when nothing is pending, however long it has run", async () => {
    const output = await run(`
      const limiter = createLimiter({ name: "n", limit: "5 per minute" });
      await limiter.consume("k");
      const slow = createLimiter({ name: "s", limit: "5 per minute", store: hungStore, deadlineMs: 20 });
      const { source } = await slow.consume("k");
      await new Promise((resolve) => setTimeout(resolve, 200));
      console.log(source);
    `);
    expect(output.trim()).toBe("local");
  });

  it("does not end while an answer is awaited", async () => {
    const output = await run(`
      const slow = createLimiter({ name: "s", limit: "5 per minute", store: hungStore, deadlineMs: 300 });
      slow.consume("k").then(({ source }) => console.log(source));
    `);
    expect(output.trim()).toBe("local");
  });

  it("keeps no request's async context alive, even when the store never answers", async () => {
    const output = await run(
      `
      import { AsyncLocalStorage } from "node:async_hooks";
      const limiter = createLimiter({ name: "s", limit: "1000 per minute", store: hungStore, deadlineMs: 20, breaker: { failures: 1000 } });
      const requests = new AsyncLocalStorage();
      const collected = [];
      const registry = new FinalizationRegistry((i) => collected.push(i));
      const serve = (i) => {
        const body = { bytes: new Uint8Array(1024 * 1024) };
        registry.register(body, i);
        return requests.run(body, () => limiter.consume("k" + i));
      };
      await Promise.all(Array.from({ length: 200 }, (_, i) => serve(i)));
      for (let i = 0; i < 20 && collected.length < 200; i++) {
        gc();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      console.log(collected.length);
    `,
      ["--expose-gc"],
    );
    expect(Number(output)).toBeGreaterThanOrEqual(198);
  });
});

/** Runs a script that knows `createLimiter` and a store that never answers. Rejects if it does not end by itself. */
async function run(script: string, flags: string[] = []): Promise<string> {
  const library = JSON.stringify(fileURLToPath(new URL("./index.ts", import.meta.url)));
  const child = spawn(
    process.execPath,
    [
      ...flags,
      ...["--import", "tsx", "--input-type=module", "--eval"],
      `import { createLimiter } from ${library};
       const hungStore = { decide: () => new Promise(() => {}) };
       ${script}`,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const patience = setTimeout(() => child.kill("SIGKILL"), 15_000);
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  const [code, signal] = await once(child, "exit");
  clearTimeout(patience);
  if (code !== 0) throw new Error(`ended with ${signal ?? code}: ${output}`);
  return output;
}

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { paced } from "./paced.js";

let done = 0;
const act = async () => void done++;

beforeEach(() => {
  vi.useFakeTimers();
  done = 0;
});
afterEach(() => vi.useRealTimers());

it("the first is done at once", async () => {
  await paced(act, 1_000).run();
  expect(done).toBe(1);
});

it("whoever asks soon after shares one more, when the time has come", async () => {
  const { run } = paced(act, 1_000);
  await run();
  const waiting = Promise.all([run(), run(), run()]);
  await vi.advanceTimersByTimeAsync(999);
  expect(done).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  await waiting;
  expect(done).toBe(2);
});

it("after a rest it is done at once again", async () => {
  const { run } = paced(act, 1_000);
  await run();
  await vi.advanceTimersByTimeAsync(1_000);
  await run();
  expect(done).toBe(2);
});

it("a failure is told to those who waited for it, and to nobody after", async () => {
  let fails = true;
  const { run } = paced(async () => {
    if (fails) throw new Error("down");
    done++;
  }, 1_000);
  await expect(run()).rejects.toThrow("down");
  const waiting = Promise.allSettled([run(), run()]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect((await waiting).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  fails = false;
  const next = run();
  await vi.advanceTimersByTimeAsync(1_000);
  await next;
  expect(done).toBe(1);
});

it("closing does what waits, at once", async () => {
  const { run, close } = paced(act, 60_000);
  await run();
  const waiting = run();
  await close();
  await waiting;
  expect(done).toBe(2);
  await close();
  expect(done).toBe(2);
});

import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { openRhythm } from "./rhythm.js";

it("several wakes while a round is under way are one, and none is lost", async () => {
  let rounds = 0;
  const rhythm = openRhythm(async () => {
    rounds++;
    await sleep(20);
    return { nextInMs: 60_000, restMs: 0 };
  });
  await rhythm.round();
  rounds = 0;
  const first = rhythm.round();
  await sleep(5);
  for (let i = 0; i < 50; i++) rhythm.wake();
  await rhythm.round();
  await first;
  expect(rounds).toBeGreaterThanOrEqual(2);
  expect(rounds).toBeLessThanOrEqual(3);
  await rhythm.close();
});

it("whoever waits for a round gets one that began after he asked", async () => {
  let seen = 0;
  let wish = 0;
  const rhythm = openRhythm(async () => {
    const read = wish;
    await sleep(10);
    seen = read;
    return { nextInMs: 60_000, restMs: 0 };
  });
  for (wish = 1; wish < 10; wish++) {
    rhythm.wake();
    await rhythm.round();
    expect(seen).toBe(wish);
  }
  await rhythm.close();
});

it("closing lets the round under way end, and begins none", async () => {
  let underWay = 0;
  const rhythm = openRhythm(async () => {
    underWay++;
    await sleep(20);
    underWay--;
    return { nextInMs: 0, restMs: 0 };
  });
  await rhythm.round();
  const waiting = rhythm.round();
  await rhythm.close();
  await waiting;
  expect(underWay).toBe(0);
  await rhythm.round();
});

it("however often it is woken, it rests as long as a round says; whoever waits is not kept waiting", async () => {
  const starts: number[] = [];
  const ends: number[] = [];
  const rhythm = openRhythm(async () => {
    starts.push(performance.now());
    await sleep(5);
    ends.push(performance.now());
    return { nextInMs: 60_000, restMs: 50 };
  });
  const waking = setInterval(rhythm.wake, 1);
  await vi.waitFor(() => expect(starts.length).toBeGreaterThan(5), { timeout: 10_000 });
  clearInterval(waking);
  for (let i = 1; i < starts.length && i <= ends.length; i++)
    expect((starts[i] as number) - (ends[i - 1] as number)).toBeGreaterThan(48);
  const before = starts.length;
  for (let i = 0; i < 3; i++) await rhythm.round();
  expect(starts.length).toBe(before + 3);
  await rhythm.close();
});

import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { openRhythm } from "./rhythm.js";

it("several wakes while a round is under way are one, and none is lost", async () => {
  let rounds = 0;
  const rhythm = openRhythm(async () => {
    rounds++;
    await sleep(20);
    return 60_000;
  });
  await rhythm.round();
  rounds = 0;
  rhythm.wake();
  await sleep(5);
  for (let i = 0; i < 50; i++) rhythm.wake();
  await rhythm.round();
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
    return 60_000;
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
    return 0;
  });
  await rhythm.round();
  const waiting = rhythm.round();
  await rhythm.close();
  await waiting;
  expect(underWay).toBe(0);
  await rhythm.round();
});

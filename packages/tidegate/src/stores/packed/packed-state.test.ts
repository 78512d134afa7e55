import fc from "fast-check";
import { Redis } from "ioredis";
import { expect, inject, test } from "vitest";
import { earrrl } from "../../algorithms/earrrl/earrrl.js";
import { fixedWindow } from "../../algorithms/fixed-window/fixed-window.js";
import { maxCells } from "../../limit.js";
import { virtualClock } from "../../testing/virtual-clock.js";
import { redisStore } from "../redis/redis-store.js";
import { endOf, freshState, packState, unpackState } from "./packed-state.js";
import { tagOf } from "./tag.js";

const now = 1_700_000_000_000;
const perMinute = fixedWindow({ limit: 5, window: "1m" });
const perHour = fixedWindow({ limit: 50, window: "1h" });
const flood = earrrl({ rate: 1, halfLife: "10s" });
const limits = [perMinute, perHour, flood];

const time = fc.double({ min: 0, max: 8.64e15, noNaN: true });
const cell = fc.double({ noNaN: true });
const plans = fc.shuffledSubarray(limits, { minLength: 0 });

test("the layout is the one the Lua script reads and writes", () => {
  const state = freshState([perMinute]);
  state.heldUntil = 1;
  state.ends = 2;
  state.cells.set([3, 4]);
  const expected = Buffer.alloc(16 + 4 + 16);
  expected.writeDoubleLE(1, 0);
  expected.writeDoubleLE(2, 8);
  expected.writeUInt32LE(tagOf(perMinute), 16);
  expected.writeDoubleLE(3, 20);
  expected.writeDoubleLE(4, 28);
  expect(packState(state, [perMinute])).toEqual(expected);
});

test("what Redis packed is read", async () => {
  const client = new Redis(inject("redisPort"));
  const prefix = `t:${crypto.randomUUID()}`;
  const store = redisStore({ client, prefix, clock: virtualClock(now) });
  await store.decide([perMinute, perHour].map((limit) => ({ rule: "r", key: "k", limit, cost: 2 })));
  await store.hold("r", "k", 60_000);
  const bytes = (await client.getBuffer(`${prefix}:{k}:r`)) as Buffer;
  client.disconnect();
  const state = unpackState(bytes, [perHour], now);
  expect(state).toMatchObject({ heldUntil: now + 60_000 });
  const hourEnds = (Math.floor(now / 3_600_000) + 1) * 3_600_000;
  expect([...(state?.cells.slice(0, 2) ?? [])]).toEqual([hourEnds, 2]);
  expect(state?.carried).toHaveLength(12 + 16);
  expect(endOf(bytes)).toBe(hourEnds);
});

test("what was packed under one plan is read under any other, and nothing that has not ended is lost", () => {
  const numbers = fc.array(cell, { minLength: 6, maxLength: 6 });
  fc.assert(
    fc.property(plans, plans, plans, time, numbers, (a, b, c, heldUntil, values) => {
      const state = { ...freshState(a), heldUntil, ends: now + 1 };
      a.forEach((_, i) => void state.cells.set(values.slice(i * 2, i * 2 + 2), i * maxCells));
      const once = packState(unpackState(packState(state, a), b, now) ?? freshState(b), b);
      const again = unpackState(once, c, now) ?? freshState(c);
      expect(again).toMatchObject({ heldUntil, ends: now + 1 });
      c.forEach((limit, i) => {
        const was = a.indexOf(limit);
        const expected = was < 0 ? [0, 0] : values.slice(was * 2, was * 2 + 2);
        expect([...again.cells.subarray(i * maxCells, i * maxCells + 2)]).toEqual(expected);
      });
    }),
  );
});

test("a limit no longer in force is carried until the end it had, whatever the others do", () => {
  const before = packState({ ...freshState([perMinute, perHour]), ends: now + 10 }, [perMinute, perHour]);
  const under = unpackState(before, [flood], now) ?? freshState([]);
  expect(under.carried).toHaveLength(2 * 28);
  const later = packState({ ...under, ends: now + 1000 }, [flood]);
  expect(unpackState(later, [flood], now + 9)?.carried).toHaveLength(2 * 28);
  expect(unpackState(later, [flood], now + 10)?.carried).toHaveLength(0);
});

test("bytes of someone else are told apart, never thrown over", () => {
  for (const foreign of ["", "1", "1234567", "aaaaaaaaaaaaaaaa", '{"count":1,"until":12}', "x".repeat(100)]) {
    expect(unpackState(Buffer.from(foreign), limits, now), foreign).toBeUndefined();
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 120 }), (bytes) => {
      expect(unpackState(bytes, limits, now) === undefined).toBe(Number.isNaN(endOf(bytes)));
    }),
  );
});

test("a state cut short or spoilt by a NaN is corrupt", () => {
  const bytes = packState(freshState(limits), limits);
  for (let length = 0; length < bytes.length; length++) {
    const isWhole = length >= 16 && (length - 16) % 20 === 0;
    expect(unpackState(bytes.subarray(0, length), limits, now) === undefined).toBe(!isWhole);
  }
  for (const at of [0, 8, 20, 28]) {
    const spoilt = Buffer.from(bytes);
    spoilt.writeDoubleLE(Number.NaN, at);
    expect(unpackState(spoilt, limits, now)).toBeUndefined();
  }
});

import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ReaderWatch } from "./reader-watch.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function answer(writableLength: number) {
  const res = Object.assign(new EventEmitter(), {
    writableLength,
    isCut: false,
    socket: {
      timeoutMs: -1,
      setTimeout(ms: number) {
        res.socket.timeoutMs = ms;
      },
      /** The end alone would be that of the answer, where nothing else tells it. */
      resetAndDestroy() {
        res.isCut = true;
      },
    },
  });
  return res;
}

it("cuts off a client that takes less than a kilobyte a second", () => {
  const res = answer(64 * 1024);
  new ReaderWatch(res as unknown as ServerResponse, 10_000).expect();
  expect(res.socket.timeoutMs).toBe(10_000);
  vi.advanceTimersByTime(73_900);
  expect(res.isCut).toBe(false);
  vi.advanceTimersByTime(200);
  expect(res.isCut).toBe(true);
});

it("cuts off a client that takes nothing for the idle time", () => {
  const res = answer(64 * 1024);
  new ReaderWatch(res as unknown as ServerResponse, 10_000).expect();
  expect(res.socket.timeoutMs).toBe(10_000);
  expect(res.emit("timeout")).toBe(true);
  expect(res.isCut).toBe(true);
});

it("lets one that keeps to it read as long as it likes", () => {
  const res = answer(64 * 1024);
  const watch = new ReaderWatch(res as unknown as ServerResponse, 10_000);
  for (let i = 0; i < 100; i++) {
    watch.expect();
    vi.advanceTimersByTime(64_000);
    res.emit("drain");
    expect(res.socket.timeoutMs).toBe(0);
    vi.advanceTimersByTime(100_000);
  }
  expect(res.isCut).toBe(false);
});

it("ends with the answer, and leaves the connection's own time-out alone", () => {
  const res = answer(1);
  new ReaderWatch(res as unknown as ServerResponse, 10_000).expect();
  res.emit("close");
  vi.advanceTimersByTime(100_000);
  expect([res.isCut, res.socket.timeoutMs]).toEqual([false, 10_000]);
});

import { expect, it } from "vitest";
import { replayProgress } from "./replay-progress.js";

function watching(isTTY: boolean) {
  let now = 0;
  let written = "";
  const stderr = {
    write(text: string) {
      written += text;
    },
    isTTY,
  };
  const progress = replayProgress({ stderr }, () => now);
  return {
    progress,
    after(ms: number) {
      now += ms;
    },
    written: () => written,
  };
}

const half = { bytes: 50e6, totalBytes: 100e6, requests: 500_000 };

it("a terminal sees bytes, lines a second and the time left, in one line that goes away", () => {
  const { progress, after, written } = watching(true);
  after(2000);
  progress.tell(half);
  expect(written()).toBe(
    "\r████████████░░░░░░░░░░░░ 50 %  50.0 MB of 100.0 MB  250k lines/s  0:02 left\u001b[K",
  );
  progress.close();
  expect(written().endsWith("\r\u001b[K")).toBe(true);
});

it("of a pipe, whose end nobody knows, only what was read is told", () => {
  const { progress, after, written } = watching(true);
  after(1000);
  progress.tell({ ...half, totalBytes: undefined });
  expect(written()).toBe("\r50.0 MB  500k lines/s\u001b[K");
});

it("it is told now and then, and never where no terminal is", () => {
  const often = watching(true);
  for (let i = 0; i < 1000; i++) {
    often.after(1);
    often.progress.tell(half);
  }
  expect(often.written().split("\r")).toHaveLength(6);
  const piped = watching(false);
  piped.after(5000);
  piped.progress.tell(half);
  piped.progress.close();
  expect(piped.written()).toBe("");
});

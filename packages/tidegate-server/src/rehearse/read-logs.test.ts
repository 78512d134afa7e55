import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import type { LoggedRequest } from "./logged-request.js";
import { type LogsRead, type ReadLogsOptions, readLogs } from "./read-logs.js";

function folderOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), "tidegate-logs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

function line(second: number, path = "/", ip = "203.0.113.7"): string {
  const clock = new Date(second * 1000).toISOString().slice(11, 19);
  return `${ip} - - [31/Jan/2026:${clock} +0000] "GET ${path} HTTP/1.1" 200 1 "-" "curl/8"\n`;
}

async function paths(
  options: Omit<ReadLogsOptions, "cwd"> & { cwd?: string },
): Promise<LogsRead & { paths: string[] }> {
  const requests: LoggedRequest[] = [];
  const read = await readLogs({ cwd: "/", ...options }, (request) => void requests.push(request));
  return { ...read, paths: requests.map(({ path }) => path) };
}

it("several logs are one, by time", async () => {
  const cwd = folderOf({
    a: line(1, "/a1") + line(4, "/a4") + line(5, "/a5"),
    b: line(2, "/b2") + line(3, "/b3") + line(9, "/b9"),
    c: line(0, "/c0") + line(6, "/c6"),
    empty: "",
  });
  const read = await paths({ logs: ["a", "b", "c", "empty"], cwd });
  expect(read.paths).toEqual(["/c0", "/a1", "/b2", "/b3", "/a4", "/a5", "/c6", "/b9"]);
  expect(read.input.files.map(({ requests }) => requests)).toEqual([3, 3, 2, 0]);
});

it("lines out of order are put in order within the window", async () => {
  const cwd = folderOf({
    a: line(5, "/5") + line(3, "/3") + line(4, "/4") + line(30, "/30") + line(29, "/29"),
  });
  expect((await paths({ logs: ["a"], cwd })).paths).toEqual(["/3", "/4", "/5", "/29", "/30"]);
  expect((await paths({ logs: ["a"], cwd, windowMs: 0 })).paths[0]).toBe("/5");
});

it("gzip is known by its bytes, whatever the file is called, and several parts in one file are one log", async () => {
  const cwd = folderOf({
    "a.log": Buffer.concat([gzipSync(line(1, "/1")), gzipSync(line(2, "/2"))]),
    "b.gz": line(3, "/3"),
  });
  expect((await paths({ logs: ["a.log", "b.gz"], cwd })).paths).toEqual(["/1", "/2", "/3"]);
});

it("of gzip cut off or damaged what came before is read, and it is told", async () => {
  const packed = gzipSync(Array.from({ length: 20_000 }, (_, i) => line(i, `/${i}`)).join(""));
  const half = Math.floor(packed.length / 2);
  const damaged = Buffer.from(packed).fill(0x55, half, half + 500);
  const cwd = folderOf({ cut: packed.subarray(0, half), damaged, small: gzipSync("x").subarray(0, 11) });
  const cut = await paths({ logs: ["cut"], cwd });
  const bad = await paths({ logs: ["damaged"], cwd });
  for (const { paths: read } of [cut, bad]) {
    expect(read.length).toBeGreaterThan(1000);
    expect(read.length).toBeLessThan(20_000);
    expect(read.slice(0, 1000)).toEqual(Array.from({ length: 1000 }, (_, i) => `/${i}`));
  }
  expect(cut.notes.join()).toContain("cut was not read to its end: its gzip data end in the middle");
  expect(bad.notes.join()).toContain("damaged was not read to its end");
  await expect(paths({ logs: ["small"], cwd })).rejects.toThrow("small (its gzip data end in the middle)");
});

it("lines that can not be read are counted, the first few told, and the others read", async () => {
  const bad = ["nonsense", "\u001b[2J", "\0\0", "\xff\xfe"].map((text) => Buffer.from(`${text}\n`, "latin1"));
  const cwd = folderOf({
    a: Buffer.concat([Buffer.from(line(1)), ...bad, Buffer.from(`${line(2)}\n\n${line(3).trimEnd()}`)]),
  });
  const { input, paths: read } = await paths({ logs: ["a"], cwd });
  expect(read).toHaveLength(3);
  expect(input).toMatchObject({ lines: 9, malformed: 4, skipped: 2 });
  expect(input.samples[0]).toEqual({ file: "a", line: 2, text: "nonsense" });
});

it("a line of megabytes is left out and counted, wherever it stands", async () => {
  const long = "x".repeat(3_000_000);
  for (const text of [
    `${line(1)}${long}\n${line(2)}`,
    `${long}\n${line(1)}${line(2)}`,
    `${line(1)}${line(2)}${long}`,
  ]) {
    const { input, paths: read } = await paths({
      logs: ["a"],
      cwd: folderOf({ a: text }),
      format: "combined",
    });
    expect(read).toHaveLength(2);
    expect(input).toMatchObject({ lines: 3, malformed: 1 });
    expect(input.samples[0]?.text.length).toBeLessThanOrEqual(200);
  }
});

it("a line of up to a megabyte is read, across all chunks", async () => {
  const path = `/${"y".repeat(900_000)}`;
  const { paths: read } = await paths({
    logs: ["a"],
    cwd: folderOf({ a: line(1) + line(2, path) + line(3) }),
  });
  expect(read[1]).toBe(path);
});

it("what is piped in is read byte by byte if it comes so, Windows' line ends and a byte order mark included", async () => {
  const text = `\u{feff}${line(1, "/1").replace("\n", "\r\n")}${line(2, "/2")}`;
  async function* input() {
    for (const byte of Buffer.from(text)) yield Uint8Array.of(byte);
  }
  const read = await paths({ logs: ["-"], input });
  expect(read.paths).toEqual(["/1", "/2"]);
  expect(read.input.files[0]).toMatchObject({ name: "stdin", format: "combined", malformed: 0 });
});

it("every request of a log larger than all buffers is told once", async () => {
  const count = 40_000;
  const text = Array.from({ length: count }, (_, i) => line(i % 86_400, `/${i}`)).join("");
  const { paths: read, input } = await paths({ logs: ["a"], cwd: folderOf({ a: text }) });
  expect(read).toEqual(Array.from({ length: count }, (_, i) => `/${i}`));
  expect(input).toMatchObject({ lines: count, malformed: 0 });
});

it.each([
  ["missing", "There is no such file"],
  ["folder", "It is a folder"],
  ["nonsense", "looks like no log that is known"],
  ["empty", "There is no request in empty"],
  ["comments", "There is no request in comments"],
])("a log that is %s ends in words", async (name, words) => {
  const cwd = folderOf({ nonsense: "what\never\n", empty: "", comments: "#Fields: date time c-ip\n" });
  mkdirSync(join(cwd, "folder"));
  await expect(paths({ logs: [name], cwd })).rejects.toThrow(words);
});

it("a log of which no line can be read as what it is said to be ends in words, also beside others", async () => {
  const cwd = folderOf({ a: line(1), b: "{}\n" });
  await expect(paths({ logs: ["a"], cwd, format: "json" })).rejects.toThrow(
    "No line of a can be read as json",
  );
  await expect(paths({ logs: ["a", "b"], cwd })).rejects.toThrow("b looks like no log");
});

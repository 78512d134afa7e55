import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeFolder } from "./make-folder.js";

const root = mkdtempSync(join(tmpdir(), "tidegate-folder-"));
afterAll(() => rmSync(root, { recursive: true }));

test("a folder is made with those above it, for whom it is meant; one that is there stays", () => {
  makeFolder(join(root, "a/b/c"), 0o700);
  makeFolder(join(root, "a/b/c"));
  for (const path of ["a", "a/b", "a/b/c"]) expect(statSync(join(root, path)).mode & 0o777).toBe(0o700);
});

test.runIf(process.platform === "linux")("where no folder can be, that is said at once", () => {
  expect(() => makeFolder("/proc/nope/x")).toThrow("ENOENT");
});

test("below a file there is no folder", () => {
  writeFileSync(join(root, "file"), "");
  expect(() => makeFolder(join(root, "file/x/y"))).toThrow(/ENOTDIR|EEXIST/);
});

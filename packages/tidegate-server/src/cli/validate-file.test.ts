import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { policyOfFile } from "./policy-of-file.js";
import { isBarePolicy, validateFile } from "./validate-file.js";

const dir = mkdtempSync(join(tmpdir(), "tidegate-validate-"));
afterAll(() => rmSync(dir, { recursive: true }));

test("a policy alone is told from a configuration with one in it", () => {
  expect(isBarePolicy("rules: []")).toBe(true);
  expect(isBarePolicy("policy: { rules: [] }")).toBe(false);
  expect(isBarePolicy("rules: []\nupstreams: []")).toBe(false);
  expect(isBarePolicy("- a")).toBe(false);
});

test("a file of a hundred thousand keys is refused in words, not compared key by key with itself", () => {
  const keys = Array.from({ length: 100_000 }, (_, i) => `k${i}: 1`);
  const file = join(dir, "keys.yaml");
  writeFileSync(file, `a: {${keys.join()}}`);
  expect(() => validateFile(file, { cwd: dir, env: {} })).toThrow(/more than any configuration has to|large/);
});

test.each([
  ["quotes", `a: ${'"'.repeat(500_000)}`],
  ["anchors", "&a ".repeat(200_000)],
])("a file of %s is refused, and not read again and again", (name, text) => {
  const file = join(dir, `${name}.yaml`);
  writeFileSync(file, text);
  expect(() => validateFile(file, { cwd: dir, env: {} })).toThrow(/TG_CONFIG_(?:YAML|LARGE)/);
  expect(() => policyOfFile(file, { cwd: dir, env: {} })).toThrow(/TG_CONFIG_(?:YAML|LARGE)/);
});

test("a slip in a policy alone is told by its line", () => {
  const file = join(dir, "slip.yaml");
  writeFileSync(file, "mode: enforce\nrules: [\n");
  expect(() => validateFile(file, { cwd: dir, env: {} })).toThrow(
    /slip\.yaml:3:1[\s\S]*Close what was opened/,
  );
});

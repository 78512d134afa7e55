import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ConfigProblem } from "./config-file-error.js";
import { loadConfig } from "./load-config.js";
import { parsePolicy } from "./parse-policy.js";
import { presetNames, presetPolicy } from "./preset-policies.js";

const home = new URL("../../", import.meta.url);

describe("policies to start from", () => {
  it.each(presetNames)("%s can be used as it is, with nothing to warn of", (name) => {
    const warnings: ConfigProblem[] = [];
    const { text = "", about } = presetPolicy(name) ?? {};
    const { rules } = parsePolicy(text, { onWarning: (warning) => warnings.push(warning) });
    expect(rules.length).toBeGreaterThan(2);
    expect(warnings).toEqual([]);
    expect(about).toMatch(/^[A-Z].*\.$/);
  });

  it.each(presetNames)("%s as a whole file is a tidegate.yaml with the same policy", (name) => {
    const folder = mkdtempSync(join(tmpdir(), "tidegate-preset-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { text = "", whole = "" } = presetPolicy(name) ?? {};
    const file = join(folder, "tidegate.yaml");
    writeFileSync(file, whole);
    const { warnings, policyText } = loadConfig({ file, env: {} });
    expect(warnings).toEqual([]);
    expect(policyText).toBe(text);
  });

  it("are all that is shipped, and are shipped", () => {
    const files = readdirSync(new URL("presets/", home))
      .filter((file) => file.endsWith(".yaml"))
      .map((file) => file.replace(/\.yaml$/, ""));
    expect(files.sort()).toEqual([...presetNames].sort());
    const { files: packed } = JSON.parse(readFileSync(new URL("package.json", home), "utf8"));
    expect(packed).toContain("presets/*.yaml");
  });

  it("are asked for by name: a name that is a path reads nothing", () => {
    expect(presetPolicy("../package")).toBeUndefined();
    expect(presetPolicy("constructor")).toBeUndefined();
  });
});

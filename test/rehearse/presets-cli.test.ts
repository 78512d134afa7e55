import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { presetNames, presetPolicy } from "../../packages/tidegate-server/src/config/preset-policies.js";
import { tidegate } from "../server/cli-rig.js";
import { temporaryFolder } from "../server/running.js";

it("policy presets lists every preset with what it is for, without a server", async () => {
  const { code, stdout } = await tidegate(["policy", "presets"]);
  expect(code).toBe(0);
  for (const name of presetNames) expect(stdout).toContain(`${presetPolicy(name)?.about}`);
  const told = JSON.parse((await tidegate(["policy", "presets", "--json"])).stdout);
  expect(told.presets.map(({ name }: { name: string }) => name)).toEqual(presetNames);
});

it.each(presetNames)(
  "policy presets %s prints the file as it is, and with --whole one that can be used",
  async (name) => {
    const printed = await tidegate(["policy", "presets", name]);
    expect(printed).toMatchObject({ code: 0, stdout: presetPolicy(name)?.text, stderr: "" });
    const cwd = temporaryFolder();
    const { stdout } = await tidegate(["policy", "presets", name, "--whole"]);
    writeFileSync(join(cwd, "tidegate.yaml"), stdout);
    const valid = await tidegate(["policy", "validate", "tidegate.yaml"], { cwd });
    expect(valid).toMatchObject({ code: 0, stdout: "tidegate.yaml can be used.\n" });
  },
);

it("policy presets of an unknown name, and --whole without a name, say which there are", async () => {
  for (const args of [["sieve"], ["--whole"]]) {
    const { code, stderr } = await tidegate(["policy", "presets", ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain("website, api, login");
  }
});

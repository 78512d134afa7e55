import { readFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { commands, eventually, startTidegate, temporaryFolder } from "../server/running.js";
import { theBrowser } from "./rig.js";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

it("a first-time user blocks an address in the browser by the README's three steps, and takes it back", async () => {
  const steps = readme.slice(readme.indexOf("**Block an address, in a browser**"));
  for (const word of ["`log in`", "*Lists*", "`127.0.0.1`", "*Add*", "*Add anyway*", "403", "*Undo*"])
    expect(steps.slice(0, 800)).toContain(word);

  const demo = await startTidegate({ folder: temporaryFolder(), command: commands.npmStart });
  const link = await eventually(() => /http:[^\s"]+#login=[^\s"]+/.exec(demo.output())?.[0]);
  const status = async () => (await fetch(demo.proxy)).status;
  expect(await status()).toBe(200);

  const context = await (await theBrowser()).newContext();
  onTestFinished(() => context.close());
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole("link", { name: "Lists" }).click();
  await page.getByLabel("Addresses or blocks, one a line").fill("127.0.0.1");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("button", { name: "Add anyway" }).click();
  await page.getByText("127.0.0.1 is on the blocklist.").waitFor();
  expect(await status()).toBe(403);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone.").waitFor();
  expect(await status()).toBe(200);
});

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../server/running.js";
import { startRig, theBrowser } from "./rig.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const file = join(root, "docs", "playground.html");

/** The page as it lies in docs, and every address it asked for. */
async function opened({ width = 1280, isDark = false } = {}): Promise<{ page: Page; asked: string[] }> {
  const context = await (await theBrowser()).newContext({
    viewport: { width, height: 900 },
    colorScheme: isDark ? "dark" : "light",
    offline: true,
  });
  onTestFinished(() => context.close());
  context.setDefaultTimeout(30_000);
  const asked: string[] = [];
  context.on("request", (request) => asked.push(request.url()));
  const page = await context.newPage();
  page.on("pageerror", (error) => {
    throw error;
  });
  page.on("console", (message) => {
    if (message.type() === "error") throw new Error(message.text());
  });
  await page.goto(pathToFileURL(file).href);
  await page.getByRole("heading", { name: "EARRRL playground" }).waitFor();
  await page.locator(".curves canvas").nth(1).waitFor();
  return { page, asked };
}

/** What is drawn, as pictures. */
function curves(page: Page): Promise<string[]> {
  return page.evaluate(
    "[...document.querySelectorAll('.curves canvas')].map((canvas) => canvas.toDataURL())",
  );
}

/** Presses on the middle of a slider and pulls it to a place from 0 to 1. */
async function drag(page: Page, name: string, to: number): Promise<void> {
  const slider = page.getByRole("slider", { name });
  await slider.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await slider.boundingBox()) as NonNullable<
    Awaited<ReturnType<typeof slider.boundingBox>>
  >;
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * to, y + height / 2, { steps: 4 });
  await page.mouse.up();
}

const fact = (page: Page, name: string) => page.locator(".facts div", { hasText: name }).locator("dd");

async function faults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    "axe.run(document)",
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

describe("docs/playground.html", () => {
  it("is what `npm run playground` makes of the sources", async () => {
    const folder = temporaryFolder();
    const config = join(root, "packages/dashboard/vite.playground.config.ts");
    await promisify(execFile)(
      join(root, "node_modules/.bin/vite"),
      [
        "build",
        "--logLevel",
        "error",
        "--config",
        config,
        "--outDir",
        folder,
        join(root, "packages/dashboard"),
      ],
      { cwd: root, env: { PATH: process.env.PATH ?? "" } },
    );
    const made = readFileSync(join(folder, "playground.html"), "utf8");
    expect(made === readFileSync(file, "utf8"), "run npm run playground").toBe(true);
  });

  it("opens from a disk, without a network and without asking for anything else", async () => {
    const { page, asked } = await opened();
    expect(asked).toEqual([pathToFileURL(file).href]);
    expect(await fact(page, "Let in by EARRRL").textContent()).toMatch(/^\d+ of 505 /);
  });

  it.each([
    ["Half-life", 0.9, "Passes at once"],
    ["Rate of the limit", 0.8, "All passes"],
    ["Overage", 0, "Locked out for ever"],
    ["The client sends", 0.6, "Silence needed"],
    ["and from then on", 0.5, "Let in by EARRRL"],
  ])("dragging %s changes the curves and what they say", async (name, to, says) => {
    const { page } = await opened();
    const before = await curves(page);
    const said = await fact(page, says).textContent();
    await drag(page, name, to);
    await expect.poll(() => fact(page, says).textContent(), { timeout: 30_000 }).not.toBe(said);
    await expect.poll(() => curves(page), { timeout: 30_000 }).not.toEqual(before);
    await page.getByRole("button", { name: "As it was" }).click();
    await expect.poll(() => fact(page, says).textContent(), { timeout: 30_000 }).toBe(said);
  });

  it("is worked by keys too, and other traffic and other limits can be chosen", async () => {
    const { page } = await opened();
    await page.getByRole("slider", { name: "Half-life" }).press("ArrowRight");
    await page.getByText("21 s", { exact: true }).waitFor();
    await page.getByLabel("It sends").selectOption("burst-and-wait");
    await page.getByRole("slider", { name: "Calls in a burst" }).waitFor();
    await page.getByLabel("Beside EARRRL").selectOption("token-bucket");
    await page.getByText("Let in by token bucket").waitFor();
  });

  it("is free of faults axe can find, wide and light, narrow and dark, and never wider than the window", async () => {
    for (const options of [{ width: 1280 }, { width: 360, isDark: true }]) {
      const { page } = await opened(options);
      expect(await faults(page)).toEqual([]);
      expect(
        await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
      ).toBe(0);
    }
  });
});

it("the dashboard has it as a page, loaded when it is opened", async () => {
  const rig = await startRig();
  const page = await rig.open("#/playground");
  await page.getByRole("slider", { name: "Half-life" }).waitFor();
  const before = await curves(page);
  await drag(page, "Half-life", 0.9);
  await expect.poll(() => curves(page), { timeout: 30_000 }).not.toEqual(before);
  expect(await faults(page)).toEqual([]);
  expect([...rig.asked]).toEqual([rig.admin]);
});

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import { expect, it, onTestFinished } from "vitest";
import { tidegate } from "../server/cli-rig.js";
import { temporaryFolder } from "../server/running.js";
import { theBrowser } from "./rig.js";

it.each([
  { width: 1280, colorScheme: "light" },
  { width: 360, colorScheme: "dark" },
] as const)(
  "the page of a simulation asks for nothing, and axe finds no fault in it, $width wide and $colorScheme",
  async ({ width, colorScheme }) => {
    const cwd = temporaryFolder();
    expect((await tidegate(["simulate", "reform", "--html", "reform.html"], { cwd })).code).toBe(0);
    const context = await (await theBrowser()).newContext({
      viewport: { width, height: 800 },
      colorScheme,
      bypassCSP: true,
    });
    onTestFinished(() => context.close());
    const asked: string[] = [];
    context.on("request", (request) => asked.push(request.url()));
    const page = await context.newPage();
    const address = pathToFileURL(join(cwd, "reform.html")).href;
    await page.goto(address);
    await page.getByRole("heading", { name: /67 % over the limit/ }).waitFor();
    await page.getByRole("img", { name: /^EARRRL/ }).waitFor();
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate<{ violations: { id: string }[] }>("axe.run(document)");
    expect(violations.map(({ id }) => id)).toEqual([]);
    expect(asked).toEqual([address]);
    expect(
      await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
    ).toBe(0);
  },
);

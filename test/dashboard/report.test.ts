import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import type { Page } from "playwright-core";
import type { RehearsalReport } from "tidegate/simulate";
import { describe, expect, it, onTestFinished } from "vitest";
import { renderReport } from "../../packages/tidegate-server/src/rehearse/render-report.js";
import type { ReplayReport } from "../../packages/tidegate-server/src/rehearse/replay-report.js";
import { temporaryFolder } from "../server/running.js";
import { sampleReport } from "./report-sample.js";
import { theBrowser } from "./rig.js";

/** Would each say so in `window.ran` if anything of it were taken for more than text. */
const hostile = (field: string): string =>
  `</script><script>window.ran='${field}'</script><img src=//example.com/x onerror="window.ran='${field}'"><!-- ${field} \u202e`;

interface Opened {
  readonly page: Page;
  /** Every address that was asked for. */
  readonly asked: readonly string[];
  readonly bytes: number;
}

/** As a person opens the file. */
async function opened(
  report: RehearsalReport,
  options: { width?: number; isDark?: boolean } = {},
): Promise<Opened> {
  const { width = 1440, isDark = false } = options;
  const file = join(temporaryFolder(), "report.html");
  const html = await renderReport(report);
  writeFileSync(file, html);
  const context = await (await theBrowser()).newContext({
    viewport: { width, height: 900 },
    colorScheme: isDark ? "dark" : "light",
  });
  onTestFinished(() => context.close());
  const asked: string[] = [];
  context.on("request", (request) => void asked.push(request.url()));
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (message) => void (message.type() === "error" && problems.push(message.text())));
  page.on("pageerror", (error) => void problems.push(error.message));
  onTestFinished(() => expect(problems).toEqual([]));
  await page.goto(pathToFileURL(file).href);
  await page.getByRole("heading", { level: 1, name: "Rehearsal" }).waitFor();
  return { page, asked, bytes: Buffer.byteLength(html) };
}

/** As `tidegate replay` makes it of logs. */
function readReport(text?: (field: string) => string): ReplayReport {
  const name = (field: string, plain: string) => text?.(field) ?? plain;
  const log = name("log", "access.log");
  const counts = { lines: 1_003, malformed: 2, skipped: 1 };
  const file = { name: log, format: "combined", bytes: 9, requests: 1_000, ...counts };
  return {
    ...sampleReport(text && { text }),
    input: {
      policy: name("policy", "new.yaml"),
      against: name("against", "current.yaml"),
      files: [{ ...file, problem: "It ends in the middle." }],
      ...counts,
      samples: [{ file: log, line: 17, text: name("line", "no request") }],
    },
  };
}

async function faults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
  }>("axe.run(document)");
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 300)} ${failureSummary}`),
  );
}

function tooWide(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}

const firstClients = (page: Page): Promise<string[]> =>
  page.getByRole("region", { name: "Clients refused" }).getByRole("rowheader").allTextContents();

describe("the report as one file", () => {
  it("says in words what would happen, and shows every table and the plot", async () => {
    const { page, asked } = await opened(sampleReport());
    await page
      .getByText("100,000 of 10,000,000 requests would be refused (1 %), from 400 of 250,000 clients.")
      .waitFor();
    await page.getByText("12 clients would be newly refused, with 60,000 requests.").waitFor();
    await page
      .getByText("Worst second at the origin: 700 requests under the policy in force, 300 under this one.")
      .waitFor();
    const tables = [
      "Clients answered otherwise",
      "Before and after",
      "Likely false positives",
      "What each rule did",
      "Clients refused",
      "Suggested limits",
    ];
    for (const name of tables)
      await page.getByRole("region", { name, exact: true }).getByRole("row").nth(1).waitFor();
    await page.getByText("nowhere: No request was theirs").waitFor();
    await page.getByText("generous: They refused nobody").waitFor();
    await page.locator(".chart canvas").waitFor();
    expect(asked.filter((url) => !url.startsWith("file:"))).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  it("shows what was read, and calls the other policy by its file", async () => {
    const { page } = await opened(readReport());
    await page.getByText("700 requests under current.yaml, 300 under this one.").waitFor();
    await page.getByRole("columnheader", { name: "Against current.yaml" }).waitFor();
    await page.getByText("Policy new.yaml against current.yaml").waitFor();
    await page.getByText("Refused by current.yaml").waitFor();
    const logs = page.getByRole("region", { name: "Logs" });
    expect(await logs.getByRole("row").nth(1).locator("th, td").allTextContents()).toEqual([
      "access.log",
      "combined",
      "1,003",
      "1,000",
      "2",
      "1",
      "It ends in the middle.",
    ]);
    await page.getByText("Lines that could not be read, the first 1 of 2:").waitFor();
    await page.getByText("access.log:17").waitFor();
    expect(await page.getByText("in force").count()).toBe(0);
    expect(await faults(page)).toEqual([]);
  });

  it("shows names of files and lines that could not be read as text", async () => {
    const { page } = await opened(readReport(hostile));
    for (const field of ["policy", "against", "log", "line"])
      await page.getByText(`window.ran='${field}'`).first().waitFor();
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(await page.locator("main").textContent()).not.toContain("\u202e");
  });

  it("runs nothing that others wrote, asks nobody, and makes what hides visible", async () => {
    const { page, asked } = await opened(sampleReport({ text: hostile }));
    await page.locator(".chart canvas").waitFor();
    for (const field of ["rule", "client", "userAgent", "changed", "suspect", "words", "note", "suggestion"])
      await page.getByText(`window.ran='${field}'`).first().waitFor();
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(await page.locator("main img, main script, main iframe").count()).toBe(0);
    expect(await page.locator("main").textContent()).not.toContain("\u202e");
    expect(asked).toHaveLength(1);
  });

  it("would ask no host and run no other script even if a text were taken for HTML", async () => {
    const { page } = await opened(sampleReport());
    let asked = 0;
    const elsewhere = createServer((_, res) => {
      asked++;
      res.end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void elsewhere.close());
    const url = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
    page.removeAllListeners("console"); // the browser tells of every refusal
    const refused = await page.evaluate<string[]>(`(async () => {
      const refused = new Set();
      addEventListener("securitypolicyviolation", ({ effectiveDirective }) => refused.add(effectiveDirective));
      const box = document.createElement("div");
      box.innerHTML = '<img src="${url}/x.png"><iframe src="${url}"></iframe><b onclick="window.ran=1">x</b>';
      document.body.append(box);
      box.querySelector("b").click(); // some browsers look at a handler only then
      const script = document.createElement("script");
      script.textContent = "window.ran=2";
      document.body.append(script);
      await fetch("${url}").catch(() => {});
      while (refused.size < 5) await new Promise((resolve) => setTimeout(resolve, 20));
      return [...refused].sort();
    })()`);
    expect(refused).toEqual(["connect-src", "frame-src", "img-src", "script-src-attr", "script-src-elem"]);
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(asked).toBe(0);
  });

  it("clients are sorted by any column and found by a part of what is known of them, by keyboard alone", async () => {
    const { page } = await opened(sampleReport());
    expect((await firstClients(page))[0]).toContain("203.0.113.0");
    const sort = page.getByRole("button", { name: "Refused", exact: true });
    await sort.focus();
    await page.keyboard.press("Enter");
    expect((await firstClients(page))[0]).toContain("203.0.113.11");
    expect(
      await page.getByRole("columnheader", { name: "Refused", exact: true }).last().getAttribute("aria-sort"),
    ).toBe("ascending");
    await page.getByLabel("Find among them").fill("113.7");
    expect(await firstClients(page)).toHaveLength(1);
    await page.getByLabel("Find among them").fill("nobody at all");
    await page.getByText("None of them.").waitFor();
  });

  it("the plot tells the numbers under the pointer, zooms by a drag and by buttons, and its lines are switched off", async () => {
    const { page } = await opened(sampleReport());
    const over = page.locator(".u-over");
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    if (box === null) throw new Error("there is no plot");
    const label = (): Promise<string | null> => page.locator(".point").textContent();
    await page.mouse.move(box.x + 2, box.y + 50);
    await expect.poll(label).toContain("2026-01-31 12:00:00 UTC");
    await page.mouse.move(box.x + box.width * 0.5, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 50, { steps: 5 });
    await page.mouse.up();
    await page.mouse.move(box.x + 2, box.y + 50);
    await expect.poll(label).toMatch(/2026-01-31 (12:59|13:0)/);
    await page.getByRole("button", { name: "Show all" }).click();
    await page.mouse.move(box.x + 3, box.y + 50);
    await expect.poll(label).toContain("2026-01-31 12:00:00 UTC");
    const drawn = (): Promise<string> => page.evaluate("document.querySelector('.chart canvas').toDataURL()");
    const all = await drawn();
    await page.getByRole("checkbox", { name: "Requests" }).uncheck();
    await expect.poll(drawn).not.toBe(all);
  });

  it("is free of faults axe can find, wide and light, narrow and dark, and never wider than the window", async () => {
    const wide = await opened(sampleReport({ text: hostile }));
    expect(await faults(wide.page)).toEqual([]);
    expect(await tooWide(wide.page)).toBe(0);
    const narrow = await opened(sampleReport({ text: hostile }), { width: 360, isDark: true });
    expect(await tooWide(narrow.page)).toBe(0);
    expect(await faults(narrow.page)).toEqual([]);
  });

  it("is printed black on white, with whole tables and without what can only be clicked", async () => {
    const { page } = await opened(sampleReport(), { isDark: true });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    expect(await page.getByRole("button", { name: "Zoom in" }).isVisible()).toBe(false);
    expect(await page.getByLabel("Find among them").isVisible()).toBe(false);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
    expect(await page.evaluate("getComputedStyle(document.body).color")).toBe("rgb(0, 0, 0)");
    expect(await page.evaluate("getComputedStyle(document.querySelector('.sideways')).overflowX")).toBe(
      "visible",
    );
    await page.locator(".chart canvas").waitFor();
    expect((await page.pdf()).length).toBeGreaterThan(10_000);
  });

  it("of 10 million requests, with 100 rules and long hostile texts everywhere, stays below 2 MB", async () => {
    const text = (field: string) => hostile(field).padEnd(200, "<").slice(0, 200);
    const { page, bytes } = await opened(sampleReport({ rules: 100, clients: 50, points: 600, text }));
    expect(bytes).toBeLessThan(2_000_000);
    await page.locator(".chart canvas").waitFor();
  });

  it("says so when there was no request", async () => {
    const { from: _, to: __, ...rest } = sampleReport();
    const { page } = await opened({ ...rest, requests: 0 });
    await page.getByText("There was no request to rehearse with.").waitFor();
    expect(await faults(page)).toEqual([]);
  });
});

// Dashboards in a real Chromium, in a process of their own and of the lowest priority: on a small machine the load shares its core with
// them.
import { constants, setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { chromium } from "playwright-core";
import { answerParent } from "./child.mjs";
import { CHROMIUM } from "./chromium.mjs";
import { pinOthers } from "./pinning.mjs";

let started;
const windows = [];

async function startBrowser() {
  const server = await chromium.launchServer({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  const { pid } = server.process();
  pinOthers(pid);
  setPriority(pid, constants.priority.PRIORITY_LOW);
  process.once("exit", () => server.process().kill("SIGKILL"));
  return chromium.connect(server.wsEndpoint());
}

/** A window of its own, signed in. */
async function openWindow({ admin, token }) {
  started ??= startBrowser();
  const browser = await started;
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${admin}/v1/login-codes`, { method: "POST", headers, body: "{}" });
  if (!answer.ok) throw new Error(`no login code: ${await answer.text()}`);
  const { code } = await answer.json();
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  await page.goto(`${admin}/#login=${code}`);
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  windows.push(context);
  return page;
}

/** So many more, each on the overview. */
async function open({ count, ...server }) {
  for (let i = 0; i < count; i++) await openWindow(server);
}

async function close() {
  for (const context of windows.splice(0)) await context.close();
}

/** What each task of the page's main thread took in Chromium's own trace, in milliseconds, while `act` went on. */
async function traceTasks(page, act) {
  const session = await page.context().newCDPSession(page);
  const events = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories: ["toplevel", "disabled-by-default-devtools.timeline", "__metadata"] },
  });
  await act();
  const isDone = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  await session.send("Tracing.end");
  await isDone;
  await session.detach();
  const mains = new Set(
    events
      .filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  return events
    .filter(({ name, pid, tid }) => /RunTask$/.test(name) && mains.has(`${pid} ${tid}`))
    .map(({ dur = 0 }) => dur / 1000);
}

/** As a person does: to the end and back, and a few letters into the first field there is. */
async function use(page) {
  await page.mouse.wheel(0, 20_000);
  await pause(300);
  await page.mouse.wheel(0, -20_000);
  const field = page.locator("main input:visible, main textarea:visible").first();
  if ((await field.count()) > 0) await field.pressSequentially("20.0.1", { delay: 50 });
}

/** The longest task while a page is opened and used for so long, and the share of that time in which there was one. */
async function watch({ place, ms, ...server }) {
  const page = await openWindow(server);
  const tasks = await traceTasks(page, async () => {
    await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
    await pause(ms / 2);
    await use(page);
    await pause(ms / 2);
  });
  await close();
  return { longestMs: Math.max(...tasks), busyShare: tasks.reduce((sum, each) => sum + each, 0) / ms };
}

answerParent({ open, close, watch });

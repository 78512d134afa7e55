import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EdgesRig, type FrontName, openEdgesRig, type Visit, type Visited } from "./edges-rig.js";
import { eventually } from "./running.js";

const tool = "sqlmap/1.4#stable (http://sqlmap.org)";
const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/** Visits again and again until the front itself refuses; answers how often it got through. */
async function untilRefused(rig: EdgesRig, front: FrontName, visit: (i: number) => Visit): Promise<number> {
  for (let i = 0; i < 2_000; i++) if ((await rig.visit(front, visit(i))).isRefusedThere) return i;
  throw new Error("never refused");
}

const untilPassing = (rig: EdgesRig, front: FrontName, visit: Visit): Promise<Visited> =>
  eventually(async () => {
    const visited = await rig.visit(front, visit);
    return visited.status === 200 ? visited : undefined;
  });

/** Every test has clients of its own, so all can share the servers. */
let rig: EdgesRig;
const closes: (() => unknown)[] = [];

beforeAll(async () => {
  rig = await openEdgesRig({ rules: ownRule, after: (close) => closes.push(close) });
}, 60_000);

afterAll(async () => {
  for (const close of closes.reverse()) await close();
});

/** A rule of the policy that tells the edges too, by address, and not for long. */
const ownRule =
  "[{ name: short, only: /short, by: ip, limits: [5 per 2s], hold: { for: 3s, everywhere: true }, edges: true }]";

/** Another address each time it is asked for one. */
let clients = 0;
const client = (): string => `203.0.113.${++clients}`;

describe.each(["haproxy", "varnish"] as const)("through %s", (front) => {
  test("a scraper is refused on every path, a browser that reads as much is not", {
    timeout: 60_000,
  }, async () => {
    const path = (i: number) => `/page-${i % 60}`;
    const scraper = { address: client(), userAgent: tool };
    await untilRefused(rig, front, (i) => ({ ...scraper, path: path(i) }));
    const seen = rig.app.seen.length;
    for (let i = 0; i < 20; i++)
      expect(await rig.visit(front, { ...scraper, path: `/never-seen-${i}` })).toMatchObject({
        isRefusedThere: true,
      });
    expect(rig.app.seen.length).toBe(seen);
    for (let i = 0; i < 120; i++)
      expect((await rig.visit(front, { ...scraper, userAgent: browser, path: path(i) })).status).toBe(200);
  });

  test("who guesses passwords is refused there, and may read elsewhere", { timeout: 60_000 }, async () => {
    const guess = { address: client(), method: "POST", path: "/login", userAgent: browser };
    await untilRefused(rig, front, () => guess);
    const refused = await rig.visit(front, guess);
    expect(refused.head).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n/);
    expect(Number(/^retry-after: (\d+)\r?$/im.exec(refused.head)?.[1])).toBeGreaterThan(1);
    expect(refused.head).toMatch(/^content-type: text\/html\r?$/im);
    expect(refused.head).toMatch(/^cache-control: no-store\r?$/im);
    expect((await rig.visit(front, { ...guess, method: "GET", path: "/" })).status).toBe(200);
    expect((await rig.visit(front, { ...guess, address: client() })).status).toBe(200);
  });

  test("of 200 browsers behind one address only the one that floods is held", {
    timeout: 60_000,
  }, async () => {
    const address = client();
    const of = (i: number): Visit => ({
      address,
      path: "/search",
      userAgent: `${browser} ${i}`,
    });
    await untilRefused(rig, front, () => of(0));
    const answers = await Promise.all(
      Array.from({ length: 199 }, (_, i) => rig.visit(front, of(i + 1)).then(({ status }) => status)),
    );
    expect(answers.every((status) => status === 200)).toBe(true);
    expect((await rig.visit(front, of(0))).isRefusedThere).toBe(true);
  });

  test("who calms down is let in again, by itself", { timeout: 60_000 }, async () => {
    // A method that is not tracked: only its own rule holds it.
    const flood = { address: client(), method: "PUT", path: "/short", userAgent: browser };
    await untilRefused(rig, front, () => flood);
    await untilPassing(rig, front, flood);
  });

  test("support lifts a hold, and turns the edge off and on", { timeout: 60_000 }, async () => {
    const flood = { address: client(), path: "/feed", userAgent: browser };
    await untilRefused(rig, front, () => flood);
    const shown = await rig.tidegate("why", flood.address);
    expect(shown.stdout).toContain("edge/standard");

    expect(await rig.tidegate("edge", "off", front, "--why", "a drill")).toMatchObject({ code: 0 });
    expect((await untilPassing(rig, front, flood)).head).not.toMatch(/tidegate-edge/i);
    expect(await rig.tidegate("edge", "on", front)).toMatchObject({ code: 0 });
    await eventually(async () => (await rig.visit(front, flood)).isRefusedThere || undefined);

    expect(await rig.tidegate("client", "clear", flood.address)).toMatchObject({ code: 0 });
    expect((await rig.visit(front, flood)).status).toBe(200);
  });

  test("what a client says of itself lifts no hold and makes none", { timeout: 60_000 }, async () => {
    const flood = { address: client(), path: "/feed", userAgent: browser };
    await untilRefused(rig, front, () => flood);
    for (const lie of [
      "X-Reject: false",
      "X-Forwarded-For: 127.0.0.1",
      "X-Real-IP: 10.0.0.1",
      "Tidegate-Edge: off",
    ])
      expect((await rig.visit(front, { ...flood, headers: [lie] })).isRefusedThere, lie).toBe(true);
    const other = {
      ...flood,
      address: client(),
      headers: ["X-Reject: true", `X-Forwarded-For: ${flood.address}`],
    };
    expect((await rig.visit(front, other)).status).toBe(200);
  });
});

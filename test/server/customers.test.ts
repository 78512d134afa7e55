import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { httpSource } from "../../packages/tidegate-server/src/customers/http-source.js";
import { Secret } from "../../packages/tidegate-server/src/secret.js";
import type { CustomerSourceSettings } from "../../packages/tidegate-server/src/settings.js";
import { type ChildServer, faultProxy, startPostgres } from "../servers/index.js";
import {
  answer,
  everyMs,
  httpPrimary,
  opened,
  type Primary,
  passing,
  postgresPrimary,
  serving,
  sqlitePrimary,
} from "./customers-support.js";
import { eventually, temporaryFolder } from "./running.js";

let postgres: ChildServer;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

const primaries: [string, () => Promise<Primary>][] = [
  ["PostgreSQL", () => postgresPrimary(postgres)],
  ["a SQLite file", async () => sqlitePrimary()],
  ["HTTP, page by page", httpPrimary],
];

describe.each(primaries)("customers of %s", (_name, start) => {
  it("are known before the first request, follow every change there, and go when they go there", async () => {
    const primary = await start();
    for (const id of ["a", "b", "c", "d", "e"]) await primary.put(id, "pro");
    await primary.put("own", "pro", { 3600: 7 });
    const { book, gate, data } = await opened(primary.settings);
    expect(book.status()).toMatchObject({ pulled: 6, rejectedRows: 0, pending: 0 });
    expect(await passing(gate, "a")).toBe(4);
    expect(await passing(gate, "own")).toBe(7);
    expect(await passing(gate, "stranger")).toBe(2);

    await data.directory.putCustomer("local", { tier: "pro" });
    await primary.put("b", "free");
    await primary.remove("c");
    await eventually(async () => (await book.get("b"))?.tier === "free" || undefined);
    await eventually(async () => (await book.get("c")) === undefined || undefined);
    expect(await passing(gate, "b")).toBe(2);
    expect(await book.get("local"), "those that did not come from there stay").toEqual({ tier: "pro" });
  });

  it("are changed in both places, and a change holds for the next request", async () => {
    const primary = await start();
    await primary.put("acme/1 ü", "free");
    const { book, gate, data } = await opened(primary.settings);
    expect(await book.setTier("acme/1 ü", "pro")).toEqual({ state: "done" });
    expect(await primary.get("acme/1 ü")).toEqual({ id: "acme/1 ü", tier: "pro", limits: null });
    expect(await passing(gate, "acme/1 ü")).toBe(4);

    await book.setLimits("acme/1 ü", { 60: 6, 3600: 1000 });
    expect(await primary.get("acme/1 ü")).toMatchObject({ tier: "pro", limits: { 60: 6, 3600: 1000 } });
    expect(await book.get("acme/1 ü")).toEqual({
      tier: "pro",
      limits: new Map([
        [60, 6],
        [3600, 1000],
      ]),
    });

    await book.setLimits("acme/1 ü", undefined);
    await book.setTier("acme/1 ü", undefined);
    expect(await primary.get("acme/1 ü")).toEqual({ id: "acme/1 ü", tier: null, limits: null });
    expect(await book.get("acme/1 ü")).toBeUndefined();
    expect(await data.pending.all()).toEqual([]);
  });

  it("are not changed anywhere when the tier is unknown, or the primary database says no", async () => {
    const primary = await start();
    await primary.put("a", "free");
    const { book, data, gate } = await opened(primary.settings);
    await expect(book.setTier("a", "gold")).rejects.toMatchObject({ code: "TG_TIER_UNKNOWN" });
    await expect(book.setTier("", "pro")).rejects.toMatchObject({ code: "TG_CUSTOMER_ID" });
    await expect(book.setLimits("a", { 0.5: 1 })).rejects.toMatchObject({ code: "TG_OVERRIDE" });
    await expect(book.setLimits("a", { 60: -1 })).rejects.toMatchObject({ code: "TG_OVERRIDE" });
    await expect(book.setTier("nobody", "pro")).rejects.toMatchObject({ code: "TG_CUSTOMERS_REFUSED" });

    gate.update({ ...gate.policy, tiers: { ...gate.policy.tiers, forbidden: ["9 per hour"] } });
    await expect(book.setTier("a", "forbidden")).rejects.toMatchObject({ code: "TG_CUSTOMERS_REFUSED" });
    expect(await book.get("a")).toEqual({ tier: "free" });
    expect(await book.get("nobody")).toBeUndefined();
    expect(await primary.get("a")).toMatchObject({ tier: "free" });
    expect(await data.pending.all()).toEqual([]);
  });

  it("are limited on as last known with it down, and a change is refused clearly", async () => {
    const primary = await start();
    await primary.put("a", "pro");
    const dir = temporaryFolder();
    const first = await opened(primary.settings, dir);
    await primary.stop();
    await eventually(() => first.book.status().failure);
    expect(await passing(first.gate, "a")).toBe(4);
    await expect(first.book.setTier("a", "free")).rejects.toMatchObject({ code: "TG_CUSTOMERS_UNREACHABLE" });
    expect(await first.book.get("a")).toEqual({ tier: "pro" });
    await first.close();

    const again = await opened(primary.settings, dir);
    expect(again.book.status().failure).toBeTruthy();
    expect(again.book.status().pulledAt).toBeUndefined();
    expect(await passing(again.gate, "a")).toBe(4);
    expect(again.warnings).toHaveLength(1);
  });

  it("with senseless rows are counted and left as they were, and the others come", async () => {
    const primary = await start();
    await primary.put("a", "pro");
    await primary.put("b", "pro");
    const { book, warnings } = await opened(primary.settings);
    await primary.put("a", "\u001b[31m tier with spaces and an escape");
    await primary.put("b", "pro", { 60: 1e300 });
    await primary.put("c", "platinum");
    await primary.put("d", "pro", Object.fromEntries(Array.from({ length: 50 }, (_, i) => [i + 1, 1])));
    await primary.put("x".repeat(1025), "pro");
    await primary.put("z", "free");
    await eventually(async () => (await book.get("z"))?.tier);
    await eventually(() => book.status().rejectedRows === 4 || undefined);
    expect(book.status()).toMatchObject({ rejectedRows: 4, unknownTiers: 1 });
    expect(warnings.join()).toContain('"tier":"platinum"');
    expect(await book.get("a")).toEqual({ tier: "pro" });
    expect(await book.get("b")).toEqual({ tier: "pro" });
    expect(await book.get("c"), "a tier the policy may have tomorrow").toEqual({ tier: "platinum" });
    expect(await book.get("d")).toBeUndefined();
  });

  it("are kept when all of them are suddenly gone", async () => {
    const primary = await start();
    await primary.put("a", "pro");
    const { book, warnings } = await opened(primary.settings);
    await primary.remove("a");
    await eventually(() => warnings.find((words) => words.includes("nobody is removed")));
    expect(await book.get("a")).toEqual({ tier: "pro" });
  });
});

describe("the request's way", () => {
  it("never asks the source", async () => {
    let asked = 0;
    const { url } = await serving((_req, res) => {
      asked++;
      answer(res, 200, asked % 2 === 1 ? [{ id: "a", tier: "pro" }] : []);
    });
    const { gate } = await opened({ kind: "http", url, everyMs: 3_600_000 });
    const before = asked;
    await Promise.all(Array.from({ length: 50 }, (_, i) => passing(gate, `customer ${i}`)));
    expect(asked).toBe(before);
  });
});

describe("a source that hangs", () => {
  it("does not keep a server from starting and stopping", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const settings: CustomerSourceSettings = { kind: "http", url: `http://127.0.0.1:${port}/`, everyMs };
    const started = Date.now();
    const { close } = await opened(settings);
    await close();
    expect(Date.now() - started).toBeLessThan(9_000);
  });
});

describe("a database that falls silent in the middle of a change", () => {
  it.each([
    ["whose connection breaks", true],
    ["that keeps the row locked", false],
  ])("%s leaves the change noted, which is made as soon as it speaks again", async (_name, breaks) => {
    const proxy = await faultProxy(postgres.port);
    onTestFinished(() => proxy.stop());
    const client = new pg.Client(postgres.url);
    await client.connect();
    onTestFinished(() => client.end());
    await client.query("DROP TABLE IF EXISTS customers");
    await client.query("CREATE TABLE customers (id text PRIMARY KEY, tier text, limits text)");
    await client.query("INSERT INTO customers VALUES ('a', 'free')");
    const { book, data } = await opened({
      kind: "sql",
      url: new Secret(`postgres://postgres@127.0.0.1:${proxy.port}/postgres`),
      select: "SELECT id, tier FROM customers;",
      update: "UPDATE customers SET tier = $2, limits = $3 WHERE id = $1",
      everyMs: 200,
    });
    await client.query("BEGIN");
    await client.query("SELECT * FROM customers WHERE id = 'a' FOR UPDATE");
    const writing = book.setTier("a", "pro");
    await eventually(async () => (await data.pending.all()).length === 1 || undefined);
    await eventually(async () => {
      const { rows } = await client.query("SELECT 1 FROM pg_locks WHERE NOT granted");
      return rows.length > 0 || undefined;
    });
    if (breaks) proxy.cut();
    const silentSince = performance.now();
    expect(await writing).toEqual({ state: "pending" });
    expect(performance.now() - silentSince, "the command gives up after ten seconds").toBeLessThan(9_000);
    expect(book.status().pending).toBe(1);
    expect(await book.get("a")).toEqual({ tier: "free" });
    await client.query("ROLLBACK");
    await eventually(async () => (await book.get("a"))?.tier === "pro" || undefined);
    expect((await client.query("SELECT tier FROM customers")).rows).toEqual([{ tier: "pro" }]);
    await eventually(async () => (await data.pending.all()).length === 0 || undefined);
  });
});

describe("noted changes", () => {
  it("of one customer: the newest holds, and what the primary database refuses is dropped for the one before", async () => {
    const primary = sqlitePrimary();
    await primary.put("a", "free");
    await primary.put("b", "free");
    const dir = temporaryFolder();
    const first = await opened(undefined, dir);
    await first.data.pending.add({ customer: "a", tier: "free", limits: { 60: 1 } });
    await first.data.pending.add({ customer: "a", tier: "pro" });
    await first.data.pending.add({ customer: "b", tier: "pro" });
    await first.data.pending.add({ customer: "b", tier: "forbidden" });
    await first.close();
    const { book, data, warnings } = await opened(primary.settings, dir);
    expect(await primary.get("a")).toMatchObject({ tier: "pro", limits: null });
    expect(await primary.get("b")).toMatchObject({ tier: "pro" });
    expect(await book.get("a")).toEqual({ tier: "pro" });
    expect(await book.get("b")).toEqual({ tier: "pro" });
    expect(await data.pending.all()).toEqual([]);
    expect(warnings.filter((words) => words.includes("dropped"))).toHaveLength(1);
  });

  it("that can not be finished keep nobody else waiting", async () => {
    const rows = new Map([
      ["bad", "free"],
      ["good", "free"],
    ]);
    const { url } = await serving((req, res) => {
      if (req.method !== "PUT")
        return answer(
          res,
          200,
          req.url?.includes("after") ? [] : [...rows].map(([id, tier]) => ({ id, tier })),
        );
      if (req.url?.endsWith("/bad")) return answer(res, 500, {});
      rows.set("good", "pro");
      return answer(res, 204);
    });
    const dir = temporaryFolder();
    const first = await opened(undefined, dir);
    await first.data.pending.add({ customer: "bad", tier: "pro" });
    await first.data.pending.add({ customer: "good", tier: "pro" });
    await first.close();
    rows.set("new", "pro");
    const { book, data } = await opened({ kind: "http", url, everyMs: 60_000 }, dir);
    expect(book.status()).toMatchObject({ pulled: 3, pending: 1 });
    expect(await book.get("good")).toEqual({ tier: "pro" });
    expect(await book.get("new")).toEqual({ tier: "pro" });
    expect(await data.pending.all()).toMatchObject([{ customer: "bad" }]);
  });

  it("are not undone by a pull, nor is a change made while one is under way", async () => {
    let tier = "free";
    const held: (() => void)[] = [];
    let holds = false;
    const { url } = await serving((req, res) => {
      if (req.method === "PUT") {
        tier = "pro";
        return answer(res, 204);
      }
      const rows = req.url?.includes("after") ? [] : [{ id: "a", tier }];
      if (holds && rows.length > 0) return held.push(() => answer(res, 200, rows));
      return answer(res, 200, rows);
    });
    const { book } = await opened({ kind: "http", url, everyMs });
    holds = true;
    const sendStale = await eventually(() => held[0]);
    await book.setTier("a", "pro");
    const { pulledAt } = book.status();
    holds = false;
    sendStale();
    await eventually(() => book.status().pulledAt !== pulledAt || undefined);
    expect(await book.get("a")).toEqual({ tier: "pro" });
  });
});

describe("an HTTP source", () => {
  it("that can not be connected to was not reached: nobody has to wonder whether it made the change", async () => {
    const source = httpSource({ url: await deafUrl() });
    onTestFinished(() => source.close());
    await expect(source.write("a", { tier: "pro" })).rejects.toMatchObject({ outcome: "unreached" });
  });

  it("that knows no pages and answers the same list each time has no row left out", async () => {
    let asked = 0;
    const { url } = await serving((_req, res) => {
      asked++;
      answer(res, 200, [
        { id: "a", tier: "pro" },
        { id: "b", tier: "free" },
      ]);
    });
    const { book, warnings } = await opened({ kind: "http", url, everyMs: 60_000 });
    expect(book.status()).toMatchObject({ pulled: 2, rejectedRows: 0 });
    expect(await book.get("a")).toEqual({ tier: "pro" });
    expect(warnings).toEqual([]);
    expect(asked).toBe(2);
  });

  it("that ends a page with a row without an id has not ended: nobody behind it is removed", async () => {
    const tier = "pro";
    let last: object = { id: "b", tier };
    const { url } = await serving((req, res) => {
      const after = new URL(req.url as string, "http://x").searchParams.get("after");
      if (after === null) return answer(res, 200, [{ id: "a", tier }, last]);
      return answer(res, 200, after === "b" ? [{ id: "c", tier }] : []);
    });
    const { book } = await opened({ kind: "http", url, everyMs });
    expect(book.status().pulled).toBe(3);
    last = { id: null, tier };
    expect(await eventually(() => book.status().failure)).toContain("without an id");
    for (const id of ["b", "c"]) expect(await book.get(id)).toEqual({ tier });
  });

  it("that answers no list is told what a list has", async () => {
    const { url } = await serving((_req, res) => answer(res, 200, { customers: [] }));
    const { book } = await opened({ kind: "http", url, everyMs: 60_000 });
    expect(book.status().failure).toContain("a list of {id, tier, limits}");
  });
});

describe("a hostile HTTP source", () => {
  it.each([
    ["a page without end", () => "[".padEnd(17_000_000, " ")],
    ["no JSON", () => "<html>"],
    ["no list", () => '{"id":1}'],
    ["another page for ever", () => JSON.stringify([{ id: "a" }, null, 7, [], { id: {} }, { id: "a" }])],
  ])("that answers %s is survived", async (_name, body) => {
    const { url } = await serving((_req, res) => {
      res.end(body());
    });
    const { book } = await opened({ kind: "http", url, everyMs: 60_000 });
    expect(book.status().failure ?? book.status().rejectedRows).toBeTruthy();
  });

  it("gets the token at its own address only", async () => {
    const seen: (string | undefined)[] = [];
    const other = await serving((req, res) => {
      seen.push(req.headers.authorization);
      answer(res, 200, []);
    });
    const { url } = await serving((_req, res) => res.writeHead(302, { Location: other.url }).end());
    const { book } = await opened({ kind: "http", url, token: new Secret("hush"), everyMs: 60_000 });
    expect(book.status().failure).toContain("302");
    expect(seen).toEqual([]);
    await expect(book.setTier("..", "pro")).rejects.toMatchObject({ code: "TG_CUSTOMERS_REFUSED" });
  });
});

describe("settings", () => {
  it("that name no known database can not work", async () => {
    const url = new Secret("mysql://root@127.0.0.1/x");
    const update = "UPDATE c SET tier = $2 WHERE id = $1";
    const source = { kind: "sql", url, select: "SELECT 1", update, everyMs } as const;
    await expect(opened(source)).rejects.toMatchObject({
      code: "TG_CUSTOMERS_SOURCE",
      path: "customers.source.url",
    });
  });

  it("never show the database's password", async () => {
    const url = new Secret(`postgres://tide:hush@127.0.0.1:1/db`);
    const { book, warnings } = await opened({
      kind: "sql",
      url,
      select: "SELECT id FROM c",
      update: "UPDATE c SET tier = $2 WHERE id = $1",
      everyMs: 60_000,
    });
    const said = JSON.stringify([warnings, book.status(), await book.setTier("a", "pro").catch(String)]);
    expect(said).toContain("ECONNREFUSED");
    expect(said).not.toContain("hush");
  });

  it("may leave limits to Tidegate: a source that says nothing of them takes none away", async () => {
    const primary = sqlitePrimary();
    await primary.put("a", "free");
    const { settings } = primary;
    if (settings.kind !== "sql") throw new Error("a file");
    const { book } = await opened({
      ...settings,
      select: "SELECT id, tier FROM customers",
      update: "UPDATE customers SET tier = $2 WHERE id = $1 AND '$3' <> ''",
    });
    await book.setLimits("a", { 60: 9 });
    const { pulledAt } = book.status();
    await eventually(() => book.status().pulledAt !== pulledAt || undefined);
    expect(await book.get("a")).toEqual({ tier: "free", limits: new Map([[60, 9]]) });
    expect(await primary.get("a")).toMatchObject({ limits: null });
  });

  it("name a file that has to be there: none is made", async () => {
    const file = join(temporaryFolder(), "missing.db");
    const { settings } = sqlitePrimary();
    const { book } = await opened({ ...settings, url: new Secret(`file:${file}`) } as CustomerSourceSettings);
    expect(book.status().failure).toContain("there is no file");
  });
});

it("a port that is no database is out of reach, not fatal", async () => {
  const server = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  connect(port as number, "127.0.0.1").destroy();
  const { book } = await opened({
    kind: "sql",
    url: new Secret(`postgres://x@127.0.0.1:${port}/x`),
    select: "SELECT 1",
    update: "UPDATE c SET tier = $2 WHERE id = $1",
    everyMs: 60_000,
  });
  await eventually(() => book.status().failure);
});

/** Whoever connects there waits: its process sleeps, and as many are waiting already as the system lets wait. */
async function deafUrl(): Promise<string> {
  const child = spawn(process.execPath, ["-e", sleeping], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [port] = await once(child.stdout, "data");
  for (let isHeard = true; isHeard; ) {
    const socket = connect(Number(port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    isHeard = await Promise.race([once(socket, "connect").then(() => true), sleep(300, false)]);
  }
  return `http://127.0.0.1:${port}`;
}

const sleeping = `const server = require("node:net").createServer();
server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
  require("node:fs").writeSync(1, String(server.address().port));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;

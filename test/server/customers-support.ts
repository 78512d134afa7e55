import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import Database from "libsql";
import pg from "pg";
import { createGate, type Gate } from "tidegate";
import { onTestFinished } from "vitest";
import {
  type CustomerBook,
  openCustomers,
} from "../../packages/tidegate-server/src/customers/open-customers.js";
import { openEmbeddedData } from "../../packages/tidegate-server/src/data/embedded-data.js";
import type { Data } from "../../packages/tidegate-server/src/data.js";
import type { Log } from "../../packages/tidegate-server/src/log.js";
import { Secret } from "../../packages/tidegate-server/src/secret.js";
import type { CustomerSourceSettings } from "../../packages/tidegate-server/src/settings.js";
import { type ChildServer, faultProxy } from "../servers/index.js";
import { temporaryFolder } from "./running.js";

export interface Row {
  readonly id: string;
  readonly tier: string | null;
  readonly limits: Record<string, number> | null;
}

/** A primary record of customers, seen from its own side. */
export interface Primary {
  readonly settings: CustomerSourceSettings;
  put(id: string, tier: unknown, limits?: unknown): Promise<void>;
  remove(id: string): Promise<void>;
  get(id: string): Promise<Row | undefined>;
  /** It answers nobody any more. */
  stop(): Promise<void>;
}

const select = "SELECT id, tier, limits FROM customers ORDER BY id";
const update = "UPDATE customers SET tier = $2, limits = $3 WHERE id = $1";
export const everyMs = 25;

/** A table in a database of its own on this server, which is reached through a proxy that can be shut. */
export async function postgresPrimary(server: ChildServer): Promise<Primary> {
  const name = `t${crypto.randomUUID().replaceAll("-", "")}`;
  const first = new pg.Client(server.url);
  await first.connect();
  await first.query(`CREATE DATABASE ${name}`);
  await first.end();
  const client = new pg.Client(server.url.replace(/postgres$/, name));
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(
    "CREATE TABLE customers (id text PRIMARY KEY, tier text CHECK (tier <> 'forbidden'), limits jsonb)",
  );
  const proxy = await faultProxy(server.port);
  onTestFinished(() => proxy.stop());
  const url = new Secret(`postgres://postgres@127.0.0.1:${proxy.port}/${name}`);
  return {
    settings: { kind: "sql", url, select, update, everyMs },
    put: async (id, tier, limits = null) => {
      await client.query(
        "INSERT INTO customers VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET tier = $2, limits = $3",
        [id, tier, limits === null ? null : JSON.stringify(limits)],
      );
    },
    remove: async (id) => void (await client.query("DELETE FROM customers WHERE id = $1", [id])),
    get: async (id) => (await client.query("SELECT * FROM customers WHERE id = $1", [id])).rows[0],
    async stop() {
      await proxy.refuse(true);
      proxy.cut();
    },
  };
}

export function sqlitePrimary(file = join(temporaryFolder(), "customers.db")): Primary {
  const database = new Database(file);
  database.exec(
    "CREATE TABLE IF NOT EXISTS customers (id TEXT PRIMARY KEY, tier TEXT CHECK (tier <> 'forbidden'), limits TEXT)",
  );
  return {
    settings: { kind: "sql", url: new Secret(`file:${file}`), select, update, everyMs },
    put: async (id, tier, limits = null) => {
      const text = limits === null || typeof limits === "string" ? limits : JSON.stringify(limits);
      database.prepare("INSERT OR REPLACE INTO customers VALUES (?, ?, ?)").run(id, tier, text);
    },
    remove: async (id) => void database.prepare("DELETE FROM customers WHERE id = ?").run(id),
    get: async (id) => {
      const row = database.prepare("SELECT * FROM customers WHERE id = ?").get(id) as
        | { id: string; tier: string | null; limits: string | null }
        | undefined;
      return row && { id, tier: row.tier, limits: row.limits === null ? null : JSON.parse(row.limits) };
    },
    stop: async () => void database.exec("ALTER TABLE customers RENAME TO gone"),
  };
}

/** Answers two at a time, and needs a token. */
export async function httpPrimary(): Promise<Primary> {
  const rows = new Map<string, Row>();
  const { url, stop } = await serving(async (req, res) => {
    if (req.headers.authorization !== "Bearer hush") return answer(res, 401, {});
    const address = new URL(req.url as string, "http://x");
    if (req.method === "GET") {
      const after = address.searchParams.get("after") ?? "";
      const ids = [...rows.keys()].sort().filter((id) => id > after);
      return answer(
        res,
        200,
        ids.slice(0, 2).map((id) => rows.get(id)),
      );
    }
    const id = decodeURIComponent(address.pathname.slice("/customers/".length));
    const { tier, limits } = JSON.parse(await textOf(req)) as Row;
    if (!rows.has(id)) return answer(res, 404, { detail: "no such customer" });
    if (tier === "forbidden") return answer(res, 422, { detail: "tier is forbidden" });
    rows.set(id, { id, tier, limits });
    return answer(res, 204);
  });
  return {
    settings: { kind: "http", url: `${url}/customers`, token: new Secret("hush"), everyMs },
    put: async (id, tier, limits = null) => void rows.set(id, { id, tier, limits } as Row),
    remove: async (id) => void rows.delete(id),
    get: async (id) => rows.get(id),
    stop,
  };
}

export async function serving(
  handle: (req: IncomingMessage, res: ServerResponse) => unknown,
): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  async function stop(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  onTestFinished(stop);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

async function textOf(req: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of req) text += piece;
  return text;
}

export function answer(res: ServerResponse, status: number, body?: unknown): void {
  res
    .writeHead(status, { "Content-Type": "application/json" })
    .end(body === undefined ? "" : JSON.stringify(body));
}

export const tiers = { free: ["2 per hour"], pro: ["4 per hour"] } as const;

export interface Opened {
  readonly book: CustomerBook;
  readonly gate: Gate;
  readonly data: Data;
  /** Words of the log, warnings and above. */
  readonly warnings: string[];
  close(): Promise<void>;
}

/** The book of a server that is started on this source, and its gate; gone after the test. */
export async function opened(
  source: CustomerSourceSettings | undefined,
  dir: string = temporaryFolder(),
): Promise<Opened> {
  const data = await openEmbeddedData(dir);
  const gate = createGate({
    rules: [{ name: "api", by: "customer", limits: "tier" }],
    tiers,
    defaultTier: "free",
    directory: data.directory,
    onWarning: () => {},
  });
  await gate.ready;
  const { log, warnings } = listeningLog();
  const book = await openCustomers({ gate, data, log, ...(source && { source }) });
  let isOpen = true;
  async function close(): Promise<void> {
    if (!isOpen) return;
    isOpen = false;
    await book.close();
    await gate.close();
    await data.close();
  }
  onTestFinished(close);
  return { book, gate, data, warnings, close };
}

export function listeningLog(): { log: Log; warnings: string[] } {
  const warnings: string[] = [];
  const hear = (fields: unknown, words?: string): void =>
    void warnings.push(`${words ?? ""} ${JSON.stringify(fields)}`);
  const quiet = (): void => {};
  const log = { trace: quiet, debug: quiet, info: quiet, warn: hear, error: hear } as unknown as Log;
  return { log, warnings };
}

/** How many of ten requests of this customer pass. */
export async function passing(gate: Gate, customer: string): Promise<number> {
  let count = 0;
  for (let i = 0; i < 10; i++) {
    const subject = {
      ip: "192.0.2.1",
      method: "GET",
      host: "h",
      path: "/",
      header: () => undefined,
      customer,
    };
    if ((await gate.decide(subject)).allowed) count++;
  }
  return count;
}

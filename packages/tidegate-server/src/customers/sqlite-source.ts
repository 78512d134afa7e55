import { existsSync } from "node:fs";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Database } from "libsql";
import { asPlaces, parameterCount } from "../sql-parameters.js";
import { type CustomerSource, connectMs, messageOf, SourceError } from "./customer-source.js";
import { noSuchCustomer, valuesOf } from "./postgres-source.js";

export interface SqliteSourceOptions {
  /** `file:customers.db`, relative to the working directory, or `file:///var/lib/customers.db`. */
  readonly url: string;
  readonly select: string;
  readonly update: string;
}

const rowsAtOnce = 500;

/**
 * Customers in a SQLite file. The driver is synchronous, so it never waits for a lock (that is done out here, for up to 5 s),
 * and all rows are read before the first is handed on: a reader that lingers would keep the file's writers waiting.
 */
export async function sqliteSource({ url, select, update }: SqliteSourceOptions): Promise<CustomerSource> {
  const { default: Libsql } = await import("libsql");
  const path = url.startsWith("file://") ? fileURLToPath(url) : url.slice("file:".length);
  const places = asPlaces(update);
  const taken = parameterCount(update);

  async function withDatabase<T>(act: (database: Database) => T | Promise<T>): Promise<T> {
    // It would make an empty one.
    if (!existsSync(path)) throw new SourceError("unreached", `there is no file ${path}`);
    let database: Database | undefined;
    try {
      database = new Libsql(path, { timeout: 0 }).defaultSafeIntegers(true);
      return await act(database);
    } catch (error) {
      throw failureOf(error);
    } finally {
      database?.close();
    }
  }

  return {
    kind: "sql",
    async *rows(signal) {
      yield* await withDatabase((database) => pagesOf(database, select, signal));
    },
    async write(id, record) {
      const values = valuesOf(id, record).slice(0, taken);
      const { changes } = await withDatabase((database) =>
        whenFree(() => database.prepare(places).run(...values)),
      );
      if (changes === 0) throw noSuchCustomer();
    },
    close: async () => {},
  };
}

async function pagesOf(database: Database, select: string, signal: AbortSignal): Promise<unknown[][]> {
  const statement = database.prepare(select);
  const [rows, first] = await whenFree(() => {
    const rows = statement.iterate();
    return [rows, rows.next()] as const;
  });
  const pages: unknown[][] = [];
  let page: unknown[] = [];
  for (let row = first; row.done !== true; row = rows.next()) {
    page.push(row.value);
    if (page.length < rowsAtOnce) continue;
    pages.push(page);
    page = [];
    await nextTurn();
    signal.throwIfAborted();
  }
  return [...pages, page];
}

async function whenFree<T>(act: () => T): Promise<T> {
  const until = Date.now() + connectMs;
  for (;;) {
    try {
      return act();
    } catch (error) {
      if (!isLocked(error) || Date.now() > until) throw error;
    }
    await sleep(20);
  }
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

function isLocked(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error));
}

/** A statement that failed here was not carried out: there is no wire to lose the answer on. */
function failureOf(error: unknown): SourceError {
  if (error instanceof SourceError) return error;
  const isRefusal = /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)/.test(codeOf(error));
  return new SourceError(isRefusal ? "refused" : "unreached", messageOf(error));
}

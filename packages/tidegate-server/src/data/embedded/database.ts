import Libsql from "libsql";
import { closedError, corruptError, lockedError, writeError } from "../data-errors.js";

export type SqlValue = string | number | null;

/** One open file, this process's alone. Everything is synchronous: what has returned is on the disk. */
export interface Database {
  rows<Row>(sql: string, ...values: SqlValue[]): Row[];
  run(sql: string, ...values: SqlValue[]): { readonly changes: number; readonly id: number };
  /** Several statements without values. */
  script(sql: string): void;
  /** All of it or nothing. */
  transaction<T>(act: () => T): T;
  close(): void;
}

export interface DatabasePlace {
  readonly dir: string;
  readonly file: string;
}

/** Takes the lock, or throws: the operating system frees it when this process ends, however it ends. */
export function openDatabase(place: DatabasePlace): Database {
  const raw = attempt(place, () => new Libsql(place.file));
  try {
    // Only `exec` until the lock is ours: a prepared statement keeps a closed file open until it is collected.
    attempt(place, () => raw.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT"));
  } catch (error) {
    raw.close();
    throw error;
  }
  const statements = new Map<string, ReturnType<typeof raw.prepare>>();
  let isClosed = false;

  function ask<T>(act: () => T): T {
    if (isClosed) throw closedError();
    return attempt(place, act);
  }

  function prepared(sql: string): ReturnType<typeof raw.prepare> {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = raw.prepare(sql);
    statements.set(sql, statement);
    return statement;
  }

  return {
    rows: <Row>(sql: string, ...values: SqlValue[]) => ask(() => prepared(sql).all(values) as Row[]),
    run: (sql, ...values) =>
      ask(() => {
        const { changes, lastInsertRowid } = prepared(sql).run(values);
        return { changes, id: Number(lastInsertRowid) };
      }),
    script: (sql) => ask(() => void raw.exec(sql)),
    transaction(act) {
      ask(() => raw.exec("BEGIN IMMEDIATE"));
      try {
        const result = act();
        ask(() => raw.exec("COMMIT"));
        return result;
      } catch (error) {
        // A failed write may have rolled back by itself.
        if (raw.inTransaction) attempt(place, () => raw.exec("ROLLBACK"));
        throw error;
      }
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      statements.clear();
      releaseLock(raw);
      raw.close();
    },
  };
}

/** Statements not yet collected would keep the lock after `close`. Leaving WAL gives it back, and leaves one whole file. */
function releaseLock(raw: Libsql.Database): void {
  try {
    raw.exec(
      "PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema",
    );
  } catch {
    // A full disk, say: then the lock goes when the process does. Nothing that was written is lost.
  }
}

function attempt<T>({ dir, file }: DatabasePlace, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (/^SQLITE_(BUSY|LOCKED)/.test(code)) throw lockedError(dir);
    if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) throw corruptError(file, error);
    if (/^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|PERM|AUTH|NOLFS)/.test(code)) throw writeError(file, error);
    if (error instanceof Error && error.message.startsWith("ConnectionFailed")) throw writeError(file, error);
    throw error;
  }
}

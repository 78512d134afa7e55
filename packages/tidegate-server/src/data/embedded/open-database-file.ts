import { accessSync, closeSync, constants, openSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TidegateError } from "tidegate";
import { makeFolder, unlessThere } from "../../make-folder.js";
import { corruptError, directoryError, newerError } from "../data-errors.js";
import { type Database, type DatabasePlace, openDatabase } from "./database.js";
import { schemaSteps } from "./schema.js";

/** A predecessor that is just ending, or another that starts at the same instant, gets this many tries of about 100 ms. */
const mostTries = 10;

/** Opens `tidegate.db` in this directory, makes it if there is none, and brings its layout up to date. */
export async function openDatabaseFile(dir: string): Promise<Database> {
  const place = prepare(resolve(dir));
  const database = await openInTurn(place);
  try {
    validate(database, place);
    database.script("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    migrate(database);
    return database;
  } catch (error) {
    if (!isForeign(error)) database.close();
    throw error;
  }
}

function prepare(dir: string): DatabasePlace {
  const file = join(dir, "tidegate.db");
  try {
    makeFolder(dir, 0o700);
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
    create(file);
    accessSync(file, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw directoryError(dir, error);
  }
  return { dir, file };
}

/** An existing file is never opened here: closing it again would give away a lock this process may hold on it. */
function create(file: string): void {
  unlessThere(() => closeSync(openSync(file, "wx", 0o600)));
}

async function openInTurn(place: DatabasePlace): Promise<Database> {
  for (let tries = 1; ; tries++) {
    try {
      return openDatabase(place);
    } catch (error) {
      const isLocked = error instanceof TidegateError && error.code === "TG_DATA_LOCKED";
      if (!isLocked || tries === mostTries) throw error;
    }
    await sleep(50 + Math.random() * 100);
  }
}

/** Before anything is written: a file that is not ours, damaged or from the future stays as it is. */
function validate(database: Database, { file }: DatabasePlace): void {
  const version = versionOf(database);
  if (version > schemaSteps.length) throw newerError(file, version, schemaSteps.length);
  const [check] = database.rows<{ quick_check: string }>("PRAGMA quick_check(1)");
  if (check?.quick_check !== "ok") throw corruptError(file, check?.quick_check.replaceAll("\n", " "));
  const tables = database.rows("SELECT name FROM sqlite_schema LIMIT 1");
  if (version === 0 && tables.length > 0) throw corruptError(file, "it holds another program's tables");
}

function versionOf(database: Database): number {
  return database.rows<{ user_version: number }>("PRAGMA user_version")[0]?.user_version ?? 0;
}

function migrate(database: Database): void {
  schemaSteps.slice(versionOf(database)).forEach((step, i, steps) => {
    const version = schemaSteps.length - steps.length + i + 1;
    database.transaction(() => database.script(`${step}; PRAGMA user_version = ${version}`));
  });
}

/** Closing tidies the file up, so one that is not ours to touch is left to the end of the process. */
function isForeign(error: unknown): boolean {
  return error instanceof TidegateError && ["TG_DATA_NEWER", "TG_DATA_CORRUPT"].includes(error.code);
}

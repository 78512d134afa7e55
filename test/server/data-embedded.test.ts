import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { TidegateError } from "tidegate";
import { afterAll, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "../../packages/tidegate-server/src/data/embedded/database.js";
import { embeddedAudit } from "../../packages/tidegate-server/src/data/embedded/embedded-audit.js";
import { openDatabaseFile } from "../../packages/tidegate-server/src/data/embedded/open-database-file.js";
import { schemaSteps } from "../../packages/tidegate-server/src/data/embedded/schema.js";
import { openEmbeddedData } from "../../packages/tidegate-server/src/data/embedded-data.js";
import type { Data } from "../../packages/tidegate-server/src/data.js";
import { mostSessions } from "./data-access-contract.js";
import { dataContract, mostAudit } from "./data-contract.js";
import { mostOffenders, offender } from "./data-control-contract.js";
import { startWriter } from "./data-writing.js";

const home = mkdtempSync(join(tmpdir(), "tidegate-data-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const dirs = new WeakMap<Data, string>();
let count = 0;
const newDir = (): string => join(home, `d${++count}`);

async function open(dir = newDir()): Promise<Data> {
  const data = await openEmbeddedData(dir, { mostAudit, mostOffenders, mostSessions });
  dirs.set(data, dir);
  return data;
}

dataContract("embedded data", {
  open,
  async again(data) {
    await data.close();
    return open(dirs.get(data));
  },
  isShared: false,
});

async function refusal(dir: string): Promise<TidegateError> {
  const outcome = await openEmbeddedData(dir).catch((error: unknown) => error);
  if (outcome instanceof TidegateError) return outcome;
  throw new Error(`expected a TidegateError, got ${String(outcome)}`);
}

describe("the data directory", () => {
  it("is made for this user alone, parents included", async () => {
    const dir = join(newDir(), "deep", "er");
    const data = await open(dir);
    await data.audit.add({ who: "ann", what: "x" });
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    const files = readdirSync(dir);
    expect(files).toContain("tidegate.db");
    for (const file of files) expect(statSync(join(dir, file)).mode & 0o777).toBe(0o600);
    await data.close();
    expect(readdirSync(dir)).toEqual(["tidegate.db"]);
  });

  it("belongs to one process: a second one is told which directory, and what to do", async () => {
    const dir = newDir();
    const writer = startWriter();
    await writer.begin({ dir, from: 0 });
    const error = await refusal(dir);
    expect(error.code).toBe("TG_DATA_LOCKED");
    expect(error.message).toContain(dir);
    expect(error.help).toMatch(/Stop that one.*data:.*redis/);
    await writer.kill();
    await (await open(dir)).close();
  });

  it("is locked against a second opening in the same process too, which does not give the lock away", async () => {
    const dir = newDir();
    const data = await open(dir);
    expect((await refusal(dir)).code).toBe("TG_DATA_LOCKED");
    expect((await refusal(dir)).code).toBe("TG_DATA_LOCKED");
    await data.audit.add({ who: "ann", what: "x" });
    await data.close();
    expect(await (await open(dir)).audit.list()).toHaveLength(1);
  });

  it("of two that open it at once, exactly one gets it", async () => {
    const dir = newDir();
    const outcomes = await Promise.allSettled([open(dir), open(dir), open(dir)]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("that can not be written is refused with the reason", async () => {
    const dir = newDir();
    mkdirSync(dir);
    chmodSync(dir, 0o500);
    const error = await asNobody(() => refusal(dir));
    expect(error.code).toBe("TG_DATA_DIR");
    expect(error.message).toContain(dir);
    expect(error.message).toMatch(/EACCES|permission/);
  });

  it("that lies where no folder can be made is refused, and not tried for ever", async () => {
    const error = await refusal("/proc/nope/x");
    expect(error.code).toBe("TG_DATA_DIR");
    expect(error.message).toContain("/proc/nope/x");
  });

  it("that is a file, or lies below one, is refused", async () => {
    const file = newDir();
    writeFileSync(file, "mine");
    expect((await refusal(file)).code).toBe("TG_DATA_DIR");
    expect((await refusal(join(file, "below"))).code).toBe("TG_DATA_DIR");
    expect(readFileSync(file, "utf8")).toBe("mine");
  });

  it("whose file is a directory is refused", async () => {
    const dir = newDir();
    mkdirSync(join(dir, "tidegate.db"), { recursive: true });
    expect((await refusal(dir)).code).toBe("TG_DATA_WRITE");
  });
});

describe("a file that is not as it should be stays as it is", () => {
  async function refusalOf(make: (file: string) => void): Promise<TidegateError> {
    const dir = newDir();
    mkdirSync(dir);
    const file = join(dir, "tidegate.db");
    make(file);
    const before = readFileSync(file);
    const error = await refusal(dir);
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(error.message).toContain(file);
    return error;
  }

  it("when it is no database", async () => {
    const error = await refusalOf((file) => writeFileSync(file, "precious notes\n".repeat(1000)));
    expect(error.code).toBe("TG_DATA_CORRUPT");
    expect(error.help).toMatch(/backup/);
  });

  it("when it is damaged in the middle", async () => {
    const dir = newDir();
    const data = await open(dir);
    for (let i = 0; i < 40; i++) await data.audit.add({ who: "ann", what: "x".repeat(2000) });
    await data.close();
    const whole = readFileSync(join(dir, "tidegate.db"));
    const error = await refusalOf((file) =>
      writeFileSync(file, whole.fill(0x41, whole.length / 2, whole.length - 4096)),
    );
    expect(error.code).toBe("TG_DATA_CORRUPT");
  });

  it("when a newer Tidegate wrote it", async () => {
    const error = await refusalOf((file) => {
      sqlAt(file, (database) => database.script("CREATE TABLE future (x); PRAGMA user_version = 1000"));
    });
    expect(error.code).toBe("TG_DATA_NEWER");
    expect(error.message).toContain("1000");
  });

  it("when another program's tables are in it", async () => {
    const error = await refusalOf((file) => {
      sqlAt(file, (database) => database.script("CREATE TABLE customers (name TEXT)"));
    });
    expect(error.code).toBe("TG_DATA_CORRUPT");
  });
});

describe("embedded data", () => {
  it("drops entries that have ended, and does not list them before that", async () => {
    let now = 1_000;
    const dir = newDir();
    const data = await openEmbeddedData(dir, { clock: () => now });
    const { directory } = data;
    await directory.put("blocklist", { address: "192.0.2.1", until: 2_000 });
    await directory.put("blocklist", { address: "192.0.2.2", until: 3_000 });
    now = 2_000;
    expect(await directory.entries("blocklist")).toEqual([{ address: "192.0.2.2", until: 3_000 }]);
    expect(await directory.remove("blocklist", "192.0.2.1")).toBe(false);
    now = 100_000;
    await directory.put("blocklist", { address: "192.0.2.3" });
    await data.close();
    const rows = sqlAt(join(dir, "tidegate.db"), (database) =>
      database.rows("SELECT address FROM list_entries"),
    );
    expect(rows).toEqual([{ address: '"192.0.2.3"' }]);
  });

  it("of an earlier layout is brought up to date, and keeps what it held", async () => {
    const dir = newDir();
    mkdirSync(dir);
    sqlAt(join(dir, "tidegate.db"), (database) =>
      database.script(
        `${schemaSteps[0]}; INSERT INTO audit (entry) VALUES ('{"who":"ann","what":"x","at":1}'); PRAGMA user_version = 1`,
      ),
    );
    const data = await open(dir);
    expect(await data.audit.list()).toMatchObject([{ who: "ann", id: 1 }]);
    await data.edgeBook.setMode("front", { mode: "off", who: "ann" });
    expect([...(await data.edgeBook.modes()).keys()]).toEqual(["front"]);
  });

  it("drops who was cleared when the hold-off has ended", async () => {
    let now = 1_000;
    const dir = newDir();
    const data = await openEmbeddedData(dir, { clock: () => now });
    await data.edgeBook.addClears(["203.0.113.7"], { until: 2_000, who: "ann" });
    now = 2_000;
    await data.edgeBook.addClears(["203.0.113.8"], { until: 3_000, who: "ann" });
    await data.close();
    const rows = sqlAt(join(dir, "tidegate.db"), (database) => database.rows("SELECT key FROM cleared_keys"));
    expect(rows).toEqual([{ key: '"203.0.113.8"' }]);
  });

  it("tells apart ids and addresses that differ after a NUL", async () => {
    const { directory } = await open();
    await directory.putCustomer("a", { tier: "free" });
    await directory.putCustomer("a\0b", { tier: "pro" });
    expect(await directory.customer("a")).toEqual({ tier: "free" });
    expect(await directory.customer("a\0b")).toEqual({ tier: "pro" });
  });

  it("changes nothing when a watcher throws, and says so to that watcher", async () => {
    const { directory } = await open();
    const failures: unknown[] = [];
    const nothing = () => {};
    directory.watch({
      reset: nothing,
      listed() {
        throw new Error("a watcher's mistake");
      },
      unlisted: nothing,
      customerChanged: nothing,
      failed: (error) => failures.push(error),
    });
    await directory.put("safelist", { address: "192.0.2.1" });
    expect(await directory.entries("safelist")).toHaveLength(1);
    expect(failures).toHaveLength(1);
  });

  it("once closed says so, and closing it again is harmless", async () => {
    const data = await open();
    await data.close();
    await data.close();
    await expect(data.audit.add({ who: "ann", what: "x" })).rejects.toMatchObject({ code: "TG_DATA_CLOSED" });
    await expect(data.policies.newest()).rejects.toMatchObject({ code: "TG_DATA_CLOSED" });
    expect(() => data.directory.entries("safelist")).toThrow(/TG_DATA_CLOSED/);
  });

  it("an entry that can not be written as JSON is refused, and nothing of it is kept", async () => {
    const { audit } = await open();
    await expect(audit.add({ who: "ann", what: "x", after: 1n })).rejects.toThrow(TypeError);
    expect(await audit.list()).toEqual([]);
  });
});

describe("a full disk", () => {
  it("is a clear error, and what was there before stays", async () => {
    const dir = newDir();
    const database = await openDatabaseFile(dir);
    database.script("PRAGMA max_page_count = 40");
    const audit = embeddedAudit({ database, now: Date.now, most: 10 });
    await audit.add({ who: "ann", what: "before" });
    const error = await audit.add({ who: "ann", what: "x".repeat(5_000_000) }).catch((reason) => reason);
    expect(error).toMatchObject({ code: "TG_DATA_WRITE" });
    expect(error.message).toContain(dir);
    await audit.add({ who: "ann", what: "after" });
    expect((await audit.list()).map(({ what }) => what)).toEqual(["after", "before"]);
    database.close();
  });
});

function sqlAt<T>(file: string, act: (database: Database) => T): T {
  const database = openDatabase({ dir: dirname(file), file });
  try {
    return act(database);
  } finally {
    database.close();
  }
}

/** Root may write everywhere; whoever else runs this is nobody special already. */
async function asNobody<T>(act: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return act();
  chmodSync(home, 0o755);
  process.seteuid?.(65534);
  try {
    return await act();
  } finally {
    process.seteuid?.(0);
  }
}

describe("offenders in the file", () => {
  it("are known again after a restart, with whom they are about; who was cleared is not", async () => {
    const dir = newDir();
    const first = await open(dir);
    await first.offenders.add(offender(1));
    await first.offenders.add(offender(2));
    await first.offenders.add(offender(3));
    await first.offenders.remove([offender(2).key]);
    await first.offenders.markComplete();
    const before = await first.offenders.now();
    await first.close();
    const second = await open(dir);
    expect(await second.offenders.now()).toEqual(before);
    expect(before.map(({ key }) => key).sort()).toEqual([offender(1).key, offender(3).key].sort());
    // Edges may know of others, whom nobody wrote down in time.
    expect(await second.offenders.isComplete()).toBe(false);
    await second.close();
  });

  it("that have ended are not", async () => {
    const dir = newDir();
    const first = await open(dir);
    await first.offenders.add({ ...offender(1), until: Date.now() + 50 });
    await first.close();
    await new Promise((resolve) => setTimeout(resolve, 60));
    const second = await open(dir);
    expect(await second.offenders.now()).toEqual([]);
    await second.close();
  });
});

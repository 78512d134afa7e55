import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import program from "@fastly/cli";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FastlyEdge, fastlyEdge } from "../../packages/tidegate-server/src/edges/fastly/fastly-edge.js";
import { setUpFastly } from "../../packages/tidegate-server/src/edges/fastly/set-up-fastly.js";
import { type FastlyFake, startFastlyFake } from "../servers/fastly-fake/index.js";
import { settingsFor } from "./edge-fastly-rig.js";

const run = promisify(execFile);
const never = new AbortController().signal;

describe("the real Fastly CLI and the fake understand each other", { timeout: 60_000 }, () => {
  let fake: FastlyFake;
  let edge: FastlyEdge;
  let home: string;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "tidegate-fastly-"));
    fake = await startFastlyFake();
    await setUpFastly({ settings: settingsFor(fake), isDryRun: false });
    edge = fastlyEdge(settingsFor(fake));
  }, 60_000);
  afterAll(async () => {
    await edge?.close();
    await fake?.close();
    await rm(home, { recursive: true, force: true });
  });

  async function fastly(...args: string[]): Promise<string> {
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      XDG_CONFIG_HOME: home,
      FASTLY_API_ENDPOINT: fake.url,
      FASTLY_ACCOUNT_ENDPOINT: fake.url,
      FASTLY_API_TOKEN: fake.token,
      FASTLY_SERVICE_ID: fake.service.id,
      FASTLY_DISABLE_WAF_PROMPT: "1",
    };
    const { stdout } = await run(program, ["--non-interactive", "service", ...args], {
      env,
      cwd: home,
    });
    return stdout;
  }

  async function json(...args: string[]): Promise<Record<string, unknown>[]> {
    return JSON.parse(await fastly(...args, "--json"));
  }

  const idOf = async (name: string): Promise<string> => {
    const found = (await json("dictionary", "list", "--version", "active")).find(
      (each) => each.Name === name,
    );
    return String(found?.DictionaryID ?? found?.ID);
  };

  it("sees the version and the dictionaries our set-up made", async () => {
    const versions = await json("version", "list");
    expect(versions.map(({ Number: number, Active }) => [number, Active])).toEqual([
      [1, false],
      [2, true],
    ]);
    const names = (await json("dictionary", "list", "--version", "active")).map(({ Name }) => Name);
    expect(names).toEqual(["tidegate_0", "tidegate_conf"]);
    const described = await fastly(
      "dictionary",
      "describe",
      "--version",
      "active",
      "--name",
      "tidegate_0",
      "--json",
    );
    expect(JSON.parse(described)).toMatchObject({ Name: "tidegate_0", WriteOnly: false });
  });

  it("sees the snippets our set-up made", async () => {
    const snippets = await json("vcl", "snippet", "list", "--version", "active");
    expect(snippets.map(({ Name }) => Name)).toEqual([
      "tidegate_include",
      "tidegate_recv",
      "tidegate_miss",
      "tidegate_pass",
      "tidegate_error",
    ]);
    expect(snippets.find(({ Name }) => Name === "tidegate_miss")).toMatchObject({
      Type: "miss",
      Content: "call tidegate_miss;",
    });
  });

  it("lists what our edge wrote, over several pages", async () => {
    const until = Math.ceil(Date.now() / 1_000) * 1_000 + 3_600_000;
    const put = Array.from({ length: 250 }, (_, i) => ({
      key: createHash("sha256").update(String(i)).digest("hex"),
      until,
    }));
    expect(await edge.apply({ remove: [], put }, never)).toEqual({ refused: [], left: [] });
    const listed = await json("dictionary-entry", "list", "--dictionary-id", await idOf("tidegate_0"));
    const found = new Map(listed.map(({ ItemKey, ItemValue }) => [ItemKey, ItemValue]));
    expect(found).toEqual(new Map(put.map(({ key }) => [key, String(until / 1_000)])));
  });

  it("our edge reads what it creates, updates and deletes", async () => {
    const id = await idOf("tidegate_0");
    const seconds = Math.ceil(Date.now() / 1_000) + 600;
    const before = (await edge.current([], never)).entries.size;
    await fastly(
      "dictionary-entry",
      "create",
      "--dictionary-id",
      id,
      "--key",
      "203.0.113.7",
      "--value",
      String(seconds),
    );
    expect((await edge.current([], never)).entries.get("203.0.113.7")).toBe(seconds * 1_000);
    await fastly(
      "dictionary-entry",
      "update",
      "--dictionary-id",
      id,
      "--key",
      "203.0.113.7",
      "--value",
      String(seconds + 60),
    );
    expect((await edge.current([], never)).entries.get("203.0.113.7")).toBe((seconds + 60) * 1_000);
    const described = await fastly(
      "dictionary-entry",
      "describe",
      "--dictionary-id",
      id,
      "--key",
      "203.0.113.7",
      "--json",
    );
    expect(JSON.parse(described)).toMatchObject({ ItemValue: String(seconds + 60) });
    await fastly(
      "dictionary-entry",
      "update",
      "--dictionary-id",
      id,
      "--key",
      "203.0.113.7",
      "--value",
      "true",
    );
    const state = await edge.current([], never);
    expect([state.entries.has("203.0.113.7"), state.foreign]).toEqual([false, 1]);
    await fastly("dictionary-entry", "delete", "--dictionary-id", id, "--key", "203.0.113.7");
    const after = await edge.current([], never);
    expect([after.entries.size, after.foreign]).toEqual([before, 0]);
  });

  it("writes in bulk from a file, and our edge reads it; a bad operation spoils all of them", async () => {
    const id = await idOf("tidegate_0");
    const file = join(home, "batch.json");
    const seconds = String(Math.ceil(Date.now() / 1_000) + 600);
    const good = { op: "upsert", item_key: "198.51.100.1", item_value: seconds };
    await writeFile(file, JSON.stringify({ items: [good] }));
    await fastly("dictionary-entry", "update", "--dictionary-id", id, "--file", file);
    expect((await edge.current([], never)).entries.has("198.51.100.1")).toBe(true);
    const other = { ...good, item_key: "198.51.100.2" };
    await writeFile(file, JSON.stringify({ items: [other, { op: "delete", item_key: "nobody" }] }));
    await expect(fastly("dictionary-entry", "update", "--dictionary-id", id, "--file", file)).rejects.toThrow(
      /400 Bad Request/,
    );
    expect((await edge.current([], never)).entries.has("198.51.100.2")).toBe(false);
  });

  it("switches the mode, and our edge knows", async () => {
    const id = await idOf("tidegate_conf");
    await fastly("dictionary-entry", "update", "--dictionary-id", id, "--key", "mode", "--value", "shadow");
    expect((await edge.current([], never)).mode).toBe("shadow");
    await edge.setMode("off", never);
    const described = await fastly(
      "dictionary-entry",
      "describe",
      "--dictionary-id",
      id,
      "--key",
      "mode",
      "--json",
    );
    expect(JSON.parse(described)).toMatchObject({ ItemValue: "off" });
  });

  it("is refused where Fastly refuses: an active version, a name, a duplicate, a wrong token", async () => {
    await expect(fastly("dictionary", "create", "--version", "2", "--name", "more")).rejects.toThrow(
      /not editable|locked/,
    );
    await fastly("version", "clone", "--version", "2");
    await fastly("dictionary", "create", "--version", "3", "--name", "more");
    await expect(fastly("dictionary", "create", "--version", "3", "--name", "more")).rejects.toThrow(/409/);
    await expect(fastly("dictionary", "create", "--version", "3", "--name", "0-bad")).rejects.toThrow(/400/);
    await expect(fastly("dictionary", "list", "--version", "active", "--token", "wrong")).rejects.toThrow(
      /401|invalid/i,
    );
  });

  it("adds snippets and custom VCL to a draft, locks and activates it; what it does not find valid stays a draft", async () => {
    await fastly("version", "clone", "--version", "2");
    const version = String(Math.max(...fake.service.versions.keys()));
    await fastly(
      "vcl",
      "snippet",
      "create",
      "--version",
      version,
      "--name",
      "own",
      "--type",
      "recv",
      "--content",
      "call nobody;",
    );
    await expect(fastly("version", "activate", "--version", version)).rejects.toThrow(/400/);
    await fastly("version", "clone", "--version", "2");
    const next = String(Number(version) + 1);
    await fastly(
      "vcl",
      "snippet",
      "create",
      "--version",
      next,
      "--name",
      "own",
      "--type",
      "recv",
      "--content",
      'set req.http.X-Own = "1";',
    );
    await fastly("vcl", "custom", "create", "--version", next, "--name", "extra", "--content", "# nothing");
    expect((await json("vcl", "custom", "list", "--version", next)).map(({ Name }) => Name)).toEqual([
      "extra",
    ]);
    await fastly("version", "activate", "--version", next);
    expect(fake.service.versions.get(Number(next))).toMatchObject({ isActive: true, isLocked: true });
    await fastly("version", "lock", "--version", version);
    expect(fake.service.versions.get(Number(version))).toMatchObject({ isLocked: true, isActive: false });
  });
});

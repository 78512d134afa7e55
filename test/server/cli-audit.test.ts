import { describe, expect, it, onTestFinished } from "vitest";
import { momentOf } from "../../packages/tidegate-server/src/cli/moment.js";
import { loadConfig } from "../../packages/tidegate-server/src/config/load-config.js";
import { openLog } from "../../packages/tidegate-server/src/observe/open-log.js";
import { startServer } from "../../packages/tidegate-server/src/server.js";
import { startRedis } from "../servers/index.js";
import { adminRig, listening, tidegate as run } from "./cli-rig.js";
import { configFile, temporaryFolder } from "./running.js";

type Rig = Awaited<ReturnType<typeof adminRig>>;

async function idOf({ tidegate }: Rig, flags: string): Promise<number> {
  const [entry] = JSON.parse((await tidegate(`audit ${flags} --most 1 --json`)).stdout);
  return entry.id;
}

async function filled(): Promise<Rig> {
  const rig = await adminRig();
  await rig.tidegate(["list", "add", "blocklist", "203.0.113.7", "--why", "=cmd()"]);
  await rig.tidegate("list add safelist 203.0.113.8 --for 1h");
  await rig.tidegate("customer tier 42 pro", { env: { USER: "ann" } });
  return rig;
}

describe("audit", () => {
  it("shows numbers, and which can be undone", async () => {
    const { tidegate } = await filled();
    const { stdout } = await tidegate("audit");
    expect(stdout).toMatch(/^ID +UNDO +WHEN +WHO +WHAT +TARGET +WHY$/m);
    expect(stdout).toMatch(/^\d+ +can be +.* +cli:ann +customer\.tier +42 +-$/m);
    expect(stdout).toMatch(/^1 +- +.* +policy\.demo/m);
  });

  it.each([
    ["--what blocklist", ["blocklist.add"]],
    ["--who cli:ann", ["customer.tier"]],
    ["--target 203.0.113.8", ["safelist.add"]],
    ["--what customer --who cli:eva", []],
    ["--since 1h --what safelist.add", ["safelist.add"]],
    ["--until 1h", []],
    ["--since 2000-01-01 --until 2000-01-02T12:00", []],
  ])("%s narrows it", async (flags, acts) => {
    const { tidegate } = await filled();
    const { code, stdout } = await tidegate(`audit ${flags} --json`);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).map(({ what }: { what: string }) => what)).toEqual(acts);
    if (acts.length === 0)
      expect((await tidegate(`audit ${flags}`)).stdout).toBe("Nothing like that is in the audit.\n");
  });

  it("is exported whole: NDJSON with the server's own words, CSV in which nothing is a formula", async () => {
    const rig = await filled();
    const { tidegate } = rig;
    const lines = (await tidegate("audit --export ndjson")).stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).what)).toEqual([
      "customer.tier",
      "safelist.add",
      "blocklist.add",
      "policy.demo",
    ]);
    const csv = await tidegate("audit --export csv --what blocklist");
    expect(csv.stdout).toMatch(/^id,at,who,what,target,why,before,after,undoes,undoneBy\r\n/);
    expect(csv.stdout).toContain(`"blocklist.add","203.0.113.7","'=cmd()"`);
    expect(csv.stdout.split("\r\n")).toHaveLength(3);
    const served = await fetch(`${rig.url}/v1/audit?format=csv&what=blocklist`);
    expect(await served.text()).toBe(csv.stdout);
    expect((await tidegate("audit --export ndjson --most 2")).stdout.trimEnd().split("\n")).toHaveLength(2);
  });

  it("goes on page after page, as far as the server says there is more and no further than asked", async () => {
    const asked: string[] = [];
    const url = await listening((req, res) => {
      const { searchParams } = new URL(req.url as string, "http://x");
      asked.push(`${searchParams.get("most")} ${searchParams.get("before")} ${searchParams.get("what")}`);
      const before = Number(searchParams.get("before") ?? 31);
      const entries = Array.from({ length: 10 }, (_, i) => ({
        id: before - 1 - i,
        at: 0,
        who: "ann",
        what: "x",
      }));
      res.setHeader("content-type", "application/json");
      res.end(JSON.stringify({ entries, ...(before > 11 && { next: before - 10 }) }));
    });
    const all = await run(["audit", "--url", url, "--export", "ndjson", "--what", "x"]);
    expect(all.stdout.trimEnd().split("\n")).toHaveLength(30);
    expect(asked.splice(0)).toEqual(["500 null x", "500 21 x", "500 11 x"]);
    await run(["audit", "--url", url, "--most", "12", "--what", "x"]);
    expect(asked).toEqual(["12 null x", "2 21 x"]);
  });

  it.each(["--since soon", "--until 5", "--export xml", "--most 0"])(
    "%s is not understood",
    async (flags) => {
      const { tidegate } = await adminRig();
      const { code, stderr } = await tidegate(`audit ${flags}`);
      expect(code).toBe(2);
      expect(stderr).toContain(flags.split(" ")[0]);
    },
  );
});

describe("audit undo", () => {
  it("takes a change back, asked first, and says which entry did", async () => {
    const rig = await filled();
    const { tidegate, gate } = rig;
    const id = await idOf(rig, "--what blocklist");
    const no = await tidegate(`audit undo ${id}`, { says: "n" });
    expect(no).toMatchObject({ code: 1 });
    expect(no.stderr).toContain("Undo blocklist.add of 203.0.113.7 by cli:eva? [y/N]");
    const yes = await tidegate(["audit", "undo", String(id), "--why", "a slip"], { says: "y" });
    const by = await idOf(rig, "--what blocklist.remove");
    expect(yes).toMatchObject({ code: 0, stdout: `Entry ${id} is undone, by entry ${by}.\n` });
    expect(await gate.blocklist.entries()).toEqual([]);
    const { stdout } = await tidegate("audit --what blocklist");
    expect(stdout).toMatch(new RegExp(`^${by} +undoes ${id} .* a slip$`, "m"));
    expect(stdout).toMatch(new RegExp(`^${id} +undone by ${by} `, "m"));
    const again = await tidegate(`audit undo ${by} --yes --json`);
    expect(JSON.parse(again.stdout)).toMatchObject({
      undone: by,
      entry: { what: "blocklist.add", undoes: by },
    });
  });

  it("of what changed again since is declined, with what it is now, unless forced", async () => {
    const rig = await filled();
    const { tidegate } = rig;
    const id = await idOf(rig, "--what customer");
    await tidegate("customer tier 42 free");
    const stale = await tidegate(`audit undo ${id} --yes`);
    expect(stale.code).toBe(4);
    expect(stale.stderr).toContain('"tier":"free"');
    expect(stale.stderr).toContain("add --force");
    expect((await tidegate(`audit undo ${id} --yes --force`)).code).toBe(0);
    const done = await tidegate(`audit undo ${id} --yes --json`);
    expect(done.code).toBe(4);
    expect(JSON.parse(done.stderr).error.code).toBe("TG_UNDO_DONE");
  });

  it.each([
    ["999", 4, "There is no entry 999."],
    ["x", 2, "is not the number of an entry"],
    ["0", 2, "is not the number of an entry"],
  ])("of %s ends with %i", async (id, code, words) => {
    const { tidegate } = await adminRig();
    const ran = await tidegate(`audit undo ${id} --yes`);
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(words);
  });

  it("without anybody to ask and without --yes does nothing", async () => {
    const rig = await filled();
    const id = await idOf(rig, "--what blocklist");
    expect((await rig.tidegate(`audit undo ${id}`)).code).toBe(2);
    expect(await rig.gate.blocklist.entries()).toHaveLength(1);
  });

  it("shows what strangers wrote as text", async () => {
    const { tidegate, url } = await adminRig();
    await fetch(`${url}/v1/customers/${encodeURIComponent("\u001b[2J\n42")}/tier`, {
      method: "PUT",
      body: '{"tier":"pro"}',
    });
    const { stderr } = await tidegate("audit undo 2", { says: "n" });
    expect(stderr).toContain("\\u001b[2J\\u000a42");
    expect(stderr).not.toContain("\u001b");
  });

  it("straight on Redis leaves customers of a database to a server", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const folder = temporaryFolder();
    const source = await listening((_req, res) => res.end("[]"));
    const settings = `listen: { proxy: false, admin: 0, decide: 0 }
decide: { peers: [127.0.0.1] }
store: { kind: redis, url: "${redis.url}" }
policy: { rules: [], tiers: { free: [1 per hour], pro: [5 per hour] } }
`;
    const plain = configFile(folder, settings);
    const straight = (line: string, file: string) =>
      run([...line.split(" "), "--config", file, "--redis", redis.url], { cwd: folder });
    const loaded = loadConfig({ file: plain, env: {}, cwd: folder });
    await (await startServer(loaded, { log: openLog({ level: "silent" }) })).close();
    expect((await straight("customer tier 42 pro", plain)).code).toBe(0);
    const [entry] = JSON.parse((await straight("audit --what customer --json", plain)).stdout);
    const other = configFile(
      temporaryFolder(),
      `${settings}customers: { source: { kind: http, url: "${source}/customers" } }\n`,
    );
    const refused = await straight(`audit undo ${entry.id} --yes`, other);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining("Customers come from a database"),
    ]);
    expect((await straight(`audit undo ${entry.id} --yes`, plain)).code).toBe(0);
  });
});

describe("a moment", () => {
  it("is so long ago, or a date", () => {
    expect(momentOf("--since", "2h", 10_000_000)).toBe(2_800_000);
    expect(momentOf("--since", "2026-01-31T12:00:00Z")).toBe(Date.UTC(2026, 0, 31, 12));
    expect(momentOf("--since", undefined)).toBeUndefined();
    for (const text of ["", "5", "now", "-2h", "2026", "9999999999999999w"])
      expect(() => momentOf("--since", text)).toThrow();
  });
});

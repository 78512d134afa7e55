import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { tidegate } from "../server/cli-rig.js";
import { temporaryFolder } from "../server/running.js";

const strict =
  "rules:\n  - { name: req/ip, by: ip, limits: [5 per minute] }\n  - { name: api, only: /api, by: ip, limits: [1 per minute] }\n";
const mild = "rules:\n  - { name: req/ip, by: ip, limits: [8 per minute] }\n";

interface Visit {
  readonly second: number;
  readonly ip?: string;
  readonly path?: string;
  readonly agent?: string;
  readonly behind?: string;
}

function line({ second, ip = "203.0.113.7", path = "/", agent = "curl/8", behind }: Visit): string {
  const clock = new Date(second * 1000).toISOString().slice(11, 19);
  const last = behind === undefined ? "" : ` "${behind}"`;
  return `${ip} - - [31/Jan/2026:${clock} +0000] "GET ${path} HTTP/1.1" 200 1 "-" "${agent}"${last}\n`;
}

/** Ten requests of one client within a minute, two of another. */
const busy =
  Array.from({ length: 10 }, (_, i) => line({ second: i })).join("") +
  line({ second: 10, ip: "198.51.100.1" }) +
  line({ second: 11, ip: "198.51.100.1" });

function folderOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = temporaryFolder();
  const all = { "strict.yaml": strict, "mild.yaml": mild, "access.log": busy, ...files };
  for (const [name, content] of Object.entries(all)) writeFileSync(join(folder, name), content);
  return folder;
}

const replay = (args: readonly string[], cwd: string, options = {}) =>
  tidegate(["replay", ...args], { cwd, ...options });

describe("replay", () => {
  it("tells who would be refused, by which rule, and what would change", async () => {
    const cwd = folderOf({});
    const { code, stdout, stderr } = await replay(
      ["access.log", "--policy", "strict.yaml", "--against", "mild.yaml"],
      cwd,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("12 requests of 2 clients, 2026-01-31 00:00:00 to 2026-01-31 00:00:11 UTC");
    expect(stdout).toMatch(/^refused +5 \(41\.7 %\) +2 \(16\.7 %\)$/m);
    expect(stdout).toMatch(/^req\/ip +12 +5 +1 /m);
    expect(stdout).toMatch(/^api .*no request was its$/m);
    expect(stdout).toMatch(/^203\.0\.113\.7 +req\/ip +10 +5 +50\.0 %/m);
    expect(stdout).toContain("newly refused      3 requests of 1 client\n");
    expect(stdout).toContain("The log's times are whole seconds");
  });

  it("in JSON the report stands with what was read, and nothing else on stdout", async () => {
    const cwd = folderOf({ "b.log": gzipSync(line({ second: 30, ip: "192.0.2.1" })) });
    const { stdout } = await replay(
      ["access.log", "b.log", "--policy", "strict.yaml", "--json", "--suggest"],
      cwd,
    );
    expect(JSON.parse(stdout)).toMatchObject({
      requests: 13,
      outcome: { allowed: 8, refused: 5 },
      offenders: [{ client: "203.0.113.7", rule: "req/ip", refused: 5 }],
      suggestions: expect.any(Array),
      input: {
        lines: 13,
        malformed: 0,
        files: [
          { name: "access.log", format: "combined", requests: 12 },
          { name: "b.log", requests: 1 },
        ],
      },
    });
  });

  it("takes a whole tidegate.yaml as well as a policy alone", async () => {
    const whole = `upstreams: [{ url: "http://127.0.0.1:3000" }]\nadmin: { token: "\${NOT_SET}" }\npolicy:\n${strict.replace(/^/gm, "  ")}`;
    const cwd = folderOf({ "tidegate.yaml": whole });
    const { stdout } = await replay(["access.log", "--policy", "tidegate.yaml", "--json"], cwd);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: { refused: 5 } });
  });

  it("reads what is piped in", async () => {
    async function* input() {
      yield Buffer.from(busy);
    }
    const { stdout } = await replay(["-", "--policy", "strict.yaml", "--json"], folderOf({}), { input });
    expect(JSON.parse(stdout)).toMatchObject({ requests: 12, input: { files: [{ name: "stdin" }] } });
  });

  it("reads logs written by a template", async () => {
    const log = Array.from({ length: 7 }, (_, i) => `${1769860800 + i}.250|203.0.113.7|eva|GET|/a b\n`).join(
      "",
    );
    const cwd = folderOf({
      "own.log": log,
      "users.yaml": "rules: [{ name: users, by: user, limits: [5 per minute] }]\n",
    });
    const template = "$msec|$remote_addr|$user|$request_method|$request_uri";
    const { stdout } = await replay(
      ["own.log", "--policy", "users.yaml", "--template", template, "--json"],
      cwd,
    );
    expect(JSON.parse(stdout)).toMatchObject({ from: 1769860800250, outcome: { refused: 2 } });
  });

  it("counts the clients behind a proxy, not the proxy", async () => {
    const log = Array.from({ length: 10 }, (_, i) =>
      line({ second: i, ip: "10.0.0.1", behind: `192.0.2.99, 192.0.2.${i}` }),
    ).join("");
    const cwd = folderOf({ "a.log": log, "b.log": busy });
    const refused = async (...args: string[]) =>
      JSON.parse((await replay([...args, "--policy", "strict.yaml", "--json"], cwd)).stdout);
    expect(await refused("a.log")).toMatchObject({ outcome: { refused: 5 } });
    expect(await refused("a.log", "--xff")).toMatchObject({ clients: 10, outcome: { refused: 0 } });
    expect((await replay(["b.log", "--xff", "--policy", "strict.yaml"], cwd)).code).toBe(2);
  });

  it("behind proxies the file trusts the client is the last that is none of them", async () => {
    const log = Array.from({ length: 10 }, (_, i) =>
      line({ second: i, ip: "10.0.0.1", behind: `192.0.2.${i}, 10.0.0.7` }),
    ).join("");
    const whole = `upstreams: [{ url: "http://127.0.0.1:3000" }]\ntrustedProxies: [10.0.0.0/8]\npolicy:\n${strict.replace(/^/gm, "  ")}`;
    const cwd = folderOf({ "a.log": log, "tidegate.yaml": whole });
    const { stdout } = await replay(["a.log", "--xff", "--policy", "tidegate.yaml", "--json"], cwd);
    expect(JSON.parse(stdout)).toMatchObject({ clients: 10, outcome: { refused: 0 } });
  });

  it("rehearses our own decision log, client by client", async () => {
    const digest = (ip: string) => createHash("sha256").update(ip).digest("hex");
    const log = Array.from({ length: 10 }, (_, i) =>
      JSON.stringify({
        at: new Date(Date.UTC(2026, 0, 31) + i * 1000).toISOString(),
        kind: "decision",
        id: `x-${i}`,
        allowed: true,
        address: digest(i < 7 ? "203.0.113.7" : "198.51.100.1"),
        method: "GET",
        host: "shop.example",
        path: "/",
        userAgent: "curl/8",
      }),
    ).join("\n");
    const { stdout } = await replay(
      ["d.ndjson", "--policy", "strict.yaml", "--json"],
      folderOf({ "d.ndjson": log }),
    );
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ clients: 2, outcome: { refused: 2 }, offenders: [{ refused: 2 }] });
    expect(report.notes.join()).toContain("digests instead of addresses");
  });

  it("hides clients and user agents everywhere on request, and counts the same", async () => {
    const cwd = folderOf({ "a.log": `${busy}203.0.113.7 nonsense\n`, "mild2.yaml": mild });
    const args = ["a.log", "--policy", "strict.yaml", "--against", "mild.yaml", "--anonymise"];
    for (const more of [[], ["--json"]]) {
      const { stdout } = await replay([...args, ...more], cwd);
      expect(stdout).not.toMatch(/203\.0\.113|198\.51\.100|curl/);
      expect(stdout).toMatch(/client-[0-9a-f]{12}/);
    }
    const keyed = async () =>
      (await replay([...args, "--anonymise-key", "a long and random one", "--json"], cwd)).stdout;
    const short = await replay([...args, "--anonymise-key", ""], cwd);
    expect([short.code, short.stderr]).toEqual([2, expect.stringContaining("needs 16")]);
    expect(JSON.parse(await keyed())).toMatchObject({
      outcome: { refused: 5 },
      input: { malformed: 1, samples: [] },
    });
    expect(await keyed()).toBe(await keyed());
  });

  it("lets nothing that strangers wrote reach the terminal as it is", async () => {
    const agent = "\u001b]0;owned\u0007\u202e\u009b31m";
    const log = `${Array.from({ length: 9 }, (_, i) => line({ second: i, agent })).join("")}\u001b[2J\u0000bad\n`;
    const cwd = folderOf({ "a.log": log });
    for (const more of [[], ["--json"]]) {
      const { stdout } = await replay(["a.log", "--policy", "strict.yaml", ...more], cwd);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
      expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(stdout).toContain("\\u001b");
    }
  });

  it("shows how far it is on a terminal, and leaves nothing of it; nothing in a pipe", async () => {
    const cwd = folderOf({});
    const terminal = await replay(["access.log", "--policy", "strict.yaml"], cwd, { isTTY: true });
    expect(terminal.stderr === "" || terminal.stderr.endsWith("\r\u001b[K")).toBe(true);
    expect((await replay(["access.log", "--policy", "strict.yaml"], cwd)).stderr).toBe("");
  });
});

describe("for scripts, replay", () => {
  it("ends with 1 on what it was told to fail on", async () => {
    const cwd = folderOf({});
    const code = async (...args: string[]) => (await replay(["access.log", ...args], cwd)).code;
    expect(
      await code("--policy", "strict.yaml", "--against", "mild.yaml", "--fail-on", "newly-refused"),
    ).toBe(1);
    expect(
      await code("--policy", "mild.yaml", "--against", "strict.yaml", "--fail-on", "newly-refused"),
    ).toBe(0);
    expect(await code("--policy", "mild.yaml", "--fail-on", "false-positives")).toBe(0);
  });

  it.each([
    ["no policy", ["access.log"], "--policy"],
    ["a log that is not there", ["none.log", "--policy", "strict.yaml"], "TG_LOG_READ"],
    ["a folder", [".", "--policy", "strict.yaml"], "It is a folder"],
    ["an empty log", ["empty.log", "--policy", "strict.yaml"], "TG_LOG_EMPTY"],
    ["no log at all", ["strict.yaml", "--policy", "strict.yaml"], "TG_LOG_FORMAT"],
    ["a policy that is not there", ["access.log", "--policy", "none.yaml"], "TG_CONFIG_READ"],
    ["a wrong policy", ["access.log", "--policy", "access.log"], "can not be used"],
    ["an unknown format", ["access.log", "--policy", "strict.yaml", "--format", "x"], "Allowed choices"],
    ["a wrong template", ["access.log", "--policy", "strict.yaml", "--template", "$x"], "TG_LOG_TEMPLATE"],
    ["a wrong window", ["access.log", "--policy", "strict.yaml", "--window", "soon"], "--window"],
    [
      "a wrong percentile",
      ["access.log", "--policy", "strict.yaml", "--suggest", "--percentile", "7"],
      "percentile",
    ],
    ["a log of empty lines", ["blank.log", "--policy", "strict.yaml"], "There are only empty lines in"],
    [
      "nothing to compare with",
      ["access.log", "--policy", "strict.yaml", "--fail-on", "newly-refused"],
      "--against",
    ],
  ])("ends with 2 and words for %s", async (_, args, words) => {
    const { code, stdout, stderr } = await replay(
      [...args, "--json"],
      folderOf({ "empty.log": "", "blank.log": "\n\n" }),
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(words);
  });

  it("says before it reads anything that a page can not be written", async () => {
    const cwd = folderOf({});
    const { code, stdout, stderr } = await replay(
      ["access.log", "--policy", "strict.yaml", "--html", "no/r.html"],
      cwd,
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("can not be written (ENOENT)");
    expect(existsSync(join(cwd, "no"))).toBe(false);
    const folder = await replay(["access.log", "--policy", "strict.yaml", "--html", "."], cwd);
    expect([folder.code, folder.stdout]).toEqual([2, ""]);
    expect(folder.stderr).toContain("can not be written (EISDIR)");
  });

  it("says of a policy that is not there nothing about other commands", async () => {
    for (const args of [
      ["--policy", "nope.yaml"],
      ["--policy", "strict.yaml", "--against", "nope.yaml"],
    ]) {
      const { code, stderr } = await replay(["access.log", ...args], folderOf({}));
      expect(code).toBe(2);
      expect(stderr).toContain("There is no such file: name one as it is seen from this folder.");
      expect(stderr).not.toContain("--config");
    }
  });

  it("names the policies' files, and one client as one", async () => {
    const args = ["one.log", "--policy", "strict.yaml", "--against", "mild.yaml", "--suggest"];
    const { stdout } = await replay(args, folderOf({ "one.log": line({ second: 1 }) }));
    expect(stdout).toContain("1 request of 1 client, ");
    expect(stdout).toContain("one.log: combined, 1 line\n  under strict.yaml against mild.yaml");
    expect(stdout).toContain("None: it would stand on 1 client, and takes 100 at least.");
  });
});

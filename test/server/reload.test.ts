import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { type LoadOptions, loadConfig } from "../../packages/tidegate-server/src/config/load-config.js";
import type { Log } from "../../packages/tidegate-server/src/log.js";
import type { PolicyStatus } from "../../packages/tidegate-server/src/policy/policy-status.js";
import { startServer } from "../../packages/tidegate-server/src/server.js";
import { configFile, eventually, temporaryFolder } from "./running.js";

const listen = "listen: { proxy: 0, admin: 0, decide: 0 }";
const head = `${listen}\nupstreams: [{ url: "http://127.0.0.1:9" }]\n`;
const policyOf = (limit: number, more = "") =>
  `policy:\n  rules:\n    - { name: req/ip, by: ip, limits: [${limit} per hour]${more} }\n`;

interface Line {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly words: string;
}

interface Reloading {
  readonly file: string;
  readonly lines: readonly Line[];
  /** Writes the file, has it read, and answers what the status then says. */
  reload(text: string): Promise<PolicyStatus>;
  status(): Promise<PolicyStatus>;
  send(method: string, path: string, body: object): Promise<number>;
}

/** A whole server of one file, in this process, until the test is over. */
async function start(text: string, options: LoadOptions = {}, token?: string): Promise<Reloading> {
  const folder = temporaryFolder();
  const file = configFile(folder, text);
  const lines: Line[] = [];
  const at =
    (level: string) =>
    (...args: unknown[]): void =>
      void lines.push({ level, fields: Object(args[0]), words: String(args.at(-1)) });
  const log = {
    trace() {},
    debug() {},
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
  } as unknown as Log;
  const server = await startServer(loadConfig({ env: {}, ...options, file, cwd: folder }), { log });
  onTestFinished(() => server.close());
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const status = async (): Promise<PolicyStatus> => {
    const answer = await fetch(`${server.urls.admin}/v1/status`, { headers });
    return ((await answer.json()) as { policy: PolicyStatus }).policy;
  };
  return {
    file,
    lines,
    status,
    async reload(changed) {
      writeFileSync(file, changed);
      await server.reload("SIGHUP");
      return status();
    },
    async send(method, path, body) {
      const answer = await fetch(`${server.urls.admin}${path}`, {
        method,
        headers,
        body: JSON.stringify(body),
      });
      return answer.status;
    },
  };
}

describe("a file read again is refused where a start would refuse it", () => {
  it.each([
    [
      "an unknown setting",
      `${head.replace("decide: 0", "decide: 0, bogus: 1")}`,
      "",
      { code: "TG_CONFIG_KEY", line: 1, path: "listen.bogus" },
    ],
    [
      "a misspelt section",
      head.replace("upstreams:", "upstream:"),
      "",
      { code: "TG_CONFIG_KEY", line: 2, path: "upstream" },
    ],
    [
      "a public door without a token",
      head.replace("admin: 0", 'admin: "0.0.0.0:0"'),
      "",
      { code: "TG_PUBLIC_BIND", line: 1, path: "listen.admin" },
    ],
    [
      "workers that would each count for themselves",
      `${head}workers: 4\n`,
      "",
      { code: "TG_WORKERS_MEMORY", line: 3, path: "workers" },
    ],
    [
      "callers that do not say how a request ended, beside a rule that has to know",
      `${head}decide: { peers: [127.0.0.1] }\n`,
      ", count: failures",
      { code: "TG_RULE_FINISH", line: 6, path: "policy.rules[0]" },
    ],
    [
      "a variable the environment does not have",
      `${head}admin: { token: "\${NEW_TOKEN}" }\n`,
      "",
      { code: "TG_ENV_MISSING", line: 3, path: "admin.token" },
    ],
    [
      "a rule for an edge there is none of",
      head,
      ", hold: { for: 1m }, edges: [cdn]",
      { code: "TG_EDGE_UNKNOWN", line: 5, path: "policy.rules[0].edges[0]" },
    ],
  ])("%s: the old policy stays, and the status and the log say why", async (_, settings, rule, problem) => {
    const server = await start(head + policyOf(3));
    expect(await server.status()).toMatchObject({ version: 1, file: { state: "in force" } });
    const refused = await server.reload(settings + policyOf(77, rule));
    expect(refused).toMatchObject({ version: 1, file: { state: "refused" } });
    expect(refused.file?.problems).toContainEqual(expect.objectContaining(problem));
    expect(refused.file?.problem).toContain(problem.code);
    const told = server.lines.find(({ words }) => words.startsWith("the policy file is refused"));
    expect(told?.level).toBe("error");
    expect(told?.fields.problems).toEqual(refused.file?.problems);
    expect(await server.reload(head + policyOf(77))).toMatchObject({
      version: 2,
      file: { state: "in force" },
    });
  });

  it("and nowhere else: flags still win, and the environment is filled in", async () => {
    const overrides = { listen: { admin: "127.0.0.1:0" } };
    const server = await start(head + policyOf(3), { overrides, env: { APP: "http://127.0.0.1:9" } });
    const settings = head
      .replace("admin: 0", 'admin: "0.0.0.0:8088"')
      .replace("http://127.0.0.1:9", `\${APP}`);
    const status = await server.reload(settings + policyOf(5));
    expect(status).toMatchObject({ version: 2, file: { state: "in force" } });
    expect(status.file).not.toHaveProperty("needsRestart");
  });

  it("without a line of the file in the status", async () => {
    const server = await start(head + policyOf(3));
    const status = await server.reload(`${head}admin: { tokn: s3cr3t-text }\n${policyOf(5)}`);
    expect(status.file).toMatchObject({ state: "refused", problems: [{ path: "admin.tokn" }] });
    expect(JSON.stringify([status, server.lines])).not.toContain("s3cr3t-text");
  });

  it("what a start would only warn of is logged, once, and taken in", async () => {
    const server = await start(head + policyOf(3));
    const warned = () => server.lines.filter(({ fields }) => fields.code === "TG_EDGE_RULE_NONE").length;
    const text = head + policyOf(5, ", hold: { for: 1m }, edges: true");
    expect(await server.reload(text)).toMatchObject({ version: 2, file: { state: "in force" } });
    expect(warned()).toBe(1);
    await server.reload(text);
    expect(warned()).toBe(1);
  });

  it("a policy changed elsewhere goes on to rule, and can be rolled back; the mended file is behind again", async () => {
    const server = await start(head + policyOf(3));
    await server.reload(head + policyOf(4));
    await server.send("POST", "/v1/policy", { text: "rules: [{ name: a, by: ip, limits: [9 per hour] }]\n" });
    expect(await server.status()).toMatchObject({ version: 3, file: { state: "behind" } });
    const bad = `${head}workers: 4\n${policyOf(4)}`;
    expect(await server.reload(bad)).toMatchObject({ version: 3, file: { state: "refused" } });
    expect(await server.send("POST", "/v1/policy/rollback", { to: 1 })).toBeLessThan(300);
    expect(await server.status()).toMatchObject({
      version: 4,
      source: "rollback",
      file: { state: "refused" },
    });
    expect(await server.reload(head + policyOf(4))).toMatchObject({ version: 4, file: { state: "behind" } });
  });

  it("one that can not be read is refused until it can", async () => {
    const server = await start(head + policyOf(3));
    rmSync(server.file);
    mkdirSync(server.file);
    await eventually(async () => ((await server.status()).file?.state === "refused" ? true : undefined));
    expect(await server.status()).toMatchObject({
      version: 1,
      file: { problems: [{ code: "TG_CONFIG_READ" }] },
    });
    rmSync(server.file, { recursive: true });
    writeFileSync(server.file, head + policyOf(4));
    await eventually(async () => ((await server.status()).version === 2 ? true : undefined));
    expect(await server.status()).toMatchObject({ file: { state: "in force" } });
  });
});

describe("settings that changed in the file", () => {
  const token = "first-token-of-all";
  const settings = (text: string) => `${head}admin: { token: ${text} }\n`;
  const waiting = (lines: readonly Line[]) => lines.filter(({ fields }) => "needsRestart" in fields);

  it("are named once per change in the log, and in the status until they are changed back", async () => {
    const server = await start(settings(token) + policyOf(3), {}, token);
    expect((await server.status()).file).not.toHaveProperty("needsRestart");

    const changed = `${settings("second-token-of-all")}trustedProxies: [10.9.9.9]\n${policyOf(4)}`;
    const status = await server.reload(changed);
    expect(status).toMatchObject({
      version: 2,
      file: { state: "in force", needsRestart: ["admin.token", "trustedProxies"] },
    });
    await server.reload(changed);
    expect(waiting(server.lines)).toMatchObject([
      {
        level: "warn",
        fields: { file: server.file, needsRestart: ["admin.token", "trustedProxies"] },
        words: "admin.token, trustedProxies: changed in the file; they take effect at the next start",
      },
    ]);

    await server.reload(settings("second-token-of-all") + policyOf(4));
    await server.reload(settings("third-token-of-all") + policyOf(4));
    expect(
      waiting(server.lines)
        .map(({ words }) => words)
        .slice(1),
    ).toEqual(Array(2).fill("admin.token: changed in the file; it takes effect at the next start"));
    expect((await server.status()).file?.needsRestart).toEqual(["admin.token"]);

    expect((await server.reload(settings(token) + policyOf(4))).file).toEqual({
      path: server.file,
      state: "in force",
    });
    expect(server.lines.at(-1)).toMatchObject({
      level: "info",
      words: "the file's settings are again those this process runs with",
    });
    expect(JSON.stringify(server.lines)).not.toMatch(/-token-of-all|10\.9\.9\.9/);
  });

  it("are named, too, where the policy is in order and has to wait for them", async () => {
    const silent = `${head}decide: { peers: [127.0.0.1] }\n`;
    const server = await start(silent + policyOf(3));
    const told = `${head}decide: { peers: [127.0.0.1], canFinish: true }\n`;
    const status = await server.reload(told + policyOf(3, ", count: failures"));
    expect(status).toMatchObject({
      version: 1,
      file: { state: "refused", needsRestart: ["decide.canFinish"] },
    });
    expect(status.file?.problem).toContain("TG_RULE_FINISH");
  });

  it("are not named of a file that a start would refuse", async () => {
    const server = await start(settings(token) + policyOf(3), {}, token);
    await server.reload(settings("second-token-of-all") + policyOf(3));
    const bad = await server.reload(`${settings("second-token-of-all")}workers: 4\n${policyOf(3)}`);
    expect(bad.file).toMatchObject({ state: "refused" });
    expect(bad.file).not.toHaveProperty("needsRestart");
  });
});

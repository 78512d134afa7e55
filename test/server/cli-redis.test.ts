import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createClient } from "@redis/client";
import { describe, expect, it, onTestFinished } from "vitest";
import type { EdgesAnswer } from "../../packages/tidegate-server/src/api/types.js";
import { loadConfig } from "../../packages/tidegate-server/src/config/load-config.js";
import { openLog } from "../../packages/tidegate-server/src/observe/open-log.js";
import { startServer } from "../../packages/tidegate-server/src/server.js";
import { freePort, startRedis } from "../servers/index.js";
import { tidegate as run } from "./cli-rig.js";
import { openHaproxyRig } from "./edge-haproxy-rig.js";
import { configFile, temporaryFolder } from "./running.js";

const policy = `policy:
  rules:
    - { name: req/ip, by: ip, limits: [3 per hour], hold: { for: 10m }, edges: true }
`;

/** A Redis of its own, and a server that may come and go. */
async function redisRig(edges = "cdn: { kind: memory }", prefix = ", prefix: shop") {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const folder = temporaryFolder();
  const file = configFile(
    folder,
    `listen: { proxy: false, admin: 0, decide: 0 }
decide: { peers: [127.0.0.1] }
store: { kind: redis, url: "${redis.url}"${prefix} }
edges: { ${edges} }
control: { every: 100ms }
${policy}`,
  );
  return {
    redis,
    folder,
    file,
    async serve() {
      const loaded = loadConfig({ file, env: {}, cwd: folder });
      const server = await startServer(loaded, { log: openLog({ level: "silent" }) });
      onTestFinished(() => server.close());
      return server;
    },
    straight: (line: string, env: Record<string, string> = { TIDEGATE_REDIS: redis.url }) =>
      run([...line.split(" "), "--config", file], { env, cwd: folder }),
    async keys(): Promise<string[]> {
      const client = await createClient({ url: redis.url }).connect();
      try {
        return (await client.keys("*")).sort();
      } finally {
        client.destroy();
      }
    },
  };
}

const soon = { timeout: 10_000 };

describe("straight on Redis", () => {
  it("every verb that asks a server works without one, on what servers left there", async () => {
    const { serve, straight } = await redisRig();
    const server = await serve();
    await server.close();

    const why = await straight("why 203.0.113.7");
    expect(why).toMatchObject({ code: 0, stderr: "" });
    expect(why.stdout).toMatch(/^req\/ip +yes +/m);
    expect(await straight("list add blocklist 203.0.113.7 --for 1h")).toMatchObject({ code: 0, stderr: "" });
    expect((await straight("why 203.0.113.7")).code).toBe(1);
    expect((await straight("list show blocklist")).stdout).toContain("203.0.113.7");
    expect((await straight("client clear 203.0.113.7")).stdout).toContain("forgotten by req/ip");
    expect((await straight("policy show")).stdout).toContain("3 per hour");
    expect((await straight("audit")).stdout).toMatch(/cli:eva +blocklist\.add +203\.0\.113\.7/);
    const off = await straight("edge off cdn");
    expect(off).toMatchObject({ code: 1, stderr: "" });
    expect(off.stdout).toMatch(
      /^cdn will be off as soon as a server that has it in its file runs: nobody keeps it now; /,
    );
    expect((await straight("edge status")).stdout).toMatch(/^cdn +memory +off +/m);
  });

  it("no policy version is added, no edge is kept, and nothing is left running", async () => {
    const { serve, straight, keys } = await redisRig();
    await (await serve()).close();
    const before = new Set(await keys());
    const { stdout } = await straight("policy history --json");
    expect(JSON.parse(stdout).versions).toMatchObject([{ id: 1, source: "file" }]);
    const forsaken = await straight("edge status");
    expect(forsaken).toMatchObject({ code: 1, stderr: "" });
    expect(forsaken.stdout).toMatch(/^cdn +memory +on +nobody keeps it +/m);
    expect((await keys()).filter((key) => !before.has(key))).toEqual([]);
  });

  it("a running server heeds what was decided there, and keeps its edges", async () => {
    const { serve, straight } = await redisRig();
    const { urls } = await serve();
    const ask = async (path: string) => (await (await fetch(`${urls.admin}${path}`)).json()) as EdgesAnswer;
    await expect.poll(async () => (await ask("/v1/edges")).edges[0]?.state, soon).toBe("in step");
    const keeper = (await ask("/v1/edges")).edges[0]?.keeper;
    expect(await straight("edge shadow cdn --why trying")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^cdn is shadow: /),
    });
    await expect
      .poll(async () => (await ask("/v1/edges")).edges[0], soon)
      .toMatchObject({
        mode: "shadow",
        setBy: { who: "cli:eva", why: "trying" },
        keeper,
      });
    const { code, stdout } = await straight("edge status");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^cdn +memory +shadow +in step +/m)]);
  });

  it("a process of its own ends by itself, with the answer and the code", async () => {
    const { serve, file, redis } = await redisRig();
    await (await serve()).close();
    const main = fileURLToPath(new URL("../../packages/tidegate-server/src/cli/main.ts", import.meta.url));
    const child = spawn(
      process.execPath,
      ["--import", import.meta.resolve("tsx"), main, "why", "203.0.113.7", "--config", file],
      {
        env: {
          ...process.env,
          TSX_TSCONFIG_PATH: fileURLToPath(new URL("../../tsconfig.test.json", import.meta.url)),
          TIDEGATE_REDIS: redis.url,
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("GET / from 203.0.113.7 passes.");
  });

  it("that has no policy yet is told, and stays without one", async () => {
    const { straight, redis } = await redisRig();
    const { code, stderr } = await straight("why 203.0.113.7");
    expect(code).toBe(0);
    expect(stderr).toContain("This Redis has no policy yet");
    const again = await run(["policy", "history", "--redis", redis.url]);
    expect(again.stderr).toContain("This Redis has no policy yet");
    expect(again.stdout).not.toMatch(/^1 /m);
  });

  it("the prefix is the file's: without it another server's data is not found", async () => {
    const { serve, redis } = await redisRig();
    await (await serve()).close();
    expect((await run(["policy", "show", "--redis", redis.url])).stderr).toContain("store.prefix");
  });

  it("that can not be reached ends with 3, one that refuses with 4, with the reason; its password is not shown", async () => {
    const port = await freePort();
    const gone = await run(["audit", "--redis", `redis://:hunter2hunter2@127.0.0.1:${port}`]);
    expect(gone.code).toBe(3);
    expect(gone.stderr).toContain("Redis can not be reached (");
    const { redis } = await redisRig();
    const client = await createClient({ url: redis.url }).connect();
    await client.sendCommand(["CONFIG", "SET", "requirepass", "right"]);
    client.destroy();
    const wrong = redis.url.replace("redis://", "redis://:hunter2hunter2@");
    const refused = await run(["audit", "--redis", wrong]);
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain("WRONGPASS");
    const { redis: another } = await redisRig();
    const elsewhere = await run(["audit", "--redis", `${another.url}/99`]);
    expect(elsewhere.code).toBe(4);
    expect(elsewhere.stderr).toContain("DB index is out of range");
    expect(gone.stderr + refused.stderr).not.toContain("hunter2");
  });

  it.each([
    ["audit --redis http://x", "not the URL of a Redis"],
    ["list show blocklist --redis redis://:pa%ss@127.0.0.1", "% in it as %25"],
    ["start --redis redis://127.0.0.1/shop", "not the URL of a Redis"],
    ["audit --redis redis://127.0.0.1:1 --url http://127.0.0.1:1", "contradict each other"],
    ["decide 203.0.113.7 --redis redis://127.0.0.1:1", "says nothing to decide"],
  ])("`%s` is refused", async (line, words) => {
    const { code, stderr } = await run(line.split(" "));
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });

  it("a server that is named wins over a Redis in the environment", async () => {
    const env = { TIDEGATE_REDIS: "redis://127.0.0.1:1" };
    expect((await run(["audit", "--url", "http://127.0.0.1:1"], { env })).stderr).toContain("tidegate start");
    const both = { ...env, TIDEGATE_URL: "http://127.0.0.1:1" };
    expect((await run(["audit"], { env: both })).stderr).toContain("tidegate start");
  });
});

describe("edge sync, straight on Redis", () => {
  const held = "203.0.113.7";
  const stray = "a".repeat(64);

  it("as a dry run reads the edge itself, and changes nothing; else it is left to whoever keeps the edge", async () => {
    const lb = await openHaproxyRig();
    onTestFinished(() => lb.close());
    const { serve, straight, keys } = await redisRig(
      `lb: { kind: haproxy, socket: ${lb.haproxy.socket}, maps: ${lb.haproxy.dir} }`,
    );
    const server = await serve();
    for (let i = 0; i < 5; i++)
      await fetch(`${server.urls.decide}/v1/decide`, {
        method: "POST",
        body: JSON.stringify({ subject: { ip: held } }),
      });
    await expect.poll(() => lb.show("addresses"), soon).toEqual([expect.stringContaining(held)]);
    expect((await straight("edge sync --dry-run")).stdout).toMatch(
      /^lb: as it should be\. \S+ keeps it\.\n$/,
    );
    await server.close();

    await lb.say(`del map ${lb.paths.addresses} ${held}`);
    await lb.say(`add map ${lb.paths.digests} ${stray} ${Math.ceil(Date.now() / 1_000) + 600}`);
    const before = await keys();
    const dry = await straight("edge sync lb --dry-run");
    expect(dry).toMatchObject({ code: 0, stderr: "" });
    expect(dry.stdout).toMatch(
      new RegExp(
        `^lb: 1 would be put, 1 would be removed\\.\n  - ${stray}\n  \\+ 203\\.0\\.113\\.7  req/ip, ends in \\d+ (min|s)\n$`,
      ),
    );
    expect(await lb.show("addresses")).toEqual([]);
    expect(await lb.show("digests")).toHaveLength(1);
    expect(await keys()).toEqual(before);

    const forsaken = await straight("edge sync lb");
    expect(forsaken.code).toBe(1);
    expect(forsaken.stdout).toContain("lb: nobody keeps this edge now");

    await serve();
    await expect.poll(async () => (await straight("edge sync")).code, soon).toBe(0);
    const [report] = JSON.parse((await straight("edge sync --json")).stdout);
    const [status] = JSON.parse((await straight("edge status --json")).stdout);
    expect(report).toMatchObject({ edge: "lb", isDryRun: false, keeper: status.keeper });
    expect((await straight("edge sync lb")).stdout).toBe(
      `lb: ${status.keeper} keeps it, and sets it right at its next look.\n`,
    );
    await expect.poll(() => lb.show("addresses"), soon).toEqual([expect.stringContaining(held)]);
  });

  it("as a dry run of nginx's file wakes no nginx, and writes no file", async () => {
    const file = join(temporaryFolder(), "held.conf");
    const text = `198.51.100.1 true;\n${held} "${Math.ceil(Date.now() / 1_000) + 600} soon";\n`;
    writeFileSync(file, text);
    const { straight } = await redisRig(`web: { kind: nginx, file: ${file} }`);
    const { code, stdout } = await straight("edge sync --dry-run");
    expect([code, stdout]).toEqual([0, `web: 0 would be put, 1 would be removed.\n  - ${held}\n`]);
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(existsSync(`${file}.told`)).toBe(false);
  });

  it("of an edge that can not be read from here, or is out of reach, says so and ends with 1", async () => {
    const folder = temporaryFolder();
    const { straight } = await redisRig(
      `cdn: { kind: memory }, lb: { kind: haproxy, socket: ${folder}/gone.sock, maps: ${folder} }`,
    );
    const { code, stdout } = await straight("edge sync --dry-run");
    expect(code).toBe(1);
    expect(stdout).toContain("cdn: this process can not read the edge");
    expect(stdout).toMatch(/^lb: .*gone\.sock/m);
  });

  it("without the server's file knows the edges servers tell of, and else says how to name them", async () => {
    const { redis, serve } = await redisRig("cdn: { kind: memory }", "");
    const bare = (line: string) => run([...line.split(" "), "--redis", redis.url]);
    for (const line of ["edge sync", "edge status", "edge off cdn"]) {
      const { code, stderr } = await bare(line);
      expect([line, code]).toEqual([line, 2]);
      expect(stderr).toContain("Add --config");
    }
    const server = await serve();
    await expect.poll(async () => (await bare("edge status")).code, soon).toBe(0);
    expect((await bare("edge status")).stdout).toMatch(/^cdn +memory +on +in step +/m);
    for (let i = 0; i < 5; i++)
      await fetch(`${server.urls.decide}/v1/decide`, {
        method: "POST",
        body: JSON.stringify({ subject: { ip: held } }),
      });
    await expect.poll(async () => (await bare(`why ${held}`)).stdout, soon).toContain("cdn: held");
    expect((await bare(`client clear ${held}`)).stdout).toContain("taken off cdn (1 held)");
    await server.close();
    const off = await bare("edge off cdn");
    expect(off.code).toBe(1);
    expect(off.stdout).toContain("nobody keeps it now");
    expect((await bare("edge status")).code).toBe(1);
  });

  it("decisions are not remembered there, and that is said", async () => {
    const { straight } = await redisRig();
    const { code, stderr } = await straight("why mf3k2x9-1a");
    expect(code).toBe(4);
    expect(stderr).toContain("Leave --redis out, and ask the server that refused the request");
  });
});

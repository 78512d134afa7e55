import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { RehearsalReport } from "tidegate/simulate";
import { describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { loadConfig } from "../../packages/tidegate-server/src/config/load-config.js";
import { openLog } from "../../packages/tidegate-server/src/observe/open-log.js";
import { type Server, startServer } from "../../packages/tidegate-server/src/server.js";
import { tidegate } from "./cli-rig.js";
import { configFile, eventually, startTidegate, temporaryFolder } from "./running.js";

vi.setConfig({ testTimeout: 60_000 });

const policy = `rules:
  - { name: req/ip, by: ip, limits: [100 per hour] }
  - { name: api, by: customer, limits: tier }
tiers: { free: [50 per hour], pro: [70 per hour] }
`;
const strict = policy.replace("100 per hour", "4 per hour");

/** An app that turns wrong passwords away. */
async function startApp(): Promise<string> {
  const app = createServer((req, res) => res.writeHead(req.url === "/login" ? 401 : 200).end());
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    app.closeAllConnections();
    app.close();
  });
  return `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
}

function configOf(app: string, more = ""): string {
  return `listen: { proxy: 0, admin: 0, decide: 0 }
upstreams: [{ url: "${app}" }]
trustedProxies: [127.0.0.1]
identify: { customer: X-Customer }
decide: { peers: [127.0.0.1], canFinish: true }
${more}
policy:
${policy.replace(/^(?=.)/gm, "  ")}`;
}

interface Rig {
  readonly server: Server;
  readonly folder: string;
  visit(ip: string, count: number, path?: string, headers?: Record<string, string>): Promise<number[]>;
  rehearse(text: unknown, more?: Record<string, unknown>): Promise<{ status: number; json: never }>;
}

async function start(more = ""): Promise<Rig> {
  const folder = temporaryFolder();
  const file = configFile(folder, configOf(await startApp(), more));
  const server = await startServer(loadConfig({ file, env: {}, cwd: folder }), {
    log: openLog({ level: "silent" }),
  });
  onTestFinished(() => server.close());
  return { server, folder, ...asked(server.urls.proxy as string, server.urls.admin as string) };
}

function asked(proxy: string, admin: string): Pick<Rig, "visit" | "rehearse"> {
  return {
    async visit(ip, count, path = "/", headers = {}) {
      const statuses: number[] = [];
      for (let i = 0; i < count; i++) {
        const response = await fetch(`${proxy}${path}`, { headers: { "x-forwarded-for": ip, ...headers } });
        await response.arrayBuffer();
        statuses.push(response.status);
      }
      return statuses;
    },
    async rehearse(text, more = {}) {
      const body = JSON.stringify({ policy: text, ...more });
      const response = await fetch(`${admin}/v1/rehearse`, { method: "POST", body });
      return { status: response.status, json: (await response.json()) as never };
    },
  };
}

describe("rehearsing on recent traffic", () => {
  it("tells what another policy would have done to the requests of proxy and decision service, and changes nothing", async () => {
    const rig = await start();
    await rig.visit("203.0.113.7", 6);
    await rig.visit("203.0.113.8", 2);
    for (let i = 0; i < 3; i++) {
      const body = JSON.stringify({ subject: { ip: "203.0.113.7", path: "/asked" } });
      await fetch(`${rig.server.urls.decide}/v1/decide`, { method: "POST", body });
    }
    const { status, json } = await rig.rehearse(strict);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      requests: 11,
      outcome: { allowed: 6, refused: 5 },
      against: { refused: 0 },
      change: {
        newlyRefused: { requests: 5, clients: 1 },
        worst: [{ client: "203.0.113.7", newlyRefused: 5 }],
      },
    } satisfies Partial<Record<keyof RehearsalReport, unknown>>);
    expect((await rig.rehearse(strict, { against: "none" })).json).not.toHaveProperty("change");
    expect(await rig.visit("203.0.113.7", 1)).toEqual([200]);
  });

  it("knows how requests ended: rules that count failures count those alone", async () => {
    const rig = await start();
    await rig.visit("203.0.113.7", 6, "/login");
    await rig.visit("203.0.113.8", 6, "/search");
    const failures = "rules:\n  - { name: login, by: ip, limits: [2 per hour], count: failures }\n";
    const { json } = await rig.rehearse(failures);
    expect(json).toMatchObject({
      outcome: { refused: 4, refusedClients: 1 },
      offenders: [{ client: "203.0.113.7", refused: 4 }],
    });
  });

  it("a bad policy is refused as ever, with every problem and its line", async () => {
    const rig = await start();
    const { status, json } = await rig.rehearse("rules:\n  - { name: a, by: nose, limits: [1 per hour] }\n");
    expect([status, json]).toMatchObject([
      400,
      { code: "TG_BY", problems: [{ line: 2, path: "rules[0].by" }] },
    ]);
    expect((await rig.rehearse(5)).json).toMatchObject({
      status: 400,
      code: "TG_REQUEST",
      path: "body.policy",
    });
    expect((await rig.rehearse(strict, { against: "him" })).status).toBe(400);
  });

  it("one at a time: whoever asks meanwhile is told to ask again", async () => {
    const rig = await start();
    await rig.visit("203.0.113.7", 5);
    const busy = await eventually(async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => rig.rehearse(strict)));
      expect(answers.map(({ status }) => status)).toContain(200);
      return answers.find(({ status }) => status !== 200);
    });
    expect(busy.json).toMatchObject({ status: 409, code: "TG_REHEARSAL_BUSY" });
    expect((await rig.rehearse(strict)).status).toBe(200);
  });

  it("is not to be had where no traffic is kept", async () => {
    const rig = await start("rehearse: { keep: 0 }");
    await rig.visit("203.0.113.7", 1);
    expect((await rig.rehearse(strict)).json).toMatchObject({ status: 404, code: "TG_NOT_FOUND" });
  });

  it("keeps as many requests as it is told, the newest", async () => {
    const rig = await start("rehearse: { keep: 5 }");
    await rig.visit("203.0.113.7", 9);
    expect((await rig.rehearse(strict)).json).toMatchObject({ requests: 5, outcome: { refused: 1 } });
  });

  it("with workers, of the requests of all of them", async () => {
    const folder = temporaryFolder();
    const store = `store: { kind: redis, url: "redis://127.0.0.1:${inject("redisPort")}", prefix: "rehearse-${process.pid}" }`;
    configFile(folder, configOf(await startApp(), store).replace(/^listen:.*\n/, ""));
    const running = await startTidegate({ folder, args: ["--workers", "2"] });
    onTestFinished(() => void running.stop());
    const { visit, rehearse } = asked(running.proxy, running.admin);
    await visit("203.0.113.7", 20, "/", { connection: "close" });
    expect((await rehearse(strict)).json).toMatchObject({
      requests: 20,
      outcome: { allowed: 4, refused: 16 },
    });
  });
});

describe("tidegate policy rehearse", () => {
  it("prints the summary of a replay, of a policy alone or a whole configuration, and says when there was no traffic", async () => {
    const rig = await start();
    writeFileSync(join(rig.folder, "strict.yaml"), strict);
    const admin = rig.server.urls.admin as string;
    const run = (file: string, ...args: string[]) =>
      tidegate(["policy", "rehearse", file, "--url", admin, ...args], { cwd: rig.folder });
    expect((await run("strict.yaml")).stdout).toContain("nothing to rehearse with");
    await rig.visit("203.0.113.7", 6);
    const { code, stdout } = await run("strict.yaml");
    expect([code, stdout]).toEqual([0, expect.stringContaining("6 requests of 1 client,")]);
    expect(stdout).toContain("newly refused      2 requests of 1 client");
    expect(stdout).toContain("203.0.113.7");
    expect((await run("tidegate.yaml")).stdout).toContain("newly refused      0 requests");
    expect(JSON.parse((await run("strict.yaml", "--json")).stdout)).toMatchObject({
      outcome: { refused: 2 },
    });
    writeFileSync(
      join(rig.folder, "wrong.yaml"),
      "rules:\n  - { name: a, by: nose, limits: [1 per hour] }\n",
    );
    const wrong = await run("wrong.yaml");
    expect(wrong.code).not.toBe(0);
    expect(wrong.stderr + wrong.stdout).toContain("rules[0].by");
  });
});

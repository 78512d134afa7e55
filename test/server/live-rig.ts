import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { loadConfig } from "../../packages/tidegate-server/src/config/load-config.js";
import { openLog } from "../../packages/tidegate-server/src/observe/open-log.js";
import { type Server, startServer } from "../../packages/tidegate-server/src/server.js";
import { listening } from "./cli-rig.js";
import { configFile, temporaryFolder } from "./running.js";

/** Somebody who listens to events. */
export interface Heard {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  text(): string;
  /** What came under this name, oldest first. */
  of<T = Record<string, unknown>>(name: string): T[];
  isOver(): boolean;
  leave(): void;
}

export async function hear(admin: string, headers: Readonly<Record<string, string>> = {}): Promise<Heard> {
  let text = "";
  let isOver = false;
  const res = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${admin}/v1/events`, { headers, agent: false }, resolve).on("error", reject);
  });
  res
    .setEncoding("utf8")
    .on("data", (piece) => {
      text += piece;
    })
    .on("error", () => {})
    .on("close", () => {
      isOver = true;
    });
  onTestFinished(() => void res.destroy());
  return {
    status: res.statusCode as number,
    headers: res.headers,
    text: () => text,
    of: (name) =>
      [...text.matchAll(/^event: (\w+)\n(?:id: \d+\n)?data: (.*)\n\n/gm)].flatMap(([, event, data]) =>
        event === name ? [JSON.parse(data as string)] : [],
      ),
    isOver: () => isOver,
    leave: () => void res.destroy(),
  };
}

export interface WholeServer extends Server {
  readonly urls: { readonly proxy: string; readonly admin: string };
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; json: never }>;
}

export const policyOf = (limit: number) => `rules:
  - { name: req/ip, by: ip, limits: [${limit} per hour], hold: { for: 10m }, edges: true }
`;

/** A whole server in this process, before an app of its own, until the test is over. */
export async function startWhole(settings = ""): Promise<WholeServer> {
  const app = await listening((_req, res) => res.end("app"));
  const folder = temporaryFolder();
  const file = configFile(
    folder,
    `upstreams: [{ url: "${app}" }]
listen: { proxy: 0, admin: 0, decide: false }
trustedProxies: [127.0.0.1]
edges: { cdn: { kind: memory } }
control: { every: 100ms }
${settings}
policy:
${policyOf(3).replace(/^/gm, "  ").trimEnd()}
`,
  );
  const loaded = loadConfig({ file, env: {}, cwd: folder, overrides: { dataDir: join(folder, "data") } });
  const server = await startServer(loaded, { log: openLog({ level: "silent" }) });
  onTestFinished(() => server.close());
  const urls = server.urls as WholeServer["urls"];
  return {
    ...server,
    urls,
    async ask(method, path, body) {
      const res = await fetch(`${urls.admin}${path}`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: res.status, json: (await res.json()) as never };
    },
  };
}

/** Statuses of so many requests from this address. */
export async function visit(proxy: string, ip: string, count: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < count; i++) {
    const res = await fetch(proxy, { headers: { "X-Forwarded-For": ip } });
    await res.arrayBuffer();
    statuses.push(res.status);
  }
  return statuses;
}

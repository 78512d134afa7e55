import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, onTestFinished, vi } from "vitest";
import { loadConfig } from "../../packages/tidegate-server/src/config/load-config.js";
import { openLog } from "../../packages/tidegate-server/src/observe/open-log.js";
import { type Server, startServer } from "../../packages/tidegate-server/src/server.js";
import { type After, configFile, temporaryFolder } from "../server/running.js";
import { freePort } from "../servers/index.js";

export const token = "the-admins-own-token";

const policy = `rules:
  - { name: req/ip, by: ip, limits: [20 per hour], hold: { after: 3, for: [10m] }, edges: true }
  - { name: api, by: customer, limits: tier }
tiers: { free: [10 per hour], pro: [100 per hour] }
defaultTier: free
`;

/** A whole server with an app behind it and an edge in memory, and a real Chromium to look at it. */
export interface Rig {
  readonly admin: string;
  /** A request through the proxy from this address; its status and the decision's id. */
  visit(ip: string, headers?: Record<string, string>, path?: string): Promise<Visited>;
  /** Asks the API as an admin's tool does. */
  ask<T = unknown>(method: string, path: string, body?: unknown): Promise<T>;
  /** A window of its own, signed in by a one-time code unless `isOut`. */
  open(place: string, options?: OpenOptions): Promise<Page>;
  /** Every address any window asked for. */
  readonly asked: ReadonlySet<string>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

export interface Visited {
  readonly status: number;
  readonly id: string;
}

export interface OpenOptions {
  readonly isOut?: boolean;
  /** Default admin. */
  readonly role?: "viewer" | "operator";
  readonly width?: number;
  readonly isDark?: boolean;
}

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

let browser: Promise<Browser> | undefined;
afterAll(async () => (await browser)?.close());

export function theBrowser(): Promise<Browser> {
  // Debian's. Root has no sandbox.
  browser ??= chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  return browser;
}

export async function startRig(
  options: { store?: string; policy?: string; after?: After } = {},
): Promise<Rig> {
  const { store = "memory", after = onTestFinished } = options;
  const port = await freePort();
  const folder = temporaryFolder(after);
  const app = createServer((_, res) => res.end("app"));
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  after(() => {
    app.closeAllConnections();
    app.close();
  });
  const file = configFile(
    folder,
    `listen: { proxy: 0, admin: ${port}, decide: false }
upstreams: [{ url: "http://127.0.0.1:${(app.address() as AddressInfo).port}" }]
trustedProxies: [127.0.0.1]
identify: { user: X-User, customer: X-Customer, account: X-Account }
store: ${store}
admin: { token: ${token} }
edges: { cdn: { kind: memory } }
control: { every: 1s }
policy:
${(options.policy ?? policy).replace(/^(?=.)/gm, "  ")}`,
  );
  let server: Server | undefined;
  async function start(): Promise<void> {
    server = await startServer(loadConfig({ file, env: {}, cwd: folder }), {
      log: openLog({ level: "silent" }),
    });
  }
  async function stop(): Promise<void> {
    await server?.close();
    server = undefined;
  }
  await start();
  after(stop);
  const admin = `http://127.0.0.1:${port}`;
  const asked = new Set<string>();

  async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${admin}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "tidegate-who": "ann" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer as T;
  }

  async function signIn(context: BrowserContext, role: OpenOptions["role"]): Promise<string> {
    if (role === undefined) return (await ask<{ code: string }>("POST", "/v1/login-codes", {})).code;
    const name = `${role} ${Math.random().toString(36).slice(2, 8)}`;
    const { secret } = await ask<{ secret: string }>("POST", "/v1/tokens", { name, role });
    const login = await context.request.post(`${admin}/v1/login`, { data: { token: secret } });
    if (!login.ok()) throw new Error(await login.text());
    return "";
  }

  return {
    admin,
    asked,
    ask,
    start,
    stop,
    visit(ip, headers = {}, path = "/") {
      const { hostname, port } = new URL(server?.urls.proxy as string);
      const sent = { "x-forwarded-for": ip, "user-agent": "curl/8", ...headers };
      return new Promise((resolve, reject) => {
        // Not fetch, which would tidy the path.
        request({ hostname, port, path, headers: sent, agent: false }, (res) => {
          res.resume().on("end", () => {
            resolve({ status: res.statusCode ?? 0, id: String(res.headers["tidegate-decision"] ?? "") });
          });
        })
          .on("error", reject)
          .end();
      });
    },
    async open(place, { isOut = false, role, width = 1440, isDark = false } = {}) {
      const context = await (await theBrowser()).newContext({
        viewport: { width, height: 900 },
        colorScheme: isDark ? "dark" : "light",
        reducedMotion: "reduce",
      });
      onTestFinished(() => context.close());
      context.setDefaultTimeout(30_000);
      context.on("request", (request) => asked.add(new URL(request.url()).origin));
      const page = await context.newPage();
      page.on("pageerror", (error) => {
        throw error;
      });
      const code = isOut ? "" : await signIn(context, role);
      if (code !== "") {
        await page.goto(`${admin}/#login=${code}`);
        await page.getByRole("button", { name: "Sign out" }).waitFor();
        await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
      } else await page.goto(`${admin}/${place}`);
      return page;
    },
  };
}

/** A window on a server that has no token yet: whoever is on its machine may ask for a one-time code. */
export async function openWindow(admin: string, place: string): Promise<Page> {
  const response = await fetch(`${admin}/v1/login-codes`, { method: "POST", body: "{}" });
  const { code } = (await response.json()) as { code: string };
  const context = await (await theBrowser()).newContext({ viewport: { width: 1440, height: 900 } });
  onTestFinished(() => context.close());
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  await page.goto(`${admin}/#login=${code}`);
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
  return page;
}

/** From this address until it is held; answers the last refusal. */
export async function flood(rig: Rig, ip: string, headers: Record<string, string> = {}): Promise<Visited> {
  const refusals: Visited[] = [];
  for (let i = 0; i < 60 && refusals.length < 6; i++) {
    const visited = await rig.visit(ip, headers, "/flood");
    if (visited.status === 429) refusals.push(visited);
  }
  const last = refusals.at(-1);
  if (last === undefined) throw new Error(`${ip} was never refused`);
  return last;
}

import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Registry } from "prom-client";
import { createGate, type Gate } from "tidegate";
import { onTestFinished } from "vitest";
import { adminApi } from "../../packages/tidegate-server/src/api/admin-api.js";
import type { Io } from "../../packages/tidegate-server/src/cli/io.js";
import { run } from "../../packages/tidegate-server/src/cli/run.js";
import { parsePolicy } from "../../packages/tidegate-server/src/config/parse-policy.js";
import { openCustomers } from "../../packages/tidegate-server/src/customers/open-customers.js";
import { openEmbeddedData } from "../../packages/tidegate-server/src/data/embedded-data.js";
import { recentDecisions } from "../../packages/tidegate-server/src/observe/recent-decisions.js";
import { keepPolicy, type PolicyKeeper } from "../../packages/tidegate-server/src/policy/keep-policy.js";
import { Secret } from "../../packages/tidegate-server/src/secret.js";
import type { CustomerSourceSettings } from "../../packages/tidegate-server/src/settings.js";
import { listeningLog } from "./customers-support.js";
import { temporaryFolder } from "./running.js";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly isTTY?: boolean;
  /** What a person answers when asked; undefined: nobody is there. */
  readonly says?: string;
  readonly interrupted?: AbortSignal;
  readonly onWrite?: (text: string) => void;
  /** What is piped in. */
  readonly input?: Io["input"];
  /** The keyboard. */
  readonly keys?: Io["keys"];
}

/** Runs `tidegate` in this process. */
export async function tidegate(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { env = {}, cwd = process.cwd(), isTTY = false, says } = options;
  const written = { stdout: "", stderr: "" };
  const output = (name: "stdout" | "stderr") => ({
    write: (text: string) => {
      written[name] += text;
      options.onWrite?.(text);
    },
    isTTY,
    columns: 100,
    rows: 20,
  });
  const io: Io = {
    stdout: output("stdout"),
    stderr: output("stderr"),
    env: { USER: "eva", ...env },
    cwd,
    canAsk: says !== undefined,
    async ask(question) {
      written.stderr += question;
      return says;
    },
    interrupted: options.interrupted ?? new AbortController().signal,
    ...(options.input && { input: options.input }),
    ...(options.keys && { keys: options.keys }),
  };
  const code = await run(args, io);
  return { code, ...written };
}

export const firstPolicy = `rules:
  - { name: req/ip, by: ip, limits: [3 per hour] }
  - { name: api, only: /api, by: customer, limits: tier }
tiers: { free: [1 per hour], pro: [5 per hour] }
defaultTier: free
`;

export interface AdminRig {
  readonly url: string;
  readonly gate: Gate;
  readonly keeper: PolicyKeeper;
  /** Requests from this address pass through the gate. */
  visit(ip: string, count: number): Promise<void>;
  /** Runs `tidegate` against it. */
  tidegate(line: string | readonly string[], options?: RunOptions): Promise<Ran>;
}

/** The real admin API over a real gate and real data, until the test is over. */
export async function adminRig(
  options: { token?: string; source?: CustomerSourceSettings } = {},
): Promise<AdminRig> {
  const data = await openEmbeddedData(temporaryFolder());
  const { log } = listeningLog();
  const gate = createGate({
    ...parsePolicy(firstPolicy),
    directory: data.directory,
    onWarning: () => {},
  });
  const keeper = await keepPolicy({
    policies: data.policies,
    audit: data.audit,
    parse: parsePolicy,
    apply: (policy) => gate.update(policy),
    log,
    demoText: firstPolicy,
  });
  const customers = await openCustomers({
    gate,
    data,
    log,
    ...(options.source && { source: options.source }),
  });
  const recent = recentDecisions(gate);
  const api = adminApi({
    settings: {
      admin: { hosts: [], ...(options.token !== undefined && { token: new Secret(options.token) }) },
    },
    gate,
    data,
    keeper,
    customers,
    refusal: async (id) => recent.find(id),
    registry: new Registry(),
    log,
    status: () => ({
      startedAt: 0,
      isDemo: true,
      isReady: true,
      workers: 1,
      listeners: {},
      store: { kind: "memory", isDegraded: false },
      policy: keeper.status(),
    }),
  });
  const url = await listening(api.handle);
  onTestFinished(async () => {
    await customers.close();
    await keeper.close();
    await gate.close();
    await data.close();
  });
  return {
    url,
    gate,
    keeper,
    async visit(ip, count) {
      for (let i = 0; i < count; i++)
        await gate.decide({ ip, method: "GET", host: "h", path: "/", header: () => undefined });
    },
    tidegate: (line, given) =>
      tidegate([...(typeof line === "string" ? line.split(" ") : line), "--url", url], given),
  };
}

export async function listening(handle: RequestListener): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

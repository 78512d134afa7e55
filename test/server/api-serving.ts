import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { createGate, type Gate } from "tidegate";
import { type AdminOptions, adminApi } from "../../packages/tidegate-server/src/api/admin-api.js";
import { parsePolicy } from "../../packages/tidegate-server/src/config/parse-policy.js";
import type { ControlDesk } from "../../packages/tidegate-server/src/control-desk.js";
import { openEmbeddedData } from "../../packages/tidegate-server/src/data/embedded-data.js";
import type { Data } from "../../packages/tidegate-server/src/data.js";
import { listen } from "../../packages/tidegate-server/src/listen/listen.js";
import { openLog } from "../../packages/tidegate-server/src/observe/open-log.js";
import { openMeters } from "../../packages/tidegate-server/src/observe/open-meters.js";
import { recentDecisions } from "../../packages/tidegate-server/src/observe/recent-decisions.js";
import { recentTraffic } from "../../packages/tidegate-server/src/observe/recent-traffic.js";
import { keepPolicy } from "../../packages/tidegate-server/src/policy/keep-policy.js";
import { recentRehearsal } from "../../packages/tidegate-server/src/rehearse/recent-rehearsal.js";
import { Secret } from "../../packages/tidegate-server/src/secret.js";

export const firstPolicy = `rules:
  - { name: req/ip, by: ip, limits: [3 per hour] }
  - { name: api, by: customer, limits: tier }
tiers: { free: [10 per hour], pro: [100 per hour] }
defaultTier: free
safelist: [192.0.2.0/24]
`;

export interface Admin {
  readonly url: string;
  readonly port: number;
  readonly gate: Gate;
  readonly data: Data;
  /** Lines of the log, read. */
  readonly lines: readonly Record<string, unknown>[];
  /** What of the server's own word may change. */
  readonly server: { isReady: boolean; notReady: string[]; isDraining: boolean };
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  close(): Promise<void>;
}

export type Reply = Awaited<ReturnType<typeof replyOf>>;

async function replyOf(response: Response) {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "") && text !== "";
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}

/** The admin API on a gate, a policy's keeper and embedded data of its own, behind a listener. */
export async function startAdmin(
  options: Partial<Pick<AdminOptions, "customers" | "validate">> & {
    token?: string;
    policy?: string;
    trustedProxies?: readonly string[];
    /** Of tokens and sessions. */
    clock?: () => number;
    /** Default embedded data of its own. It is closed in the end. */
    openData?: () => Promise<Data>;
    /** Opens what the edges are asked and told by. */
    openDesk?: (data: Data) => { readonly desk: ControlDesk; close(): Promise<void> };
  } = {},
): Promise<Admin> {
  const lines: Record<string, unknown>[] = [];
  const log = openLog({ level: "info" }, { write: (line) => void lines.push(JSON.parse(line)) });
  const folder = await mkdtemp(join(tmpdir(), "tidegate-api-"));
  const { clock, openData = () => openEmbeddedData(folder, { ...(clock && { clock }) }) } = options;
  const data = await openData();
  const { policy = firstPolicy } = options;
  const gate = createGate({ ...parsePolicy(policy), directory: data.directory, onWarning: () => {} });
  const keeper = await keepPolicy({
    policies: data.policies,
    audit: data.audit,
    parse: (text) => parsePolicy(text),
    apply: (policy) => gate.update(policy),
    log,
    demoText: policy,
  });
  const control = options.openDesk?.(data);
  const recent = recentDecisions(gate);
  const traffic = recentTraffic(gate, { keep: 1_000 });
  const registry = new Registry();
  const meters = openMeters({ gate, registry, offenders: 5 });
  const server = { isReady: true, notReady: [], isDraining: false };
  const { setTier, setLimits, get } = gate.customers;
  const api = adminApi({
    settings: {
      admin: { hosts: [], ...(options.token !== undefined && { token: new Secret(options.token) }) },
      trustedProxies: options.trustedProxies ?? [],
    },
    gate,
    data,
    keeper,
    customers: options.customers ?? {
      get,
      setTier: async (id, tier) => void (await setTier(id, tier)),
      setLimits: async (id, limits) => void (await setLimits(id, limits)),
    },
    ...(control && { desk: control.desk }),
    refusal: async (id) => recent.find(id),
    rehearsal: recentRehearsal({
      traffic: async () => traffic.read(0, 1_000).requests,
      parse: (text) => parsePolicy(text),
      gate,
      identity: {},
    }),
    registry,
    log,
    status: () => ({
      startedAt: 1,
      isDemo: false,
      ...server,
      workers: 1,
      listeners: {},
      store: { kind: "memory", isDegraded: gate.metrics().degraded },
      policy: keeper.status(),
    }),
    ...(options.validate && { validate: options.validate }),
    ...(clock && { clock }),
  });
  const listener = await listen({
    name: "admin",
    address: { host: "127.0.0.1", port: 0 },
    handle: api.handle,
    hosts: [],
    log,
  });
  await gate.ready;

  async function ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const bytes = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
    return replyOf(
      await fetch(`${listener.url}${path}`, { method, headers, ...(body !== undefined && { body: bytes }) }),
    );
  }

  return {
    url: listener.url,
    port: listener.port,
    gate,
    data,
    lines,
    server,
    ask,
    async close() {
      await listener.close(0);
      meters.close();
      await control?.close();
      await keeper.close();
      await gate.close();
      await data.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

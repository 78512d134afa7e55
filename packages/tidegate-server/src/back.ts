import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { Gauge, type Registry } from "prom-client";
import type { Subject } from "tidegate";
import { canonicalBlock, fingerprintsOf } from "tidegate/http";
import { adminApi } from "./api/admin-api.js";
import type { ReportedStatus } from "./api/handler.js";
import type { Closing } from "./closing.js";
import { overlapTest } from "./control/address-overlap.js";
import { openEdgeLoop } from "./control/edge-loop.js";
import { forgetTracked } from "./control/tracking/tracked-rules.js";
import type { ControlDesk } from "./control-desk.js";
import type { Core } from "./core.js";
import { openCustomers } from "./customers/open-customers.js";
import { openEdge } from "./edges/open-edge.js";
import { readEdge } from "./edges/read-edge.js";
import { listen } from "./listen/listen.js";
import type { Log } from "./log.js";
import type { Refusal } from "./refusal.js";
import type { FrontState, Fronts } from "./server.js";
import type { EdgeSettings, Settings } from "./settings.js";

/** What is known before the admin listener is. */
export type ServerStatus = Omit<ReportedStatus, "startedAt">;

export interface BackOptions {
  readonly settings: Settings;
  readonly core: Core;
  readonly status: () => Promise<ServerStatus>;
  readonly state: (most: number) => Promise<FrontState>;
  readonly fronts: Fronts | undefined;
  /** Undefined where nothing meets traffic. */
  readonly refusal?: (id: string) => Promise<Refusal | undefined>;
  /** False: looks at the edges as others report them. */
  readonly keepsEdges: boolean;
  readonly log: Log;
  readonly registry: Registry;
  readonly closing: Closing;
}

/** What people ask, and what goes on without traffic: the admin API, the edges, the customers of a primary database. */
export async function openBack(options: BackOptions): Promise<string | undefined> {
  const { settings, core, fronts, refusal, log, registry, closing } = options;
  const { gate, data, keeper } = core;
  const { source } = settings.customers;
  const customers = await openCustomers({ gate, data, log, ...(source && { source }) });
  closing.add("customers", () => customers.close());
  const desk = await openEdges(options);
  const address = settings.listen.admin;
  if (address === undefined) return undefined;
  const startedAt = Date.now();
  let url = "";
  const status = async (): Promise<ReportedStatus> => {
    const { listeners, ...rest } = await options.status();
    return { startedAt, ...rest, listeners: { ...listeners, admin: url } };
  };
  const metricsText = fronts && (() => fronts.metricsText(registry));
  const { handle } = adminApi({
    settings,
    gate,
    data,
    keeper,
    customers,
    desk,
    registry,
    log,
    status,
    busiest: async (most) => (await options.state(most)).busiest,
    validate: core.parse,
    ...(refusal && { refusal }),
    ...(metricsText && { metricsText }),
  });
  const { hosts } = settings.admin;
  const listener = await listen({ name: "admin", address, handle, hosts, log });
  closing.add("admin", () => listener.close(settings.drainMs));
  url = listener.url;
  return url;
}

/** The edges this process is told of, and the loop that sets them right. */
async function openEdges(options: BackOptions): Promise<ControlDesk> {
  const { settings, core, keepsEdges, log, registry, closing } = options;
  const { data, counts } = core;
  const named = Object.entries(settings.edges);
  const edges = await Promise.all(
    (keepsEdges ? named : []).map(async ([name, edge]) => ({
      kind: edge.kind,
      edge: await openEdge(name, edge),
    })),
  );
  for (const { edge } of edges) closing.add(`edge ${edge.name}`, () => edge.close());
  const loop = openEdgeLoop({
    edges,
    elsewhere: named.map(([edge, own]) => ({
      edge,
      kind: own.kind,
      maxEntries: roomAt(own),
      open: keepsEdges ? undefined : readEdge(edge, own),
    })),
    settings: settings.control,
    trustedProxies: settings.trustedProxies,
    isSafelisted: safelistTest(core),
    keysOf: (subject) => keysOf(subject, settings),
    forget: (offenders) => forgetTracked(counts.store, offenders),
    data,
    log,
    registry,
    holder: `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`,
  });
  closing.add("edge loop", () => loop.close());
  if (named.length > 0)
    new Gauge({
      name: "tidegate_offenders",
      help: "Clients held now that the edges are to know of.",
      registers: [registry],
      async collect() {
        const held = await data.offenders.now().catch(() => undefined);
        if (held !== undefined) this.set(held.length);
      },
    });
  return loop.desk;
}

function roomAt(edge: EdgeSettings): number {
  return edge.kind === "fastly" ? edge.shards * edge.maxItems : edge.maxEntries;
}

/** By the list as the gate has it now; of a block also by what the policy itself names inside it. */
function safelistTest({ gate }: Core): (address: string) => boolean {
  let told: readonly string[] | undefined;
  let isNamed = overlapTest([]);
  return (address) => {
    const { safelist = [] } = gate.policy;
    if (safelist !== told) {
      told = safelist;
      isNamed = overlapTest(safelist);
    }
    return isNamed(address) || gate.safelist.find(address.split("/", 1)[0] as string) !== undefined;
  };
}

/** Under what a client stands at an edge, as far as these facts tell. */
function keysOf(subject: Partial<Subject>, { identity }: Settings): string[] {
  const { ip, host, path, method, header } = subject;
  const address = ip === undefined ? undefined : canonicalBlock(ip);
  if (ip === undefined || address === undefined) return [];
  if (host === undefined || path === undefined || method === undefined || header === undefined)
    return [address];
  const { standard, broad } = fingerprintsOf(
    { ...subject, ip, host, path, method, header },
    identity.fingerprint ?? "sha256",
  );
  return [address, standard, ...(broad === undefined ? [] : [broad])];
}

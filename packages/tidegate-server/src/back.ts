import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { Gauge, type Registry } from "prom-client";
import type { Subject } from "tidegate";
import { canonicalBlock, fingerprintsOf } from "tidegate/http";
import { type AdminOptions, adminApi } from "./api/admin-api.js";
import { heldClients } from "./api/edge-desk.js";
import type { ReportedStatus } from "./api/handler.js";
import type { Closing } from "./closing.js";
import { overlapTest } from "./control/address-overlap.js";
import { openEdgeLoop } from "./control/edge-loop.js";
import { openSafelisted } from "./control/safelisted.js";
import { forgetTracked } from "./control/tracking/tracked-rules.js";
import type { ControlDesk } from "./control-desk.js";
import type { Core } from "./core.js";
import { openCustomers } from "./customers/open-customers.js";
import { openEdge } from "./edges/open-edge.js";
import { readEdge } from "./edges/read-edge.js";
import type { Hold, Released } from "./hold.js";
import type { KeptRequest } from "./kept-request.js";
import { listen } from "./listen/listen.js";
import type { Live, LiveSeries } from "./live/live.js";
import { openLive } from "./live/open-live.js";
import { seenClients } from "./live/seen-clients.js";
import type { Log } from "./log.js";
import type { ClientFilter, Refusal, RefusedClient } from "./refusal.js";
import { recentRehearsal } from "./rehearse/recent-rehearsal.js";
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
  /** Whom this server refused lately. Undefined where nothing meets traffic. */
  readonly refusedClients?: (filter: ClientFilter) => Promise<readonly RefusedClient[]>;
  /** Whom the rules hold, and that clients were forgotten. Undefined where nothing meets traffic. */
  readonly holds?: () => Promise<readonly Hold[]>;
  readonly release?: (released: Released) => Promise<void>;
  /** By the key a client is counted under. Undefined where nothing meets traffic. */
  readonly series?: LiveSeries;
  /** The newest requests, oldest first. Undefined where nothing meets traffic. */
  readonly traffic?: () => Promise<readonly KeptRequest[]>;
  /** False: looks at the edges as others report them. */
  readonly keepsEdges: boolean;
  readonly log: Log;
  readonly registry: Registry;
  readonly closing: Closing;
}

export interface Back {
  /** Of the admin listener; undefined: it is not served. */
  readonly admin?: string;
  /** Where a browser logs in, once. Undefined when somebody has a token to do that with. */
  readonly loginUrl?: string;
}

/** What people ask, and what goes on without traffic: the admin API, the edges, the customers of a primary database. */
export async function openBack(options: BackOptions): Promise<Back> {
  const { settings, core, fronts, refusal, log, registry, closing } = options;
  const { holds = async () => [], release } = options;
  const { gate, data, keeper } = core;
  const { source } = settings.customers;
  const customers = await openCustomers({ gate, data, log, ...(source && { source }) });
  closing.add("customers", () => customers.close());
  const desk = await openEdges(options);
  const address = settings.listen.admin;
  if (address === undefined) return {};
  const startedAt = Date.now();
  let url = "";
  const status = async (): Promise<ReportedStatus> => {
    const { listeners, ...rest } = await options.status();
    return { startedAt, ...rest, listeners: { ...listeners, admin: url } };
  };
  const metricsText = fronts && (() => fronts.metricsText(registry));
  const live = openLiveOf(options, desk);
  const { handle, firstCode } = adminApi({
    settings,
    gate,
    data,
    keeper,
    customers,
    desk,
    live,
    registry,
    log,
    status,
    busiest: async (most) => (await options.state(most)).busiest,
    validate: core.parse,
    isProxy: overlapTest(settings.trustedProxies),
    seen: seenClients({
      busiest: async (most) => (await options.state(most)).busiest,
      refused: options.refusedClients ?? (async () => []),
      offenders: () => data.offenders.now(),
      holds,
      clientOf: (ip) => clientKey(ip, settings.identity.ipv6Prefix),
      overlap: overlapTest,
    }),
    holds,
    ...(release && { release }),
    ...(refusal && { refusal }),
    ...(options.refusedClients && { refused: options.refusedClients }),
    ...rehearsalOf(options),
    ...(metricsText && { metricsText }),
  });
  const { hosts } = settings.admin;
  const listener = await listen({ name: "admin", address, handle, hosts, log });
  closing.add("admin", () => listener.close(settings.drainMs));
  // Before the listener is closed, which waits for answers under way.
  closing.add("live", () => live.close());
  url = listener.url;
  return { admin: url, ...(await firstLogin(core, log, url, firstCode)) };
}

/** None where nothing meets traffic, or none of it is kept. */
function rehearsalOf({ settings, core, traffic }: BackOptions): Pick<AdminOptions, "rehearsal"> {
  if (traffic === undefined || settings.rehearse.keep === 0) return {};
  const { gate, parse } = core;
  return { rehearsal: recentRehearsal({ traffic, parse, gate, identity: settings.identity }) };
}

/** While Redis is out of reach no start waits for it again: `tidegate token login-url` makes one later. */
async function firstLogin(
  { counts }: Core,
  log: Log,
  url: string,
  firstCode: () => Promise<string | undefined>,
): Promise<Pick<Back, "loginUrl">> {
  if (!counts.isThere) return {};
  const code = await firstCode().catch((error) => {
    log.warn({ err: error }, "a code to log in with could not be made");
  });
  return code === undefined ? {} : { loginUrl: `${url}/#login=${code}` };
}

/** What those who watch are told of. */
function openLiveOf({ settings, core, state, series, log }: BackOptions, desk: ControlDesk): Live {
  const { gate, data, keeper } = core;
  const { ipv6Prefix } = settings.identity;
  return openLive({
    ...(series && {
      series: { ...series, client: (ip) => series.client(clientKey(ip, ipv6Prefix)) },
    }),
    desk,
    told: (offenders) => heldClients(desk, offenders),
    data,
    state,
    store: {
      kind: settings.store.kind,
      watch(wake) {
        const stops = [gate.on("degraded", wake), gate.on("recovered", wake)];
        return () => stops.forEach((stop) => void stop());
      },
    },
    policy: () => keeper.status(),
    log,
  });
}

/** As clients are counted: of IPv6 by its block. Whatever is no address is nobody's. */
function clientKey(ip: string, ipv6Prefix = 64): string {
  const address = canonicalBlock(ip);
  if (address === undefined) return "";
  return address.includes(":") && !address.includes("/")
    ? (canonicalBlock(`${address}/${ipv6Prefix}`) ?? "")
    : address;
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
  const safelisted = openSafelisted({ gate: core.gate, directory: data.directory });
  closing.add("safelist", () => safelisted.close());
  const loop = openEdgeLoop({
    edges,
    elsewhere: named.map(([edge, own]) => ({
      edge,
      kind: own.kind,
      maxEntries: roomAt(own),
      open: readEdge(edge, own),
    })),
    isUntold: !keepsEdges && named.length === 0,
    settings: settings.control,
    trustedProxies: settings.trustedProxies,
    isSafelisted: safelisted.has,
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

/** Under what a client stands at an edge, as far as these facts tell. */
function keysOf(subject: Partial<Subject>, { identity }: Settings): string[] {
  const { ip, host, path = "/", method = "GET", header } = subject;
  const address = ip === undefined ? undefined : canonicalBlock(ip);
  if (ip === undefined || address === undefined) return [];
  const addresses = [...new Set([address, clientKey(address, identity.ipv6Prefix)])];
  if (host === undefined || header === undefined) return addresses;
  const { standard, broad } = fingerprintsOf(
    { ...subject, ip, host, path, method, header },
    identity.fingerprint ?? "sha256",
  );
  return [...addresses, standard, ...(broad === undefined ? [] : [broad])];
}

import { Registry } from "prom-client";
import type { GateMetrics } from "tidegate";
import { type Back, openBack, type ServerStatus } from "./back.js";
import { Closing } from "./closing.js";
import type { Loaded } from "./config/load-config.js";
import { openCore } from "./core.js";
import type { Finish } from "./decide/decide-service.js";
import { type Front, openFront } from "./front.js";
import type { Hold, Released } from "./hold.js";
import type { KeptPage, KeptRequest } from "./kept-request.js";
import { longestOf } from "./live/longest-of.js";
import type { BusyClient, ClientSeries, Series } from "./live/series.js";
import { sumClients, sumSeries } from "./live/sum-series.js";
import type { Log } from "./log.js";
import { logDecisions } from "./observe/log-decisions.js";
import { openMeters } from "./observe/open-meters.js";
import type { PolicyStatus } from "./policy/policy-status.js";
import type { ClientFilter, Refusal, RefusedClient } from "./refusal.js";
import { version } from "./version.js";

export interface ServerOptions {
  readonly log: Log;
  /** `"front"` meets traffic, `"back"` is asked by people; default both, in one process. */
  readonly role?: "whole" | "front" | "back";
  /** Of a back: what stands in front of it, in other processes. */
  readonly fronts?: Fronts;
  /** False where the policy is another process's to take in, from a file or the demo. Default: of a front false. */
  readonly readsFile?: boolean;
  /** False: edges are left to other processes. Default true. */
  readonly keepsEdges?: boolean;
  /** Of a front: its number among several. */
  readonly worker?: number;
  /** Of a front: asks the others to end a decision that is not its own. */
  readonly finishElsewhere?: Finish;
}

/** The front in other processes, as the back sees it. */
export interface Fronts {
  readonly count: number;
  readonly urls: Pick<Urls, "proxy" | "decide">;
  state(most: number): Promise<FrontState>;
  /** A decision that refused, as long as the one that made it remembers. */
  refusal(id: string): Promise<Refusal | undefined>;
  /** Whom each of them refused lately. */
  refusedClients(filter: ClientFilter): Promise<readonly RefusedClient[]>;
  /** Whom the rules hold, as far as each of them has seen. */
  holds(): Promise<readonly Hold[]>;
  /** Tells all that these clients were forgotten. */
  release(released: Released): Promise<void>;
  /** What each of them decided in the newest seconds, and one of its busiest clients. */
  series(seconds: number): Promise<readonly Series[]>;
  clientSeries(key: string): Promise<readonly ClientSeries[]>;
  /** The newest requests of all of them, as far as they are kept. */
  traffic(): Promise<readonly KeptRequest[]>;
  /** Everybody's metrics and the given own ones, as one text. */
  metricsText(own: Registry): Promise<string>;
}

/** How what meets traffic is now. */
export interface FrontState {
  /** Why it can not take requests, in words; none when it can. */
  readonly notReady: readonly string[];
  readonly metrics: GateMetrics;
  /** The busiest clients, as many as were asked for. */
  readonly busiest: readonly BusyClient[];
}

export interface Urls {
  readonly proxy?: string;
  readonly decide?: string;
  readonly admin?: string;
}

export interface Server {
  readonly urls: Urls;
  /** Where a browser logs in, once. Undefined when somebody has a token to do that with. */
  readonly loginUrl?: string;
  readonly registry: Registry;
  /** The policy it began with. */
  readonly policy: PolicyStatus;
  /** Reads the file again. */
  reload(who: string): Promise<void>;
  /** How it is, with so many of the busiest clients. */
  state(most: number): Promise<FrontState>;
  /** Ends a decision of this process's that waits for it. */
  readonly finish: Finish;
  /** A decision that refused, as long as it is remembered here. */
  refusal(id: string): Promise<Refusal | undefined>;
  /** Whom this server refused lately; with workers one address may be there several times. */
  refusedClients(filter: ClientFilter): Promise<readonly RefusedClient[]>;
  /** Whom the rules hold, as far as this server has seen, longest first. */
  holds(): Promise<readonly Hold[]>;
  /** These clients were forgotten. */
  release(released: Released): Promise<void>;
  /** What was decided in the newest seconds, and of one of the busiest clients. */
  series(seconds: number): Promise<Series>;
  clientSeries(key: string): Promise<ClientSeries | undefined>;
  /** The newest requests met here, so many of them from this number on. */
  traffic(from: number, most: number): KeptPage;
  /** Tells whoever asks that it ends, lets what is under way end, and closes everything. */
  close(): Promise<void>;
}

/** How long a start waits for Redis. A back comes after its fronts, which have waited, and no traffic needs its lists. */
const startWithinMs = 2_000;
const backWithinMs = 1_000;

/** Everything in one process, opened from the inside out, so that nothing is asked before it can answer. */
export async function startServer(loaded: Loaded, options: ServerOptions): Promise<Server> {
  const closing = new Closing(options.log);
  try {
    return await open(loaded, options, closing);
  } catch (error) {
    await closing.close();
    throw error;
  }
}

async function open(loaded: Loaded, options: ServerOptions, closing: Closing): Promise<Server> {
  const { log, fronts, worker, finishElsewhere, role = "whole" } = options;
  const { readsFile = role !== "front", keepsEdges = true } = options;
  const { settings } = loaded;
  const registry = new Registry();
  const withinMs = role === "back" ? backWithinMs : startWithinMs;
  const core = await openCore({ loaded, log, closing, readsFile, withinMs });
  const { gate, keeper } = core;
  const { offenders } = settings.metrics;
  const policyVersion = (): number => keeper.status().version;
  const meters = openMeters({ gate, registry, offenders, policyVersion, version: version() });
  closing.add("metrics", () => meters.close());
  closing.add("decision log", logDecisions(gate, log));

  let front: Front | undefined;
  let isDraining = false;
  const ownState = async (most: number): Promise<FrontState> => ({
    notReady: [
      ...(front === undefined ? ["The listeners are not open yet."] : []),
      ...(core.lists.isLoading ? ["The lists are not loaded yet."] : []),
      ...(front?.notReady() ?? []).map((name) => `No origin of the upstream "${name}" is healthy.`),
    ],
    metrics: gate.metrics(),
    busiest: gate.busiest(most).map((busy) => ({ ...busy, ...front?.series.lately(busy.key) })),
  });
  const state = (most: number): Promise<FrontState> => fronts?.state(most) ?? ownState(most);
  const refusal = async (id: string): Promise<Refusal | undefined> =>
    fronts === undefined ? front?.refusal(id) : fronts.refusal(id);
  const refusedClients = async (filter: ClientFilter): Promise<readonly RefusedClient[]> =>
    fronts === undefined ? (front?.refusedClients(filter) ?? []) : fronts.refusedClients(filter);
  const holds = async (): Promise<readonly Hold[]> =>
    fronts === undefined ? (front?.holds() ?? []) : longestOf(await fronts.holds());
  const release = async (released: Released): Promise<void> =>
    fronts === undefined ? front?.release(released) : fronts.release(released);
  const series = async (seconds: number): Promise<Series> =>
    sumSeries((await fronts?.series(seconds)) ?? (front ? [front.series.read(seconds)] : []), seconds);
  const clientSeries = async (key: string): Promise<ClientSeries | undefined> =>
    fronts === undefined ? front?.series.client(key) : sumClients(await fronts.clientSeries(key));
  const traffic = async (): Promise<readonly KeptRequest[]> =>
    fronts?.traffic() ?? front?.traffic(0, settings.rehearse.keep).requests ?? [];
  const status = async (): Promise<ServerStatus> => {
    const { notReady, metrics } = await state(0);
    return {
      isDemo: settings.isDemo,
      isReady: notReady.length === 0,
      notReady,
      isDraining,
      workers: fronts?.count ?? 1,
      listeners: { ...(fronts?.urls ?? front?.urls) },
      store: { kind: settings.store.kind, isDegraded: metrics.degraded },
      policy: keeper.status(),
      metrics,
    };
  };
  // People are answered first and last: a start and an end can be watched.
  const { admin, loginUrl }: Back =
    role === "front"
      ? {}
      : await openBack({
          settings,
          core,
          status,
          state,
          fronts,
          ...((role === "whole" || fronts !== undefined) && {
            refusal,
            refusedClients,
            holds,
            release,
            series: { read: series, client: clientSeries },
            traffic,
          }),
          keepsEdges,
          log,
          registry,
          closing,
        });
  if (role !== "back")
    front = await openFront({
      settings,
      core,
      log,
      registry,
      closing,
      ...(worker !== undefined && { worker }),
      ...(finishElsewhere && { finishElsewhere }),
    });
  return {
    urls: { ...front?.urls, ...(admin !== undefined && { admin }) },
    ...(loginUrl !== undefined && { loginUrl }),
    registry,
    policy: keeper.status(),
    reload: (who) => keeper.reload(who),
    state,
    refusal,
    refusedClients,
    holds,
    release,
    series,
    clientSeries,
    traffic: (from, most) => front?.traffic(from, most) ?? { requests: [] },
    finish: front?.finish ?? (async () => false),
    close() {
      isDraining = true;
      return closing.close();
    },
  };
}

import type { Registry } from "prom-client";
import type { Decision, Subject } from "tidegate";
import { decisionOf } from "tidegate/node";
import type { Closing } from "./closing.js";
import { openControl } from "./control/open-control.js";
import type { Core } from "./core.js";
import { decideService, type Finish } from "./decide/decide-service.js";
import { startDemoApp } from "./demo/demo-app.js";
import type { Hold, Released } from "./hold.js";
import type { KeptPage } from "./kept-request.js";
import { listen } from "./listen/listen.js";
import { type FrontSeries, openFrontSeries } from "./live/front-series.js";
import type { Log } from "./log.js";
import { currentHolds } from "./observe/current-holds.js";
import { openDecisionLog } from "./observe/decision-log.js";
import { recentDecisions } from "./observe/recent-decisions.js";
import { recentTraffic } from "./observe/recent-traffic.js";
import type { Offenders } from "./offenders.js";
import { openProxy } from "./proxy/open-proxy.js";
import type { ClientFilter, Refusal, RefusedClient } from "./refusal.js";
import type { Settings } from "./settings.js";

/** What meets traffic: the proxy and the decision service. Each worker has one. */
export interface Front {
  readonly urls: { readonly proxy?: string; readonly decide?: string };
  /** Names of upstreams that can take no requests. */
  notReady(): readonly string[];
  /** Ends a decision of this process's that waits for it. */
  readonly finish: Finish;
  /** A decision of this process's that refused, as long as it is remembered. */
  refusal(id: string): Refusal | undefined;
  /** Whom it refused lately. */
  refusedClients(filter: ClientFilter): RefusedClient[];
  /** Whom its rules hold. */
  holds(): Hold[];
  /** These clients were forgotten. */
  release(released: Released): void;
  /** What it decided lately, second by second. */
  readonly series: FrontSeries;
  /** The newest requests, so many of them from this number on, as far as they are kept. */
  traffic(from: number, most: number): KeptPage;
}

export interface FrontOptions {
  readonly settings: Settings;
  readonly core: Core;
  readonly log: Log;
  readonly registry: Registry;
  readonly closing: Closing;
  /** Its number among several. */
  readonly worker?: number;
  readonly finishElsewhere?: Finish;
}

type Track = ((subject: Subject) => void) | undefined;
/** Told how a request ended, where that is known. */
type Ended = ((decision: Decision | undefined, status: number | undefined) => void) | undefined;

export async function openFront(options: FrontOptions): Promise<Front> {
  const { settings, core, log, registry, closing } = options;
  const { gate, counts } = core;
  const offenders = openLoggedOffenders(options);
  const control = openControl({ settings, gate, store: counts.store, offenders, log, registry });
  closing.add("control", () => control.close());
  const recent = recentDecisions(gate);
  closing.add("recent decisions", () => recent.close());
  const holds = currentHolds(gate);
  closing.add("holds", () => holds.close());
  const series = openFrontSeries(gate);
  closing.add("series", () => series.close());
  const { keep } = settings.rehearse;
  const traffic = keep === 0 ? undefined : recentTraffic(gate, { keep: Math.ceil(keep / settings.workers) });
  closing.add("recent traffic", () => traffic?.close());
  const decide = await openDecide(options, control.track, traffic?.ended);
  const proxy = await openPerimeter(options, control.track, traffic?.ended);
  return {
    urls: { ...(proxy && { proxy: proxy.url }), ...(decide && { decide: decide.url }) },
    notReady: () => proxy?.notReady() ?? [],
    finish: decide?.finish ?? (async () => false),
    refusal: recent.find,
    refusedClients: recent.clients,
    holds: holds.now,
    release: holds.release,
    series,
    traffic: (from, most) => traffic?.read(from, most) ?? { requests: [] },
  };
}

/** With a decision log: every decision is told there, and every client held for the edges. */
function openLoggedOffenders({ settings, core, log, registry, closing, worker }: FrontOptions): Offenders {
  const { decisionLog: wanted, identity } = settings;
  const { offenders } = core.data;
  if (wanted === undefined) return offenders;
  const numbered = worker === undefined ? {} : { worker };
  const decisionLog = openDecisionLog({ settings: wanted, identity, log, registry, ...numbered });
  const stop = core.gate.on("decision", ({ subject, decision }) => decisionLog.decision(subject, decision));
  closing.add("decision log file", async () => {
    stop();
    await decisionLog.close();
  });
  return {
    ...offenders,
    async add(offender) {
      const isNews = await offenders.add(offender);
      if (isNews) decisionLog.held(offender);
      return isNews;
    },
  };
}

async function openDecide(
  options: FrontOptions,
  track: Track,
  ended: Ended,
): Promise<{ url: string; finish: Finish } | undefined> {
  const { settings, core, log, registry, closing, finishElsewhere } = options;
  const address = settings.listen.decide;
  if (address === undefined) return undefined;
  const service = decideService({
    settings,
    gate: core.gate,
    log,
    registry,
    ...(finishElsewhere && { finishElsewhere }),
    ...(track && { track }),
    ...(ended && { onEnded: ended }),
  });
  closing.add("decisions", () => service.close());
  const { hosts } = settings.decide;
  const { handle, serverOptions, finish } = service;
  const { url, close } = await listen({ name: "decide", address, handle, serverOptions, hosts, log });
  closing.add("decide", () => close(settings.drainMs));
  return { url, finish };
}

async function openPerimeter(
  options: FrontOptions,
  track: Track,
  ended: Ended,
): Promise<{ url: string; notReady(): readonly string[] } | undefined> {
  const { core, log, registry, closing } = options;
  const address = options.settings.listen.proxy;
  if (address === undefined) return undefined;
  const settings = options.settings.isDemo ? await withDemoApp(options.settings, closing) : options.settings;
  const { gate } = core;
  const proxy = openProxy({
    settings,
    gate,
    log,
    registry,
    ...(track && { track }),
    ...(ended && { onEnded: (req, status) => ended(decisionOf(req), status) }),
  });
  closing.add("upstreams", () => proxy.close());
  const { handle, upgrade, serverOptions } = proxy;
  const listener = await listen({
    name: "proxy",
    address,
    handle,
    upgrade,
    serverOptions,
    hosts: "any",
    readerTimeoutMs: settings.proxy.idleTimeoutMs,
    log,
  });
  closing.add("proxy", () => listener.close(settings.drainMs));
  return { url: listener.url, notReady: proxy.notReady };
}

async function withDemoApp(settings: Settings, closing: Closing): Promise<Settings> {
  const app = await startDemoApp();
  closing.add("demo app", () => app.close());
  return { ...settings, upstreams: settings.upstreams.map((upstream) => ({ ...upstream, urls: [app.url] })) };
}

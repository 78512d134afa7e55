import type { Registry } from "prom-client";
import type { Closing } from "./closing.js";
import { openControl } from "./control/open-control.js";
import type { Core } from "./core.js";
import { decideService, type Finish } from "./decide/decide-service.js";
import { startDemoApp } from "./demo/demo-app.js";
import { listen } from "./listen/listen.js";
import type { Log } from "./log.js";
import { openProxy } from "./proxy/open-proxy.js";
import type { Settings } from "./settings.js";

/** What meets traffic: the proxy and the decision service. Each worker has one. */
export interface Front {
  readonly urls: { readonly proxy?: string; readonly decide?: string };
  /** Names of upstreams that can take no requests. */
  notReady(): readonly string[];
  /** Ends a decision of this process's that waits for it. */
  readonly finish: Finish;
}

export interface FrontOptions {
  readonly settings: Settings;
  readonly core: Core;
  readonly log: Log;
  readonly registry: Registry;
  readonly closing: Closing;
  readonly finishElsewhere?: Finish;
}

export async function openFront(options: FrontOptions): Promise<Front> {
  const decide = await openDecide(options);
  const proxy = await openPerimeter(options);
  return {
    urls: { ...(proxy && { proxy: proxy.url }), ...(decide && { decide: decide.url }) },
    notReady: () => proxy?.notReady() ?? [],
    finish: decide?.finish ?? (async () => false),
  };
}

async function openDecide(options: FrontOptions): Promise<{ url: string; finish: Finish } | undefined> {
  const { settings, core, log, registry, closing, finishElsewhere } = options;
  const address = settings.listen.decide;
  if (address === undefined) return undefined;
  const service = decideService({
    settings,
    gate: core.gate,
    log,
    registry,
    ...(finishElsewhere && { finishElsewhere }),
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
): Promise<{ url: string; notReady(): readonly string[] } | undefined> {
  const { core, log, registry, closing } = options;
  const address = options.settings.listen.proxy;
  if (address === undefined) return undefined;
  const settings = options.settings.isDemo ? await withDemoApp(options.settings, closing) : options.settings;
  const { gate } = core;
  const control = openControl({ settings: settings.control, gate, store: core.counts.store, log, registry });
  closing.add("control", () => control.close());
  const { track } = control;
  const proxy = openProxy({ settings, gate, log, registry, ...(track && { track }) });
  closing.add("upstreams", () => proxy.close());
  const { handle, upgrade, serverOptions } = proxy;
  const listener = await listen({
    name: "proxy",
    address,
    handle,
    upgrade,
    serverOptions,
    hosts: "any",
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

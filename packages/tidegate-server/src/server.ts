import { Registry } from "prom-client";
import { adminApi } from "./api/admin-api.js";
import type { Status } from "./api/types.js";
import { Closing } from "./closing.js";
import type { Loaded } from "./config/load-config.js";
import { type Core, openCore } from "./core.js";
import { openCustomers } from "./customers/open-customers.js";
import type { Finish } from "./decide/decide-service.js";
import { type Front, openFront } from "./front.js";
import { listen } from "./listen/listen.js";
import type { Log } from "./log.js";
import { logDecisions } from "./observe/log-decisions.js";
import { openMeters } from "./observe/open-meters.js";
import { version } from "./version.js";

export interface ServerOptions {
  readonly log: Log;
  /** `"front"` meets traffic, `"back"` is asked by people; default both, in one process. */
  readonly role?: "whole" | "front" | "back";
  /** Of a back: what stands in front of it, in other processes. */
  readonly fronts?: Fronts;
  /** Of a front: asks the others to end a decision that is not its own. */
  readonly finishElsewhere?: Finish;
}

/** The front in other processes, as the back sees it. */
export interface Fronts {
  readonly count: number;
  readonly urls: Pick<Urls, "proxy" | "decide">;
  isReady(): boolean;
  /** Everybody's metrics and the given own ones, as one text. */
  metricsText(own: Registry): Promise<string>;
}

export interface Urls {
  readonly proxy?: string;
  readonly decide?: string;
  readonly admin?: string;
}

export interface Server {
  readonly urls: Urls;
  readonly registry: Registry;
  /** Reads the file again. */
  reload(who: string): Promise<void>;
  isReady(): boolean;
  /** Ends a decision of this process's that waits for it. */
  readonly finish: Finish;
  /** Tells whoever asks that it ends, lets what is under way end, and closes everything. */
  close(): Promise<void>;
}

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
  const { log, fronts, finishElsewhere, role = "whole" } = options;
  const { settings } = loaded;
  const registry = new Registry();
  const core = await openCore({ loaded, log, closing, readsFile: role !== "front" });
  const { gate, keeper } = core;
  const { offenders } = settings.metrics;
  const policyVersion = (): number => keeper.status().version;
  const meters = openMeters({ gate, registry, offenders, policyVersion, version: version() });
  closing.add("metrics", () => meters.close());
  closing.add("decision log", logDecisions(gate, log));

  let front: Front | undefined;
  let isDraining = false;
  const isReady = (): boolean => (role === "back" ? fronts?.isReady() : front?.isReady()) ?? false;
  const status = (): Omit<Status, "startedAt"> => ({
    isDemo: settings.isDemo,
    isReady: isReady(),
    isDraining,
    workers: fronts?.count ?? 1,
    listeners: { ...(fronts?.urls ?? front?.urls) },
    store: { kind: settings.store.kind, isDegraded: gate.metrics().degraded },
    policy: keeper.status(),
  });
  // People are answered first and last: a start and an end can be watched.
  const admin =
    role === "front" ? undefined : await openBack({ loaded, core, status, fronts, log, registry, closing });
  if (role !== "back")
    front = await openFront({
      settings,
      core,
      log,
      registry,
      closing,
      ...(finishElsewhere && { finishElsewhere }),
    });
  return {
    urls: { ...front?.urls, ...(admin !== undefined && { admin }) },
    registry,
    reload: (who) => keeper.reload(who),
    isReady,
    finish: front?.finish ?? (async () => false),
    close() {
      isDraining = true;
      return closing.close();
    },
  };
}

interface BackOptions {
  readonly loaded: Loaded;
  readonly core: Core;
  readonly status: () => Omit<Status, "startedAt">;
  readonly fronts: Fronts | undefined;
  readonly log: Log;
  readonly registry: Registry;
  readonly closing: Closing;
}

/** What people ask: the admin API, and the customers of a primary database. */
async function openBack(options: BackOptions): Promise<string | undefined> {
  const { loaded, core, fronts, log, registry, closing } = options;
  const { settings } = loaded;
  const { gate, data, keeper } = core;
  const { source } = settings.customers;
  const customers = await openCustomers({ gate, data, log, ...(source && { source }) });
  closing.add("customers", () => customers.close());
  const address = settings.listen.admin;
  if (address === undefined) return undefined;
  const startedAt = Date.now();
  const status = (): Status => ({ startedAt, ...options.status() });
  const metricsText = fronts && (() => fronts.metricsText(registry));
  const { handle } = adminApi({
    settings,
    gate,
    data,
    keeper,
    customers,
    registry,
    log,
    status,
    validate: core.parse,
    ...(metricsText && { metricsText }),
  });
  const { hosts } = settings.admin;
  const listener = await listen({ name: "admin", address, handle, hosts, log });
  closing.add("admin", () => listener.close(settings.drainMs));
  return listener.url;
}

import type { FailureOptions, IdentityOptions } from "tidegate";
import type { HeaderForms } from "tidegate/http";
import type { Secret } from "./secret.js";

/**
 * What one process is told: found to be in order, every default filled in, durations in milliseconds. It is the process's
 * own: never stored, never editable from elsewhere. The policy is not part of it.
 */
export interface Settings {
  readonly listen: ListenSettings;
  readonly upstreams: readonly UpstreamSettings[];
  readonly proxy: ProxySettings;
  readonly decide: DecideSettings;
  readonly admin: AdminSettings;
  /** Whose word on the client's address is believed; written as the library's `trustedProxies`. */
  readonly trustedProxies: readonly string[];
  readonly clientIpHeader: string;
  readonly identify: IdentifySettings;
  readonly identity: IdentityOptions;
  readonly responses: { readonly headers: HeaderForms; readonly status?: number };
  readonly store: StoreSettings;
  /** Where the embedded data lives: lists, customers, policy versions, audit. */
  readonly dataDir: string;
  readonly failure: Pick<FailureOptions, "deadlineMs" | "breaker" | "onStoreFailure">;
  readonly customers: CustomersSettings;
  readonly control: ControlSettings;
  readonly edges: Readonly<Record<string, EdgeSettings>>;
  readonly decisionLog?: DecisionLogSettings;
  /** How many of the newest requests are kept to rehearse a policy with, of all workers together; 0: none. */
  readonly rehearse: { readonly keep: number };
  readonly metrics: { readonly offenders: number };
  readonly logs: { readonly level: LogLevel };
  readonly workers: number;
  /** How long a shutdown waits for requests under way. */
  readonly drainMs: number;
  /** True without a file: a demo upstream and a demo policy. */
  readonly isDemo: boolean;
}

/** How the proxy knows who sends a request. */
export interface IdentifySettings {
  /** Headers in which trusted proxies say who is logged in. Believed from nobody else. */
  readonly user?: string;
  readonly customer?: string;
  /** The name a login claims, whoever says it: a header, or a field of small form and JSON bodies. */
  readonly account?: string | { readonly field: string };
}

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "silent";

export interface ListenAddress {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

export interface ListenSettings {
  /** Undefined: not served. */
  readonly proxy?: ListenAddress;
  readonly admin?: ListenAddress;
  readonly decide?: ListenAddress;
}

export interface UpstreamSettings {
  readonly name: string;
  /** Origins without a path, e.g. `http://10.0.0.5:3000`; requests are spread over the healthy ones. */
  readonly urls: readonly string[];
  /** Only requests for these hosts (`*.example.com` for all below); empty: any. */
  readonly hosts: readonly string[];
  /** Only paths under this one, whole segments; `/`: any. The longest that matches wins. */
  readonly path: string;
  readonly health?: HealthSettings;
}

export interface HealthSettings {
  readonly path: string;
  readonly everyMs: number;
  readonly timeoutMs: number;
  /** Failures in a row that take an origin out, and successes in a row that bring it back. */
  readonly failures: number;
  readonly successes: number;
}

export interface ProxySettings {
  readonly maxHeaderBytes: number;
  /** Undefined: any size. */
  readonly maxBodyBytes?: number;
  /** A client must have sent its headers, and its whole request, within this. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveMs: number;
  readonly connectTimeoutMs: number;
  /** Until the upstream's headers; and between two pieces of its body. */
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Requests under way at a time to each origin, each on a connection of its own. */
  readonly connections: number;
}

export interface DecideSettings {
  /** Callers whose word on a client is believed without a token; written as `trustedProxies`. */
  readonly peers: readonly string[];
  readonly token?: Secret;
  /** Callers promise to send `/v1/finish`: without it rules that look at the answer are refused here. */
  readonly canFinish: boolean;
  /** Names, beside addresses and localhost, under which this listener may be called. */
  readonly hosts: readonly string[];
}

/** Somebody is believed, and none of them will say how a request ended. */
export function hasSilentCallers({ listen, decide }: Pick<Settings, "listen" | "decide">): boolean {
  const { peers, token, canFinish } = decide;
  return listen.decide !== undefined && !canFinish && (peers.length > 0 || token !== undefined);
}

export interface AdminSettings {
  readonly token?: Secret;
  /** The token was made up for this process alone: what others begin with its help outlives it. */
  readonly isPassing?: true;
  readonly hosts: readonly string[];
}

export type StoreSettings =
  | { readonly kind: "memory"; readonly maxKeys?: number }
  | { readonly kind: "redis"; readonly url: Secret; readonly prefix: string; readonly isCluster: boolean }
  | { readonly kind: "memcached"; readonly servers: readonly string[]; readonly prefix: string };

export interface CustomersSettings {
  readonly source?: CustomerSourceSettings;
}

export type CustomerSourceSettings =
  | {
      readonly kind: "sql";
      /** `postgres://…` or `file:customers.db`. */
      readonly url: Secret;
      /** Answers rows of `id`, `tier` and, if wished, `limits` (JSON: window in seconds to limit). */
      readonly select: string;
      /** Takes id, tier, limits as $1, $2, $3. */
      readonly update: string;
      readonly everyMs: number;
    }
  | {
      readonly kind: "http";
      /** GET answers `[{ id, tier, limits }]`, a page at a time by `?after=<id>`; PUT `<url>/<id>` takes one. */
      readonly url: string;
      readonly token?: Secret;
      readonly everyMs: number;
    };

/** From the first crossing to the edges. */
export interface ControlSettings {
  /** Undefined: nobody is tracked. */
  readonly track?: TrackSettings;
  /** How often every edge is read and set right, whatever was heard meanwhile. */
  readonly everyMs: number;
  /** How long a client cleared by hand goes to no edge. */
  readonly holdOffMs: number;
  /** Addresses and blocks that never go to an edge, beside the safelist and the trusted proxies; private networks unless told otherwise. */
  readonly spare: readonly string[];
  readonly guard: ControlGuard;
}

/** What is too much to be right: beyond it new entries are withheld, and an alarm is raised. What stands at the edge stays. */
export interface ControlGuard {
  /** New entries at one edge within a minute. */
  readonly newPerMinute: number;
  /** Part of the clients seen lately that is held, 0 to 1; asked when at least 100 are, of 20 networks or more. */
  readonly share: number;
}

/** Who floods is tracked beside the request's way. */
export interface TrackSettings {
  /** Only these methods count; empty: all. */
  readonly methods: readonly string[];
  /** Written as rates: what one client may do on one path, and a known tool on all together. */
  readonly standard: string;
  readonly broad: string;
  /** What one address may do, whatever it calls itself. Undefined: addresses are not tracked. */
  readonly address?: string;
  /** EARRRL's memory. */
  readonly halfLifeMs: number;
  /** How long an offender is held at least, the first time, the second, and so on. */
  readonly holdFor: readonly number[];
}

/** A file of one JSON object per line, for analysis. */
export interface DecisionLogSettings {
  /** Absolute. Workers add their number. */
  readonly file: string;
  readonly which: "refused" | "all";
  /** A full file is renamed to `<file>.1`, and so on; so many are kept. */
  readonly maxBytes: number;
  readonly files: number;
}

export type EdgeSettings =
  | MemoryEdgeSettings
  | HaproxyEdgeSettings
  | VarnishEdgeSettings
  | NginxEdgeSettings
  | FastlyEdgeSettings;

export interface MemoryEdgeSettings {
  readonly kind: "memory";
  readonly maxEntries: number;
}

export interface HaproxyEdgeSettings {
  readonly kind: "haproxy";
  /** The runtime API: a path, or `127.0.0.1:9999`. */
  readonly socket: string;
  /** The folder of the maps, as HAProxy's configuration names it. */
  readonly maps: string;
  /** Keeps the files of the maps too, so that a reload loses nothing; needs that folder to be this machine's. */
  readonly keepsFiles: boolean;
  readonly maxEntries: number;
}

export interface VarnishEdgeSettings {
  readonly kind: "varnish";
  /** The listener that takes orders. */
  readonly url: string;
  readonly token?: Secret;
  readonly maxEntries: number;
}

export interface NginxEdgeSettings {
  readonly kind: "nginx";
  /** The file of held addresses that nginx includes. */
  readonly file: string;
  /** nginx's process, told to reload. */
  readonly pidFile: string;
  /** At least so long between two reloads. */
  readonly reloadMs: number;
  readonly maxEntries: number;
}

export interface FastlyEdgeSettings {
  readonly kind: "fastly";
  readonly service: string;
  readonly token: Secret;
  /** Dictionaries are named `<prefix>_0` and so on, `<prefix>_conf` beside them. */
  readonly prefix: string;
  /** How many, as the VCL was rendered: 1, 2, 4, 8 or 16. */
  readonly shards: number;
  /** Items one dictionary takes. */
  readonly maxItems: number;
  readonly api: string;
  /** A URL of the service that tells the canary, to measure how long a change takes to arrive. */
  readonly canary?: string;
}

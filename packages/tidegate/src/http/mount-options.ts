import type { Decision } from "../decision.js";
import type { RateText } from "../duration.js";
import { ConfigError, shown } from "../errors.js";
import type { Gate, GateOptions, Warning } from "../gate.js";
import { createGate } from "../index.js";
import { type Limit, rejectUnknownOptions } from "../limit.js";
import type { ProxyOptions } from "../policy/identity/proxies.js";
import type { HeaderForms } from "./headers.js";
import type { OwnRefusal } from "./refusal.js";
import { ruleName } from "./rule-name.js";

/** Who the app knows the client to be. `user` and `customer` are believed; `account` is only claimed. */
export interface Identified {
  readonly user?: string | undefined;
  readonly customer?: string | undefined;
  readonly account?: string | undefined;
}

/** How a gate stands in front of an app. */
export interface HttpOptions<Request> extends ProxyOptions {
  /** Says who sent the request. Without it, or when it throws, nobody is known but a basic-auth name as `account`. */
  identify?: (request: Request) => Identified | undefined | Promise<Identified | undefined>;
  /** In which form clients are told their limits. Default `"draft-11"`; false tells none. */
  headers?: HeaderForms;
  /** Of refusals. Default 429, and 503 where the store is out of reach and nobody is to pass uncounted. */
  status?: number;
  /** The app's own answer; undefined leaves it the usual one. */
  refuse?: (request: Request, decision: Decision) => OwnRefusal | undefined | Promise<OwnRefusal | undefined>;
  /** Whether the app takes `/API` for `/api`: a rule for one is then a rule for both. Default as the framework does: Express and Koa do, Fastify with `caseSensitive: false`. */
  ignoresCase?: boolean;
  /** Told once of each misuse. Default: `console.warn`. */
  onWarning?: (warning: Warning) => void;
}

/** One limit by address; a gate's options; or a gate. */
export type MountOptions<Request> = HttpOptions<Request> &
  (
    | ({ limit: Limit | RateText; gate?: never; rules?: never } & Omit<
        GateOptions,
        "rules" | "tiers" | "defaultTier"
      >)
    | (GateOptions & { limit?: never; gate?: never })
    | { gate: Gate; limit?: never; rules?: never }
  );

/** Written as records, so that the compiler misses what is missing. */
const httpOptions: Readonly<Record<keyof HttpOptions<never>, true>> = {
  trustedProxies: true,
  clientIpHeader: true,
  identify: true,
  headers: true,
  status: true,
  refuse: true,
  ignoresCase: true,
  onWarning: true,
};
const ruleOptions = { rules: true, tiers: true, defaultTier: true } as const;
const gateOptions: Readonly<
  Record<Exclude<keyof GateOptions, keyof typeof ruleOptions | "onWarning">, true>
> = {
  mode: true,
  safelist: true,
  blocklist: true,
  store: true,
  directory: true,
  identity: true,
  newKeysPerSecond: true,
  maxDelayed: true,
  canFinish: true,
  clock: true,
  deadlineMs: true,
  breaker: true,
  onStoreFailure: true,
  onDegraded: true,
  onRecovered: true,
};
const gateNames = Object.keys(gateOptions);
const policyNames = ["limit", "mode", "safelist", "blocklist", ...Object.keys(ruleOptions)];

export const isHttpOption = (name: string): boolean => Object.hasOwn(httpOptions, name);
export const isGateOption = (name: string): boolean => Object.hasOwn(gateOptions, name);
export const isPolicyOption = (name: string): boolean => policyNames.includes(name);
const waysToMount = {
  gate: ["gate"],
  limit: ["limit", ...gateNames],
  rules: [...Object.keys(ruleOptions), ...gateNames],
};

/** Opens the gate that one of the three ways of mounting asks for. `ownNames` are the adapter's own further options. */
export function openGate<Request>(options: MountOptions<Request>, ownNames: readonly string[]): Gate {
  const adapterNames = [...Object.keys(httpOptions), ...ownNames];
  if (isUncalled(options)) {
    throw new ConfigError(
      "TG_MOUNT",
      "tidegate",
      "it was given a request instead of options.",
      'Call it where you mount it: tidegate({ limit: "100 per minute" }).',
    );
  }
  for (const name of ["identify", "refuse"] as const) {
    if (options?.[name] === undefined || typeof options[name] === "function") continue;
    throw new ConfigError(
      "TG_HOOK",
      `tidegate.${name}`,
      `${shown(options[name])} is not a function.`,
      "Give a function of the request.",
    );
  }
  const way = (["gate", "limit", "rules"] as const).find((name) => Object(options)[name] !== undefined);
  if (way === undefined) {
    rejectUnknownOptions(options, ["gate", "limit", ...waysToMount.rules, ...adapterNames], "tidegate");
    throw new ConfigError(
      "TG_MOUNT",
      "tidegate",
      "there is nothing to limit.",
      'Write tidegate({ limit: "100 per minute" }), tidegate({ rules: [...] }) or tidegate({ gate }).',
    );
  }
  const others = (["gate", "limit", "rules"] as const).filter((name) => Object(options)[name] !== undefined);
  if (others.length > 1) {
    throw new ConfigError("TG_MOUNT", "tidegate", `${others.join(" and ")} are given.`, "Give one of them.");
  }
  rejectUnknownOptions(options, [...waysToMount[way], ...adapterNames], "tidegate");
  if (options.gate !== undefined) return validGate(options.gate);
  const given: Record<string, unknown> = { ...options };
  for (const name of adapterNames) if (name !== "onWarning") delete given[name];
  if (options.limit !== undefined) {
    delete given.limit;
    given.rules = [{ name: nameOf(options), by: "ip", limits: [options.limit] }];
  }
  return createGate(given as unknown as GateOptions);
}

/** In a store of the app's several mounts may count: each under its own limit's name, lest one fill another's count. */
function nameOf({ limit, store }: { limit?: unknown; store?: unknown }): string {
  if (store === undefined) return "requests";
  const { kind, args } = Object(limit) as Partial<Limit>;
  return ruleName(`requests (${typeof limit === "string" ? limit : `${kind} ${args}`})`);
}

/** Whoever forgets to call it hands in a request, or a framework's app. */
function isUncalled(options: unknown): boolean {
  return (
    typeof options === "function" ||
    (typeof options === "object" && options !== null && "headers" in options && "method" in options)
  );
}

function validGate(gate: Gate): Gate {
  if (typeof gate?.decide === "function") return gate;
  throw new ConfigError(
    "TG_MOUNT",
    "tidegate.gate",
    `${shown(gate)} is not a gate.`,
    "Make one with createGate({ rules }).",
  );
}

export function parseStatus(status: number | undefined): number | undefined {
  if (status === undefined) return undefined;
  if (Number.isInteger(status) && status >= 400 && status <= 599) return status;
  throw new ConfigError(
    "TG_STATUS",
    "status",
    `${shown(status)} does not refuse.`,
    "Write a status from 400 to 599.",
  );
}

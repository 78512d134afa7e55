import type { IncomingMessage } from "node:http";
import { type Clock, checkedClock, systemClock } from "../../clock.js";
import { ConfigError, shown } from "../../errors.js";
import type { FailureOptions } from "../../failure-options.js";
import { parseAmount, rejectUnknownOptions } from "../../limit.js";
import type { Cache } from "./cache.js";

/** The options of the printed middleware and of its gem, in their words. `Req` is a `Request` under `fetch`. */
export interface ApiThrottlingOptions<Req = IncomingMessage> extends Omit<FailureOptions, "onStoreFailure"> {
  /** Default 60. */
  requestsPerHour?: number;
  /** Where counts live. Default `"redis"`, on 127.0.0.1:6379. */
  cache?: Cache;
  /** True: users by HTTP Basic (the default). False: nobody is asked, all are counted as one. Or who it is, by any other scheme. */
  auth?: boolean | ((request: Req) => string | undefined);
  /** The cache key, in place of `<user>_<YYYY-MM-DD-HH>`. `auth` is undefined with `auth: false`. */
  key?: (request: Req, auth: { readonly username: string } | undefined) => string;
  /** Only these paths and all below them. */
  only?: string | readonly string[];
  /** Never these. Wins over `only`. */
  except?: string | readonly string[];
  /** `"printed"`: as in the article. `"gem"`: as its gem, which rejects those without credentials. Default `"printed"`. */
  mode?: "printed" | "gem";
  /** Those without credentials: let through uncounted, rejected with 401, or counted by address. Default as `mode` does. */
  anonymous?: Anonymous;
  /** Whose address counts under `"limitByIp"`. Default the socket's peer; `fetch` knows none. */
  clientIp?: (request: Req) => string | undefined;
  /** For tests. */
  clock?: Clock;
}

export type Anonymous = "pass" | "reject401" | "limitByIp";

type Settled = "requestsPerHour" | "cache" | "auth" | "anonymous" | "clock";
export type ParsedOptions = ApiThrottlingOptions<never> &
  Required<Pick<ApiThrottlingOptions<never>, Settled>>;

const known = [
  ...["requestsPerHour", "cache", "auth", "key", "only", "except", "mode", "anonymous", "clientIp", "clock"],
  ...["deadlineMs", "breaker", "onDegraded", "onRecovered"],
];

export function parseOptions(options: ApiThrottlingOptions<never>): ParsedOptions {
  rejectUnknownOptions(options, known, "apiThrottling");
  const { requestsPerHour = 60, cache = "redis", auth = true, mode = "printed", clock } = options;
  oneOf("mode", mode, ["printed", "gem"]);
  const { anonymous = mode === "gem" ? "reject401" : "pass" } = options;
  oneOf("anonymous", anonymous, ["pass", "reject401", "limitByIp"]);
  if (typeof auth !== "function") oneOf("auth", auth, [true, false]);
  for (const name of ["key", "clientIp"] as const) mayBeFunction(name, options[name]);
  return {
    ...options,
    requestsPerHour: parseAmount(requestsPerHour, "apiThrottling.requestsPerHour", "whole"),
    cache,
    auth,
    anonymous,
    clock: clock === undefined ? systemClock : checkedClock(clock, "apiThrottling.clock"),
  };
}

function oneOf(name: string, value: unknown, values: readonly unknown[]): void {
  if (!values.includes(value)) throw wrong(name, value, `Use ${values.map(shown).join(" or ")}.`);
}

function mayBeFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function") throw wrong(name, value, "Give a function.");
}

function wrong(name: string, value: unknown, help: string): ConfigError {
  return new ConfigError(
    "TG_PRESET_OPTION",
    `apiThrottling.${name}`,
    `${shown(value)} does not work here.`,
    help,
  );
}

import { type Clock, checkedClock, systemClock } from "../clock.js";
import { ConfigError, shown } from "../errors.js";
import { validateHook } from "../failure-options.js";
import type { GateOptions, IdentityOptions, Warning } from "../gate.js";
import { rejectUnknownOptions } from "../limit.js";
import type { Store } from "../store.js";
import { parseFlag } from "./choices.js";
import { policyOptions } from "./policy.js";

/** What a gate is told beside its policy, found to be in order. */
export interface GateSettings {
  readonly identity: Required<IdentityOptions>;
  /** Undefined: not capped. */
  readonly newKeysPerSecond: number | undefined;
  readonly maxDelayed: number;
  readonly canFinish: boolean;
  readonly clock: Clock;
  readonly onWarning: (warning: Warning) => void;
}

const known = [
  ...policyOptions,
  "store",
  "directory",
  "identity",
  "newKeysPerSecond",
  "maxDelayed",
  "canFinish",
  "clock",
  "onWarning",
  "deadlineMs",
  "breaker",
  "onStoreFailure",
  "onDegraded",
  "onRecovered",
];

export function validateGateOptions(options: GateOptions): void {
  rejectUnknownOptions(options, known, "createGate");
}

const eventNames = ["decision", "refused", "held", "degraded", "recovered", "warning"];

export function validateEvent(name: unknown): void {
  if (eventNames.includes(name as string)) return;
  throw new TypeError(`on: there is no event ${shown(name)}. Known: ${eventNames.join(", ")}.`);
}

export function parseSettings(options: GateOptions, store: Store): GateSettings {
  const { newKeysPerSecond = 1000, maxDelayed = 1000, onWarning = logWarning } = options;
  validateHook(onWarning, "onWarning");
  validateHook(options.onDegraded, "onDegraded");
  validateHook(options.onRecovered, "onRecovered");
  return {
    identity: parseIdentity(options.identity),
    newKeysPerSecond: newKeysPerSecond === false ? undefined : whole(newKeysPerSecond, "newKeysPerSecond", 1),
    maxDelayed: whole(maxDelayed, "maxDelayed", 0),
    canFinish: parseFlag(options.canFinish, true, "canFinish"),
    clock:
      options.clock === undefined
        ? (store.clock ?? systemClock)
        : checkedClock(options.clock, "createGate.clock"),
    onWarning,
  };
}

export function parseIdentity(options: IdentityOptions = {}): Required<IdentityOptions> {
  rejectUnknownOptions(options, ["ipv6Prefix", "networkPrefixes", "fingerprint"], "identity");
  const { ipv6Prefix = 64, networkPrefixes = [24, 48], fingerprint = "sha256" } = options;
  if (!Array.isArray(networkPrefixes) || networkPrefixes.length !== 2) {
    throw notANumber(
      networkPrefixes,
      "identity.networkPrefixes",
      "Write two prefix lengths, for IPv4 and IPv6, e.g. [24, 48].",
    );
  }
  if (fingerprint !== "sha256" && fingerprint !== "seed") {
    throw new ConfigError(
      "TG_CHOICE",
      "identity.fingerprint",
      `${shown(fingerprint)} is not a choice.`,
      'Use "sha256" or "seed".',
    );
  }
  return {
    ipv6Prefix: whole(ipv6Prefix, "identity.ipv6Prefix", 1, 128),
    networkPrefixes: [
      whole(networkPrefixes[0], "identity.networkPrefixes[0]", 1, 32),
      whole(networkPrefixes[1], "identity.networkPrefixes[1]", 1, 128),
    ],
    fingerprint,
  };
}

function whole(value: unknown, path: string, from: number, to = 1_000_000_000): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= from && value <= to) return value;
  throw notANumber(value, path, `Write a whole number from ${from} to ${to}.`);
}

function notANumber(value: unknown, path: string, help: string): ConfigError {
  return new ConfigError("TG_NUMBER", path, `${shown(value)} will not do.`, help);
}

function logWarning({ code, message, help }: Warning): void {
  console.warn(`Tidegate: ${message} ${help} [${code}]`);
}

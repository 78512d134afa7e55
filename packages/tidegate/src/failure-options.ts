import { ConfigError, shown } from "./errors.js";
import { rejectUnknownOptions } from "./limit.js";

/** What happens while the store is out of reach: count in this process, let everyone in, or no one. */
export type OnStoreFailure = "local" | "allow" | "deny";

export interface FailureOptions {
  /** How long a decision may wait for the store. Default 100. */
  deadlineMs?: number;
  /** After so many failures in a row the store is left alone for a while. Default 5 and 1000. */
  breaker?: { failures?: number; pauseMs?: number };
  /** Default `"local"`. */
  onStoreFailure?: OnStoreFailure;
  /** Called when decisions begin to be made without the store, with the failure that tipped it. */
  onDegraded?: (error: unknown) => void;
  /** Called when the store answers again. */
  onRecovered?: () => void;
}

/** The same, found to be in order. */
export interface FailureTerms {
  readonly deadlineMs: number;
  readonly failures: number;
  readonly pauseMs: number;
  readonly onStoreFailure: OnStoreFailure;
}

const failureHelp = "Write milliseconds above 0, as a number.";

export function parseFailureOptions(options: FailureOptions): FailureTerms {
  const { deadlineMs = 100, breaker = {}, onStoreFailure = "local" } = options;
  rejectUnknownOptions(breaker, ["failures", "pauseMs"], "breaker");
  const { failures = 5, pauseMs = 1000 } = breaker;
  if (!(typeof deadlineMs === "number" && deadlineMs > 0 && deadlineMs <= 60_000))
    throw new ConfigError(
      "TG_DEADLINE",
      "deadlineMs",
      `${shown(deadlineMs)} is not a deadline.`,
      `${failureHelp} At most 60000.`,
    );
  if (!(Number.isInteger(failures) && failures > 0))
    throw new ConfigError(
      "TG_BREAKER",
      "breaker.failures",
      `${shown(failures)} is not a number of failures.`,
      "Write a whole number from 1.",
    );
  if (!(pauseMs > 0 && Number.isFinite(pauseMs)))
    throw new ConfigError("TG_BREAKER", "breaker.pauseMs", `${shown(pauseMs)} is not a pause.`, failureHelp);
  if (onStoreFailure !== "local" && onStoreFailure !== "allow" && onStoreFailure !== "deny") {
    throw new ConfigError(
      "TG_STORE_FAILURE",
      "onStoreFailure",
      `${shown(onStoreFailure)} is not a way to go on.`,
      'Use "local", "allow" or "deny".',
    );
  }
  for (const hook of ["onDegraded", "onRecovered"] as const) validateHook(options[hook], hook);
  return { deadlineMs, failures, pauseMs, onStoreFailure };
}

export function validateHook(hook: unknown, path: string): void {
  if (hook === undefined || typeof hook === "function") return;
  throw new ConfigError(
    "TG_HOOK",
    path,
    `${shown(hook)} is not a function.`,
    "Give a function, or leave it out.",
  );
}

import type { Duration, RateText } from "../duration.js";
import { rejectUnknownOptions } from "../limit.js";
import type { Outcome } from "../subject.js";
import type { Match, RuleOptions } from "./rule-options.js";

export interface LoginOptions {
  /** Where logins go. Default `{ method: "POST", path: "/login" }`. */
  only?: Match;
  /** Begins the rules' names. Default `"login"`. */
  name?: string;
  /** Failures of one account from one address: the more, the longer the wait. */
  pair?: readonly RateText[];
  /** Failures from one address, whatever the account. */
  ip?: readonly RateText[];
  /** Failures on one account from addresses it never logged in from. */
  account?: readonly RateText[];
  /** Which answers are failed logins. Default: those with a status of 400 or more; where a failure is a redirect, say so here. */
  failed?: (outcome: Outcome) => boolean;
  /** How long an address counts as the account's own after a login. Default `"30d"`. */
  trustFor?: Duration;
  /** As a rule's own: of all three, or of each by itself. Default `"enforce"`. */
  mode?: RuleMode | { readonly [Rule in "pair" | "ip" | "account"]?: RuleMode };
}

type RuleMode = NonNullable<RuleOptions["mode"]>;

/**
 * Login protection, as three rules for a gate. Only failed logins count, and they are counted before the password is
 * looked at, so that a thousand guesses at once do not slip through. Waits grow with the failures, up to an hour.
 * A success clears the pair of account and address, nothing else. A stranger's failures can not lock the owner out:
 * an address the account has logged in from is not refused for what others did.
 *
 * The app says which account is tried: `identify: (req) => ({ account: req.body.email })`.
 */
export function loginRules(options: LoginOptions = {}): RuleOptions[] {
  rejectUnknownOptions(
    options,
    ["only", "name", "pair", "ip", "account", "failed", "trustFor", "mode"],
    "loginRules",
  );
  const {
    only = { method: "POST", path: "/login" },
    name = "login",
    pair = ["3 per 10s", "5 per 1m", "10 per 10m", "20 per 1h"],
    ip = ["20 per 1m", "50 per 10m", "100 per 1h"],
    account = ["50 per 10m", "100 per 1h"],
    failed = "failures" as const,
    trustFor = "30d",
    mode = {},
  } = options;
  const modes = typeof mode === "string" ? { pair: mode, ip: mode, account: mode } : mode;
  rejectUnknownOptions(modes, ["pair", "ip", "account"], "loginRules.mode");
  const modeOf = (rule: keyof typeof modes): Pick<RuleOptions, "mode"> =>
    modes[rule] === undefined ? {} : { mode: modes[rule] };
  const failures: Pick<RuleOptions, "only" | "count"> = { only, count: failed };
  return [
    {
      ...failures,
      name: `${name}/pair`,
      by: ["ip", "account"],
      limits: pair,
      clearOnSuccess: true,
      ...modeOf("pair"),
    },
    { ...failures, name: `${name}/ip`, by: "ip", limits: ip, ...modeOf("ip") },
    {
      ...failures,
      name: `${name}/account`,
      by: "account",
      limits: account,
      // What strangers do to an account is not to be read off by strangers.
      expose: false,
      trust: { by: ["ip", "account"], for: trustFor },
      ...modeOf("account"),
    },
  ];
}

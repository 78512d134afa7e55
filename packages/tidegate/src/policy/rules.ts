import { isCost, validateRuleName } from "../check.js";
import { parseDuration } from "../duration.js";
import { ConfigError, shown } from "../errors.js";
import type { OnStoreFailure } from "../failure-options.js";
import { type Limit, rejectUnknownOptions } from "../limit.js";
import { isLeaseLimit, type LimitLike, parseLimitList } from "../limiter.js";
import type { Outcome, Subject } from "../subject.js";
import { notAChoice, oneOf, parseFlag } from "./choices.js";
import { compileKey, isForgeable, type KeyForm, type KeyMaker } from "./key.js";
import { type Ladder, parseLadder } from "./ladder.js";
import { compileMatch, type RequestMatch } from "./matching/match.js";
import { type RuleAsks, ruleAsks } from "./rule-asks.js";
import type { RuleOptions } from "./rule-options.js";
import { type Level, levelsOf } from "./tiers.js";
import { parseTrust, type Trust } from "./trust.js";

/** A rule ready to judge. */
export interface Rule {
  readonly name: string;
  readonly options: RuleOptions;
  readonly matches: RequestMatch | undefined;
  readonly keyOf: KeyMaker;
  /** Counts by `ip` alone. */
  readonly isByIp: boolean;
  /** Counts by `customer` alone. */
  readonly isByCustomer: boolean;
  /** Whether a client can make up as many keys as it likes. */
  readonly isForgeable: boolean;
  /** Undefined: those of the customer's tier. */
  readonly levels: readonly Level[] | undefined;
  readonly asks: RuleAsks;
  readonly cost: number | ((subject: Subject) => number);
  readonly isOff: boolean;
  readonly isShadow: boolean;
  /** Undefined: every answer counts. */
  readonly counts: ((outcome: Outcome) => boolean) | undefined;
  readonly ladder: Ladder | undefined;
  /** 0: refuses at once. */
  readonly maxDelayMs: number;
  readonly clearsOnSuccess: boolean;
  readonly trust: Trust | undefined;
  readonly isExposed: boolean;
  /** Whether its charges need a name of their own, to be given back by. */
  readonly leases: boolean;
  readonly onStoreFailure: OnStoreFailure | undefined;
}

export interface RuleTerms {
  readonly keyForm: KeyForm;
  readonly canFinish: boolean;
  /** Some tier has a limit on what happens at the same time. */
  readonly tiersLease: boolean;
}

const known = [
  "name",
  "only",
  "except",
  "by",
  "limits",
  "cost",
  "mode",
  "count",
  "hold",
  "action",
  "maxDelay",
  "clearOnSuccess",
  "trust",
  "expose",
  "onStoreFailure",
  "edges",
];

export function compileRules(rules: readonly RuleOptions[], terms: RuleTerms): Rule[] {
  if (!Array.isArray(rules)) {
    throw new ConfigError(
      "TG_RULES",
      "rules",
      `${shown(rules)} is not a list of rules.`,
      "Write rules: [{ name, by, limits }].",
    );
  }
  const names = new Set<string>();
  return rules.map((options, i) => {
    const rule = compileRule(options, `rules[${i}]`, terms);
    if (names.has(rule.name)) {
      throw new ConfigError(
        "TG_RULE_TWICE",
        `rules[${i}].name`,
        `rule ${shown(rule.name)} is there twice.`,
        "Counts are kept under a rule's name: give each rule its own.",
      );
    }
    names.add(rule.name);
    return rule;
  });
}

function compileRule(options: RuleOptions, path: string, terms: RuleTerms): Rule {
  rejectUnknownOptions(options, known, path);
  validateRuleName(options.name, `${path}.name`);
  const where = `${path} (${shown(options.name)})`;
  const mode = oneOf(options.mode, ["enforce", "shadow", "off"], `${where}.mode`);
  const levels = parseLimits(options, where);
  const counts = parseCount(options.count, `${where}.count`);
  const leases = levels?.some(({ limit }) => isLeaseLimit(limit)) ?? terms.tiersLease;
  if (leases) for (const { limit } of levels ?? []) limit.ledger?.validate?.(1, "lease");
  const rule: Rule = {
    name: options.name,
    options,
    matches:
      options.only === undefined && options.except === undefined ? undefined : compileMatch(options, where),
    keyOf: compileKey(options.by, terms.keyForm, `${where}.by`),
    isByIp: options.by === "ip",
    isByCustomer: options.by === "customer",
    isForgeable: isForgeable(options.by),
    levels,
    asks: ruleAsks(options.name),
    cost: parseCost(options.cost, `${where}.cost`),
    isOff: mode === "off",
    isShadow: mode === "shadow",
    counts,
    ladder:
      options.hold === undefined
        ? undefined
        : parseLadder(options.hold, longestWindow(levels), `${where}.hold`),
    maxDelayMs: parseDelay(options, where),
    clearsOnSuccess: parseFlag(options.clearOnSuccess, false, `${where}.clearOnSuccess`),
    trust:
      options.trust === undefined
        ? undefined
        : parseTrust(options.trust, options.name, terms.keyForm, `${where}.trust`),
    isExposed: parseFlag(options.expose, true, `${where}.expose`),
    leases,
    onStoreFailure: parseFailure(options.onStoreFailure, `${where}.onStoreFailure`),
  };
  validateEdges(options.edges, `${where}.edges`);
  if (!terms.canFinish && needsOutcome(rule)) throw needsFinish(where);
  validateTogether(rule, where);
  return rule;
}

function parseLimits(options: RuleOptions, where: string): Level[] | undefined {
  const { limits, name } = options;
  if (limits === "tier") return undefined;
  const list = Array.isArray(limits) ? limits : [limits as LimitLike];
  return levelsOf(name, parseLimitList(list, `${where}.limits`));
}

function longestWindow(levels: readonly Level[] | undefined): number {
  return levels === undefined
    ? anHour
    : Math.max(...levels.map(({ limit }: { limit: Limit }) => limit.windowMs));
}

const anHour = 3_600_000;

function parseCost(cost: RuleOptions["cost"], path: string): Rule["cost"] {
  if (cost === undefined) return 1;
  if (typeof cost === "function" || isCost(cost)) return cost;
  throw new ConfigError(
    "TG_COST",
    path,
    `${shown(cost)} is not a cost.`,
    "Write a number above 0, or a function of the subject.",
  );
}

function parseCount(count: RuleOptions["count"], path: string): Rule["counts"] {
  if (count === undefined || count === "all") return undefined;
  if (typeof count === "function") return count;
  // Nobody answered: that counts, or closing the connection would be a way round.
  if (count === "failures") return ({ status }) => status === undefined || status >= 400;
  if (count === "successes") return ({ status }) => status === undefined || status < 400;
  throw new ConfigError(
    "TG_COUNT",
    path,
    `${shown(count)} does not say what counts.`,
    'Use "all", "failures", "successes" or a function of the outcome.',
  );
}

function parseDelay({ action, maxDelay }: RuleOptions, where: string): number {
  if (oneOf(action, ["refuse", "delay"], `${where}.action`) === "delay") {
    const path = `${where}.maxDelay`;
    const maxDelayMs = parseDuration(maxDelay === undefined ? "10s" : maxDelay, path);
    if (maxDelayMs <= longestTimerMs) return maxDelayMs;
    throw new ConfigError("TG_DELAY", path, "no request can wait so long.", 'Write "24d" at most.');
  }
  if (maxDelay === undefined) return 0;
  throw new ConfigError(
    "TG_DELAY",
    `${where}.maxDelay`,
    "this rule does not delay.",
    'Add action: "delay", or drop maxDelay.',
  );
}

/** A timer set for longer rings at once. */
const longestTimerMs = 2 ** 31 - 1;

function validateEdges(edges: RuleOptions["edges"], path: string): void {
  if (Array.isArray(edges) && edges.every((edge) => typeof edge === "string")) return;
  if (edges === undefined || typeof edges === "boolean") return;
  throw notAChoice(edges, path, 'Use true, false, or a list of edges by name, e.g. ["fastly"].');
}

function parseFailure(given: OnStoreFailure | undefined, path: string): OnStoreFailure | undefined {
  return given === undefined ? undefined : oneOf<OnStoreFailure>(given, ["local", "allow", "deny"], path);
}

/** Options that can not stand together, a cost no limit of the rule takes, names that are the gate's own. */
function validateTogether(rule: Rule, where: string): void {
  const { name, options, cost, levels, ladder, trust, maxDelayMs, clearsOnSuccess, leases } = rule;
  if (/ (?:crowd|trusts)$/.test(name)) {
    throw new ConfigError(
      "TG_NAME",
      `${where}.name`,
      'names ending in " crowd" or " trusts" are the gate\'s own.',
      "Choose another.",
    );
  }
  if (ladder !== undefined && (trust !== undefined || maxDelayMs > 0)) {
    throw new ConfigError(
      "TG_HOLD",
      `${where}.hold`,
      "a rule that holds can neither trust nor delay.",
      "Make two rules of it.",
    );
  }
  if (trust !== undefined && maxDelayMs > 0) {
    throw new ConfigError(
      "TG_DELAY",
      `${where}.action`,
      "a rule that trusts can not delay.",
      "Make two rules of it.",
    );
  }
  if (clearsOnSuccess && (options.count === "successes" || leases)) {
    throw new ConfigError(
      "TG_CLEAR",
      `${where}.clearOnSuccess`,
      `it would forget ${leases ? "calls still going on" : "all that this rule counts"}, which then limits nobody.`,
      leases ? "Make two rules of it." : 'Drop it, or count: "failures".',
    );
  }
  if (typeof cost === "number")
    for (const { limit } of levels ?? []) limit.ledger?.validate?.(cost, undefined);
}

/** Whether anything is left to do when a request ends. */
export function needsOutcome({ counts, leases, clearsOnSuccess, trust }: Rule): boolean {
  return counts !== undefined || leases || clearsOnSuccess || trust !== undefined;
}

/** Whether it counts and refuses, and does nothing else. */
export function isPlain(rule: Rule): boolean {
  const { isShadow, isExposed, ladder, maxDelayMs } = rule;
  return !isShadow && isExposed && ladder === undefined && maxDelayMs === 0 && !needsOutcome(rule);
}

function needsFinish(where: string): ConfigError {
  return new ConfigError(
    "TG_RULE_FINISH",
    where,
    "it needs to know how a request ended, and nobody will say.",
    'Here only count: "all" works: no leases, no clearOnSuccess, no trust.',
  );
}

import { z } from "zod";
import { duration, durations, map, oneOrMore, rate, whole } from "./shapes.js";

const amount = z.number({ error: "Write a number from 0." });
const most = amount.meta({ description: "The most in any window." });
const windowOf = () => duration().meta({ description: "How long a window is." });

/** The library's limits by the names of their factories. A map of these has one key. */
const limitShape = map({
  fixedWindow: map({
    limit: amount.meta({ description: "The most that passes in one window." }),
    window: windowOf(),
    align: z
      .enum(["epoch", "first-hit"])
      .optional()
      .meta({ description: "When windows begin: epoch (for all at once) or first-hit. Default epoch." }),
    offset: z
      .union([duration(), z.literal(0)], { error: "Write a duration, or 0." })
      .optional()
      .meta({ description: "Moves the boundary, e.g. 8h for a day in UTC-8." }),
    countRefused: z.boolean().optional().meta({ description: "Refused requests count too." }),
  })
    .optional()
    .meta({ description: "So many per window." }),
  slidingLog: map({
    limit: most,
    window: windowOf(),
    encoding: z
      .enum(["sorted-set", "list"])
      .optional()
      .meta({ description: "How Redis keeps it: sorted-set or list. Default sorted-set." }),
  })
    .optional()
    .meta({ description: "Exact: never more in any window. Keeps every request." }),
  slidingCounter: map({ limit: most, window: windowOf() })
    .optional()
    .meta({ description: "A sliding window, estimated from two counters." }),
  tokenBucket: map({
    burst: amount.meta({ description: "What passes at once after a rest." }),
    rate: z
      .union([rate(), z.number()], { error: "Write a rate such as 10 per second, or a number with per." })
      .meta({ description: "How fast tokens come back." }),
    per: duration().optional().meta({ description: "With a rate that is a number." }),
  })
    .optional()
    .meta({ description: "A bucket refilled steadily." }),
  earrrl: map({
    rate: z
      .union([rate(), z.number()], {
        error: "Write a rate such as 30 per minute, or requests per second.",
      })
      .meta({ description: "As text, or requests per second." }),
    halfLife: duration().meta({ description: "How fast the past is forgotten." }),
    overage: z.number().optional().meta({ description: "What a refused request weighs, 0 to 1. Default 1." }),
  })
    .optional()
    .meta({ description: "Refuses while the estimated recent rate is above this; who floods stays out." }),
  concurrency: map({
    limit: amount.meta({ description: "The most at the same time." }),
    leaseFor: duration().meta({ description: "A slot not released comes free after so long." }),
  })
    .optional()
    .meta({ description: "So many at the same time." }),
  backoff: map({
    levels: whole(1, 16).meta({ description: "How many limits." }),
    limit: amount.meta({ description: "What level 1 lets through." }),
    base: amount.meta({ description: "In seconds, from 2." }),
  })
    .optional()
    .meta({ description: "Levels of limits: level n is n · limit per base^n seconds." }),
});

const limitHelp =
  "Write a rate such as 100 per hour, or one limit by its name: { tokenBucket: { rate: 10 per second, burst: 20 } }.";
const limit = z.union([rate(), limitShape], { error: limitHelp });
const limits = z.union([z.literal("tier"), limit, z.array(limit)], {
  error: `${limitHelp} Or a list of these, or tier.`,
});

const by = oneOrMore("Write whom to count, e.g. ip, customer or [ip, account].").meta({
  description:
    "ip, network, user, customer, account, apiKey, standard, broad, path, header:<name>, cookie:<name>; a list counts the combination.",
});

const matchHelp =
  "Write a path such as /api, a method and a path such as POST /login, { method, path, host }, or a list of these.";
const oneMatch = z.union(
  [
    z.string(),
    map({
      method: oneOrMore(matchHelp).optional().meta({ description: "A method of HTTP, or a list." }),
      path: oneOrMore(matchHelp).optional().meta({ description: "A path and all below it, or a list." }),
      host: oneOrMore(matchHelp)
        .optional()
        .meta({ description: "A host, *.example.com for all below, or a list." }),
    }),
  ],
  { error: matchHelp },
);
const match = z.union([oneMatch, z.array(oneMatch)], { error: matchHelp });

const ruleShape = map({
  name: z
    .string()
    .meta({ description: "Printable, at most 64 characters, unique. Counts are kept under it." }),
  only: match.optional().meta({
    description: "Only these requests: /api, POST /login, { method, path, host }, or a list. Without it all.",
  }),
  except: match.optional().meta({ description: "Never these. Wins over only." }),
  by,
  limits: limits.meta({ description: "Limits that hold together, or tier." }),
  cost: z.number().optional().meta({ description: "What one request weighs. Default 1." }),
  mode: z
    .enum(["enforce", "shadow", "off"])
    .optional()
    .meta({ description: "enforce, shadow (judges and reports without refusing) or off. Default enforce." }),
  count: z.enum(["all", "failures", "successes"]).optional().meta({
    description: "Which answers count: all, failures (a status of 400 or more) or successes. Default all.",
  }),
  hold: map({
    after: z.number().optional().meta({ description: "Refusals that make an offence. Default 1." }),
    within: duration().optional().meta({ description: "Default the rule's longest window." }),
    for: durations().meta({ description: "How long the first offence is held, the second, and so on." }),
    forget: duration()
      .optional()
      .meta({ description: "After so long one step is forgiven. Default the longest hold." }),
    everywhere: z
      .boolean()
      .optional()
      .meta({ description: "A held client is refused on every path. Default false." }),
  })
    .optional()
    .meta({ description: "After so many refusals the client is held, longer each time." }),
  action: z
    .enum(["refuse", "delay"])
    .optional()
    .meta({ description: "refuse, or delay, which keeps a request waiting instead. Default refuse." }),
  maxDelay: duration().optional().meta({ description: "The longest a delayed request waits. Default 10s." }),
  clearOnSuccess: z
    .boolean()
    .optional()
    .meta({ description: "A successful answer makes the rule forget its key." }),
  trust: map({ by, for: duration().meta({ description: "For how long after each success." }) })
    .optional()
    .meta({ description: "After a successful answer this key is no longer refused by this rule." }),
  expose: z
    .boolean()
    .optional()
    .meta({ description: "false hides the rule's numbers from clients. Default true." }),
  onStoreFailure: z
    .enum(["local", "allow", "deny"])
    .optional()
    .meta({ description: "local, allow or deny: for this rule, instead of failure.onStoreFailure." }),
  edges: z
    .union([z.boolean(), z.array(z.string())], { error: "Write true, false or a list of edges." })
    .optional()
    .meta({ description: "Whether its offenders go to the edges, or to which." }),
});

const rates = z.array(rate(), { error: "Write a list of rates, e.g. [5 per 1m, 20 per 1h]." });

const ruleMode = z.enum(["enforce", "shadow", "off"]).optional();
const loginModes = map({
  pair: ruleMode.meta({ description: "Of the rule by account and address." }),
  ip: ruleMode.meta({ description: "Of the rule by address." }),
  account: ruleMode.meta({ description: "Of the rule by account." }),
});

const loginShape = map({
  login: map({
    only: match.optional().meta({ description: "Where logins go. Default POST /login." }),
    name: z.string().optional().meta({ description: "Begins the rules' names. Default login." }),
    pair: rates.optional().meta({ description: "Failures of one account from one address." }),
    ip: rates.optional().meta({ description: "Failures from one address." }),
    account: rates.optional().meta({ description: "Failures on one account from strange addresses." }),
    trustFor: duration()
      .optional()
      .meta({ description: "How long an address counts as the account's own. Default 30d." }),
    mode: z
      .union([z.enum(["enforce", "shadow", "off"]), loginModes], {
        error: "Write enforce, shadow or off, or one for each: { account: shadow }.",
      })
      .optional()
      .meta({ description: "As a rule's own: of all three, or { pair, ip, account }. Default enforce." }),
  }).meta({ description: "The library's three rules that protect a login." }),
});

const addresses = z.array(z.string({ error: "Write an address or a block, e.g. 10.0.0.0/8." }), {
  error: "Write a list such as [10.0.0.0/8].",
});

/** To read more of them would keep a server from its traffic for seconds. */
const mostRules = 1_000;

/** A policy as a file writes it. Whether its numbers and names make sense is the library's to say. */
export const policyShape = map({
  mode: z.enum(["enforce", "shadow", "off"]).optional().meta({
    description:
      "enforce, shadow (judges and reports without refusing) or off (lets everything pass). Default enforce.",
  }),
  rules: z
    .array(z.union([ruleShape, loginShape], { error: "Write a rule: { name, by, limits }." }), {
      error: "Write a list of rules: - { name: req/ip, by: ip, limits: [100 per minute] }.",
    })
    .max(mostRules, { error: `Write at most ${mostRules} rules: every request is asked about each of them.` })
    .default([])
    .meta({ description: "What to limit." }),
  tiers: z
    .record(z.string(), z.array(limit, { error: "Write a list, of one limit too: [100 per hour]." }), {
      error: "Write a map of names: free: [100 per hour].",
    })
    .optional()
    .meta({ description: "Named lists of limits, for rules with limits: tier." }),
  defaultTier: z.string().optional().meta({ description: "For customers without one. Default the first." }),
  safelist: addresses.optional().meta({ description: "Addresses and blocks that are never counted." }),
  blocklist: addresses.optional().meta({ description: "Addresses and blocks that are always refused." }),
});

export type PolicyShape = z.output<typeof policyShape>;
export type LimitShape = z.output<typeof limit>;
export type RuleShape = z.output<typeof ruleShape>;
export type LoginShape = z.output<typeof loginShape>["login"];

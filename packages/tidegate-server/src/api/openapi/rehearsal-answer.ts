import type { ClientChange, ClientReport, RehearsalReport, Suggestion, Suspicion } from "tidegate/simulate";
import { z } from "zod";
import { answerOf, count, maybe, time } from "./named.js";

const { array, boolean, enum: oneOf, number, record, string } = z;

type Rule = RehearsalReport["rules"][number];

const outcome = answerOf<RehearsalReport["outcome"]>()("RehearsedOutcome", {
  allowed: count,
  refused: count,
  shadow: count,
  delayed: count,
  held: count,
  refusedClients: count,
});
const some = z.strictObject({ requests: count, clients: count });
const second = z.strictObject({ at: time, requests: count });
const row = array(number());
const change = answerOf<ClientChange>()("RehearsedChange", {
  client: string(),
  userAgent: maybe(string()),
  requests: count,
  newlyRefused: count,
  newlyPassed: count,
});
const rule = answerOf<Rule>()("RehearsedRule", {
  rule: string(),
  isShadow: boolean(),
  judged: count,
  refused: count,
  clients: count,
  firstAt: maybe(time),
  lastAt: maybe(time),
  silence: maybe(oneOf(["never-applies", "never-fires"])),
});
const client = answerOf<ClientReport>()("RehearsedClient", {
  client: string(),
  address: string(),
  rule: string(),
  userAgent: maybe(string()),
  requests: count,
  refused: count,
  share: number(),
  firstRefusedAt: time,
  lastRefusedAt: time,
  longestHoldMs: number(),
});
const suspicion = answerOf<Suspicion>()("RehearsedSuspicion", {
  ...client.shape,
  why: oneOf(["browser", "crawler", "many-behind-one-address"]),
  words: string(),
});
const suggestion = answerOf<Suggestion>()("SuggestedLimit", {
  rule: string(),
  limit: string(),
  suggested: maybe(string()),
  refused: maybe(count),
  refusedClients: maybe(count),
  words: string(),
});

/** The report of a rehearsal, as the library writes it. */
export const rehearsalReport = answerOf<RehearsalReport>()("RehearsalReport", {
  requests: count,
  from: maybe(time),
  to: maybe(time),
  late: count,
  clients: count,
  outcome,
  against: maybe(outcome),
  change: maybe(z.strictObject({ newlyRefused: some, newlyPassed: some, worst: array(change) })),
  series: z.strictObject({
    everyMs: number(),
    at: row,
    requests: row,
    refused: row,
    refusedAgainst: maybe(row),
    refusedBy: record(string(), row),
  }),
  worstSecond: z.strictObject({ recorded: second, passed: second, passedAgainst: maybe(second) }),
  rules: array(rule),
  offenders: array(client),
  falsePositives: array(suspicion),
  suggestions: maybe(array(suggestion)),
  notes: array(string()),
});

import type { Reason, Verdict } from "tidegate";
import { z } from "zod";
import type { EdgeStatus } from "../../control-desk.js";
import { type Role, roles } from "../../data.js";
import { edgeModes } from "../../edge.js";
import type { BusyClient } from "../../live/series.js";
import type { OffenderFacts } from "../../offenders.js";
import { answerOf, count, maybe, orNever, time } from "./named.js";

const { array, boolean, enum: oneOf, number, string } = z;

const reasons: readonly Reason[] = [
  "within-limits",
  "over-limit",
  "held",
  "safelist",
  "blocklist",
  "no-rule",
  "off",
  "degraded",
];
export const reason = oneOf(reasons as [Reason]);
export const source = oneOf(["store", "slice", "local", "none"]);
export const role = oneOf(roles as unknown as [Role]);

export const verdict = answerOf<Verdict>()("Verdict", {
  rule: string(),
  name: string(),
  key: string(),
  tier: maybe(string()),
  allowed: boolean(),
  shadow: boolean(),
  cost: number(),
  limit: number(),
  windowMs: number(),
  remaining: number(),
  resetAfterMs: orNever,
  retryAfterMs: orNever,
  delayMs: maybe(orNever),
  estimate: maybe(number()),
  heldUntil: maybe(orNever),
  crossed: maybe(boolean()),
  id: maybe(string()),
  at: time,
  source,
});
export const offenderFacts = answerOf<OffenderFacts>()("ClientFacts", {
  ip: maybe(string()),
  host: maybe(string()),
  method: maybe(string()),
  path: maybe(string()),
  userAgent: maybe(string()),
});
export const busyKey = answerOf<BusyClient>()("BusyClient", {
  key: string(),
  count: number(),
  error: number(),
  refused: number(),
  total: number(),
  totalRefused: number(),
  perMinute: maybe(count),
});
export const edgeStatus = answerOf<EdgeStatus>()("EdgeStatus", {
  edge: string(),
  kind: string(),
  mode: oneOf(edgeModes as ["on"]),
  standsAt: maybe(oneOf(edgeModes as ["on"])),
  applied: boolean(),
  stopped: maybe(string()),
  setBy: maybe(z.strictObject({ who: string(), why: maybe(string()), at: time })),
  state: maybe(oneOf(["in step", "behind", "nobody keeps it"])),
  entries: maybe(count),
  foreign: maybe(count),
  maxEntries: count,
  pending: maybe(count),
  withheld: maybe(count),
  quarantined: array(z.strictObject({ key: string(), why: string() })),
  evicted: count,
  unknowable: count,
  alarms: array(string()),
  readAt: maybe(time),
  problem: maybe(z.strictObject({ at: time, message: string(), code: maybe(string()) })),
  applyMs: maybe(z.strictObject({ p50: number(), p99: number() })),
  propagationMs: maybe(number()),
  drift: maybe(number()),
  keeper: maybe(string()),
});

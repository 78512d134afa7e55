import type { Cleared, Explanation, GateMetrics, ListEntry, RuleExplanation } from "tidegate";
import { z } from "zod";
import type { ConfigProblem } from "../../config/config-file-error.js";
import type { EdgeStanding, SyncReport } from "../../control-desk.js";
import type { CustomersStatus } from "../../customers/customer-book.js";
import type { AuditEntry, ClearedKey, NamedToken, PolicyVersion } from "../../data.js";
import { edgeModes } from "../../edge.js";
import type { ClientSeries, Series } from "../../live/series.js";
import type { PolicyStatus } from "../../policy/policy-status.js";
import type { Refusal } from "../../refusal.js";
import type * as Types from "../types.js";
import { busyKey, edgeStatus, offenderFacts, reason, role, source, verdict } from "./answer-parts.js";
import { answerOf, count, maybe, orNever, time } from "./named.js";

const { array, boolean, enum: oneOf, int, literal, number, record, string, unknown } = z;
const listName = oneOf(["safelist", "blocklist"]);
const row = array(number());
const versionId = int().min(0);

const listEntry = answerOf<ListEntry>()("ListEntry", {
  address: string(),
  who: maybe(string()),
  why: maybe(string()),
  until: maybe(time),
});
const configProblem = answerOf<ConfigProblem>()("ConfigProblem", {
  code: string(),
  line: maybe(int()),
  column: maybe(int()),
  path: string(),
  message: string(),
  help: string(),
});
const policyVersion = answerOf<PolicyVersion>()("PolicyVersion", {
  id: versionId,
  text: string(),
  digest: string(),
  at: time,
  who: string(),
  source: oneOf(["demo", "file", "rollback", "api"]),
  why: maybe(string()),
});
const policyStatus = answerOf<PolicyStatus>()("PolicyStatus", {
  version: versionId,
  at: time,
  who: string(),
  source: policyVersion.shape.source,
  problem: maybe(string()),
  file: maybe(
    z.strictObject({
      path: string(),
      state: oneOf(["in force", "behind", "refused"]),
      problem: maybe(string()),
      problems: maybe(array(unknown())),
      needsRestart: maybe(array(string())),
    }),
  ),
});
const gateMetrics = answerOf<GateMetrics>()("GateMetrics", {
  decisions: count,
  allowed: count,
  refused: count,
  delayed: count,
  waiting: count,
  degraded: boolean(),
  withoutStore: count,
  byReason: record(string(), count),
  byRule: record(
    string(),
    z.strictObject({ judged: count, refused: count, shadowRefused: count, held: count }),
  ),
  safelistEntries: count,
  blocklistEntries: count,
});
const customersStatus = answerOf<CustomersStatus>()("CustomersStatus", {
  source: maybe(oneOf(["sql", "http"])),
  pulled: count,
  pulledAt: maybe(time),
  failure: maybe(string()),
  rejectedRows: count,
  unknownTiers: count,
  pending: count,
});

export const health = answerOf<Types.HealthAnswer>()("Health", { status: literal("alive") });
export const ready = answerOf<Types.ReadyAnswer>()("Ready", {
  status: oneOf(["ready", "not ready"]),
  reasons: array(string()),
});
export const status = answerOf<Types.StatusAnswer>()("Status", {
  startedAt: time,
  isDemo: boolean(),
  isReady: boolean(),
  isDraining: maybe(boolean()),
  workers: count,
  listeners: z.strictObject({ proxy: maybe(string()), decide: maybe(string()), admin: maybe(string()) }),
  store: z.strictObject({ kind: string(), isDegraded: boolean() }),
  policy: policyStatus,
  ready,
  data: z.strictObject({ kind: string() }),
  metrics: gateMetrics,
  customers: maybe(customersStatus),
});
export const policy = answerOf<Types.PolicyAnswer>()("Policy", {
  status: policyStatus,
  version: policyVersion.nullable(),
});
export const policyVersions = answerOf<Types.PolicyVersionsAnswer>()("PolicyVersions", {
  versions: array(policyVersion.omit({ text: true })),
  next: maybe(versionId),
});
export const oneVersion = answerOf<Types.PolicyVersionAnswer>()("OnePolicyVersion", {
  version: policyVersion,
  before: maybe(versionId),
});
const ruleMode = oneOf(["enforce", "shadow", "off"]);
const policyRule = answerOf<Types.PolicyRule>()("PolicyRule", {
  name: string(),
  mode: ruleMode,
  isPartial: maybe(z.literal(true)),
});
export const policyRules = answerOf<Types.PolicyRulesAnswer>()("PolicyRules", {
  version: versionId,
  mode: ruleMode,
  rules: array(policyRule),
  tiers: array(string()),
});
export const validated = answerOf<Types.ValidateAnswer>()("Validated", {
  ok: boolean(),
  problems: array(configProblem),
});

export const list = answerOf<Types.ListAnswer>()("List", {
  list: listName,
  entries: array(listEntry.extend({ etag: string() })),
  next: maybe(string()),
  fromPolicy: array(string()),
});
export const oneEntry = answerOf<Types.ListEntryAnswer>()("OneListEntry", {
  list: listName,
  entry: listEntry,
  before: maybe(listEntry),
});
export const removedEntry = answerOf<Types.ListRemovedAnswer>()("RemovedListEntry", {
  list: listName,
  removed: string(),
  before: maybe(listEntry),
});

const clientLine = answerOf<Types.ClientLine>()("ClientLine", {
  client: string(),
  ip: maybe(string()),
  requests: count,
  refused: count,
  refusedAt: maybe(time),
  heldUntil: maybe(time),
  userAgent: maybe(string()),
  allowed: boolean().nullable(),
});
export const clients = answerOf<Types.ClientsAnswer>()("Clients", { clients: array(clientLine), count });
const previewedEntry = answerOf<Types.PreviewedEntry>()("PreviewedEntry", {
  address: string(),
  problem: maybe(string()),
  slip: maybe(string()),
  now: maybe(listEntry.extend({ etag: string() })),
});
export const preview = answerOf<Types.ListPreviewAnswer>()("ListPreview", {
  list: listName,
  entries: array(previewedEntry),
  clients: array(clientLine),
  count,
});

const ownLimits = record(string(), int()).nullable();
export const customer = answerOf<Types.CustomerAnswer>()("Customer", {
  id: string(),
  tier: string().nullable(),
  limits: ownLimits,
  state: maybe(oneOf(["done", "pending"])),
  before: maybe(z.strictObject({ tier: maybe(string().nullable()), limits: maybe(ownLimits) })),
});

const edgeStanding = answerOf<EdgeStanding>()("EdgeStanding", {
  edge: string(),
  state: oneOf([
    "held",
    "shadow",
    "off",
    "waiting",
    "leaving",
    "hold-off",
    "spared",
    "unknowable",
    "evicted",
    "quarantined",
  ]),
  until: maybe(time),
  why: maybe(string()),
});
const refusedAt = answerOf<Types.RefusedAt>()("RefusedAt", {
  edge: string(),
  rule: string(),
  key: string(),
  until: time,
});
const heldClient = answerOf<Types.HeldClient>()("HeldClient", {
  key: string(),
  rule: string(),
  since: time,
  until: time,
  score: number(),
  leaked: number(),
  edges: array(string()),
  standing: array(edgeStanding),
  about: offenderFacts,
});
const clearedKey = answerOf<ClearedKey>()("ClearedKey", {
  key: string(),
  isClient: maybe(z.literal(true)),
  until: time,
  who: string(),
  at: time,
});
const ruleExplanation = answerOf<RuleExplanation>()("RuleExplanation", {
  rule: string(),
  applies: boolean(),
  key: maybe(string()),
  tier: maybe(string()),
  verdicts: array(verdict),
  words: string(),
});
const refusalFacts = offenderFacts.extend({
  user: maybe(string()),
  customer: maybe(string()),
  account: maybe(string()),
});
export const explanation = answerOf<Explanation & Types.ExplainAnswer>()("Explanation", {
  allowed: boolean(),
  reason,
  words: string(),
  verdict: maybe(verdict),
  listed: maybe(listEntry),
  rules: array(ruleExplanation),
  asRefused: maybe(z.strictObject({ at: time, about: refusalFacts })),
  offenders: maybe(array(heldClient).nullable()),
  refusedAt: maybe(array(refusedAt).nullable()),
  cleared: maybe(array(clearedKey).nullable()),
});
const refusal = answerOf<Refusal>()("Refusal", {
  id: string(),
  at: time,
  reason,
  verdict: maybe(verdict),
  verdicts: array(verdict),
  listed: maybe(listEntry),
  source,
  delayedMs: number(),
  about: refusalFacts,
});
export const decision = answerOf<Types.DecisionAnswer>()("Decision", {
  decision: refusal,
  now: explanation.nullable(),
});
export const cleared = answerOf<Cleared & Types.ClearAnswer>()("Cleared", {
  cleared: array(z.strictObject({ rule: string(), key: string(), missing: maybe(array(string())) })),
  unknown: array(string()),
  remembered: maybe(count),
  edges: maybe(array(heldClient)),
  holdOffUntil: maybe(time),
});
export const busiest = answerOf<Types.BusiestAnswer>()("Busiest", { clients: array(busyKey) });
const heldNow = answerOf<Types.HeldNow>()("HeldNow", {
  key: string(),
  rule: string(),
  since: time,
  until: time,
  isHere: boolean(),
  edges: array(string()),
  about: offenderFacts,
});
export const held = answerOf<Types.HeldAnswer>()("Held", { held: array(heldNow), count });
export const offenders = answerOf<Types.OffendersAnswer>()("Offenders", {
  offenders: array(heldClient),
  next: maybe(string()),
});

export const edges = answerOf<Types.EdgesAnswer>()("Edges", {
  edges: array(edgeStatus.extend({ etag: string() })),
});
export const oneEdge = answerOf<Types.EdgeModeAnswer>()("Edge", {
  edge: edgeStatus,
  before: maybe(oneOf(edgeModes as ["on"])),
});
const syncReport = answerOf<SyncReport>()("SyncReport", {
  edge: string(),
  put: array(z.strictObject({ key: string(), until: time, rule: string() })),
  remove: array(string()),
  isDryRun: boolean(),
  keeper: maybe(string()),
  problem: maybe(string()),
});
export const synced = answerOf<Types.EdgeSyncAnswer>()("Synced", { reports: array(syncReport) });

export const series = answerOf<Series>()("Series", {
  from: time,
  stepMs: literal(1000),
  since: time,
  totals: z.strictObject({ allowed: row, refused: row, shadow: row }),
  rules: record(string(), z.strictObject({ judged: row, refused: row, shadow: row, held: row })),
});
const ofClient = answerOf<ClientSeries>()("SeriesOfClient", {
  key: string(),
  from: time,
  stepMs: literal(1000),
  requests: row,
  refused: row,
});
export const clientSeries = answerOf<Types.ClientSeriesAnswer>()("ClientSeries", {
  client: ofClient.nullable(),
});

const auditEntry = answerOf<AuditEntry>()("AuditEntry", {
  id: int(),
  at: time,
  who: string(),
  what: string(),
  target: maybe(string()),
  why: maybe(string()),
  before: maybe(unknown()),
  after: maybe(unknown()),
  undoes: maybe(int()),
});
const auditLine = answerOf<Types.AuditLine>()("AuditLine", {
  ...auditEntry.shape,
  undoable: boolean(),
  undoneBy: maybe(int()),
});
export const audit = answerOf<Types.AuditAnswer>()("Audit", {
  entries: array(auditLine),
  next: maybe(int()),
});
export const undone = answerOf<Types.UndoAnswer>()("Undone", { undone: int(), entry: maybe(auditEntry) });

export const session = answerOf<Types.SessionAnswer>()("Session", {
  role,
  name: string().nullable(),
  until: orNever,
  csrf: string().nullable(),
});
export const loggedOut = answerOf<Types.LogoutAnswer>()("LoggedOut", { status: literal("logged out") });
const token = answerOf<NamedToken>()("Token", {
  id: string(),
  name: string(),
  role,
  createdAt: time,
  createdBy: string(),
  lastUsedAt: maybe(time),
  until: maybe(time),
});
export const tokens = answerOf<Types.TokensAnswer>()("Tokens", { tokens: array(token) });
export const createdToken = answerOf<Types.TokenCreatedAnswer>()("CreatedToken", { token, secret: string() });
export const revokedToken = answerOf<Types.TokenRevokedAnswer>()("RevokedToken", { revoked: token });
export const loginCode = answerOf<Types.LoginCodeAnswer>()("LoginCode", { code: string(), until: time });

export const problem = answerOf<Types.ProblemAnswer>()("Problem", {
  type: literal("about:blank"),
  title: string(),
  status: int(),
  detail: string(),
  code: string().meta({ description: "TG_…: docs/errors.md has them all." }),
  help: maybe(string()),
  path: maybe(string()),
  problems: maybe(array(configProblem)),
  id: maybe(string()),
  now: maybe(unknown()),
});

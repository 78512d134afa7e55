import type { z } from "zod";
import * as shapes from "../shapes.js";
import * as answers from "./answers.js";
import { namedShapes } from "./named.js";
import { rehearsalReport } from "./rehearsal-answer.js";

/** Of a row of the table of routes, what the document tells. */
export interface DocumentedRoute {
  readonly method: string;
  readonly path: string;
  readonly role?: string;
  readonly isOpen?: true;
}

/** What the document says of a route beside its method, path and role. */
export interface RouteFacts {
  readonly summary: string;
  /** Of each part of the path: what to write, and an example. */
  readonly params?: Readonly<Record<string, Param>>;
  readonly query?: z.ZodObject;
  readonly queryExample?: Readonly<Record<string, string>>;
  readonly body?: Body;
  readonly answers: readonly RouteAnswer[];
  /** Status to codes, beside those every route may answer. */
  readonly problems?: Readonly<Record<number, readonly string[]>>;
  /** Its answer has an ETag. */
  readonly givesTag?: true;
  /** It heeds If-Match and If-None-Match. */
  readonly takesTag?: true;
}

export interface Param {
  readonly words: string;
  readonly example: string;
  readonly choices?: readonly string[];
}

export interface Body {
  readonly shape: z.ZodType;
  readonly example: unknown;
}

export interface RouteAnswer {
  readonly status: number;
  readonly words: string;
  readonly shape?: z.ZodType;
  /** Media types that are not JSON. */
  readonly types?: readonly string[];
}

function body(id: string, shape: z.ZodType, example: unknown): Body {
  namedShapes.add(shape, { id });
  return { shape, example };
}

function ok(words: string, shape: z.ZodType): RouteAnswer[] {
  return [{ status: 200, words, shape }];
}

const list: Param = {
  words: "Which list.",
  example: "blocklist",
  choices: ["safelist", "blocklist"],
};
const address: Param = { words: "An address or a block, percent-encoded.", example: "203.0.113.7" };
const customerId: Param = { words: "The app's own id of the customer, percent-encoded.", example: "42" };
const edgeName: Param = { words: "The edge's name in tidegate.yaml.", example: "cdn" };
const none = { 404: ["TG_NOT_FOUND"] };
const changed = { 412: ["TG_CHANGED"] };
const policyExample = "rules:\n  - { name: req/ip, by: ip, limits: [100 per minute] }\n";
const subject = { ip: "203.0.113.7", path: "/search" };
const explainBody = body("ExplainBody", shapes.explainBody, { subject });
const emptyBody = body("NoBody", shapes.noBody, {});
const syncBody = body("EdgeSyncBody", shapes.edgeSyncBody, { dryRun: true });
const customersDown = { 503: ["TG_CUSTOMERS_UNREACHABLE"] };

/** By method and path. A test sees that none is missing and none is left over. */
export const routeFacts: Readonly<Record<string, RouteFacts>> = {
  "GET /health": { summary: "Whether it is alive", answers: ok("It is.", answers.health) },
  "GET /ready": {
    summary: "Whether it can take requests",
    answers: [
      ...ok("It can.", answers.ready),
      { status: 503, words: "It can not; `reasons` says why.", shape: answers.ready },
    ],
  },
  "POST /v1/login": {
    summary: "Turns a token, or a code that works once, into a session",
    body: body("LoginBody", shapes.loginBody, { code: "0123456789" }),
    answers: ok("The session; its cookie is set.", answers.session),
    problems: { 401: ["TG_ADMIN_TOKEN"], 429: ["TG_ADMIN_TOKEN"] },
  },
  "POST /v1/logout": {
    summary: "Ends the session",
    body: emptyBody,
    answers: ok("It has ended; its cookie is removed.", answers.loggedOut),
  },
  "GET /v1/session": { summary: "Who asks, and what they may", answers: ok("You.", answers.session) },
  "GET /v1/tokens": { summary: "Tokens, oldest first", answers: ok("All of them.", answers.tokens) },
  "POST /v1/tokens": {
    summary: "Makes a token",
    body: body("TokenBody", shapes.tokenBody, { name: "ann", role: "admin", for: "30d" }),
    answers: [{ status: 201, words: "The token, told this once.", shape: answers.createdToken }],
    problems: { 400: ["TG_DURATION"], 409: ["TG_TOKEN_NAME", "TG_GUARD"] },
  },
  "DELETE /v1/tokens/:id": {
    summary: "Revokes a token, and ends its sessions",
    params: { id: { words: "Its id or name.", example: "ann" } },
    answers: ok("What was revoked.", answers.revokedToken),
    problems: { ...none, 409: ["TG_GUARD"] },
  },
  "POST /v1/login-codes": {
    summary: "Makes a code to log in with, once",
    body: emptyBody,
    answers: [{ status: 201, words: "The code.", shape: answers.loginCode }],
  },
  "GET /metrics": {
    summary: "Metrics, for Prometheus",
    answers: [{ status: 200, words: "As text.", types: ["text/plain"] }],
  },
  "GET /v1/openapi.json": {
    summary: "This document",
    answers: [{ status: 200, words: "OpenAPI 3.1." }],
  },
  "GET /v1/status": { summary: "What the server knows of itself", answers: ok("Now.", answers.status) },
  "GET /v1/policy": {
    summary: "The policy in force",
    answers: ok("With its text.", answers.policy),
    givesTag: true,
  },
  "POST /v1/policy": {
    summary: "Puts a policy in force",
    body: body("PolicyBody", shapes.policyBody, { text: policyExample, why: "more room" }),
    answers: [
      ...ok("It is in force already.", answers.oneVersion),
      { status: 201, words: "The new version.", shape: answers.oneVersion },
    ],
    problems: { 400: ["TG_CONFIG"], 409: ["TG_POLICY_CONFLICT"], ...changed },
    givesTag: true,
    takesTag: true,
  },
  "GET /v1/policy/versions": {
    summary: "Policy versions, newest first, without their texts",
    query: shapes.pageQuery,
    queryExample: { most: "10" },
    answers: ok("A page.", answers.policyVersions),
  },
  "GET /v1/policy/versions/:id": {
    summary: "One version with its text",
    params: { id: { words: "Its number.", example: "1" } },
    answers: ok("The version.", answers.oneVersion),
    problems: none,
    givesTag: true,
  },
  "POST /v1/policy/validate": {
    summary: "What is wrong with a policy's text",
    body: body("PolicyText", shapes.policyText, { text: policyExample }),
    answers: ok("What is, if anything.", answers.validated),
  },
  "POST /v1/rehearse": {
    summary: "What a policy would have done to recent traffic, against the one in force",
    body: body("RehearseBody", shapes.rehearseBody, { policy: policyExample, against: "current" }),
    answers: ok("The report, as `tidegate replay --json` prints it.", rehearsalReport),
    problems: { ...none, 400: ["TG_CONFIG"], 409: ["TG_REHEARSAL_BUSY"] },
  },
  "POST /v1/policy/rollback": {
    summary: "Puts an older version's text in force again",
    body: body("RollbackBody", shapes.rollbackBody, { to: 1, why: "too strict" }),
    answers: [{ status: 201, words: "The new version.", shape: answers.oneVersion }],
    problems: { 404: ["TG_POLICY_VERSION"], 409: ["TG_POLICY_CONFLICT"], ...changed },
    givesTag: true,
    takesTag: true,
  },
  "GET /v1/policy/rules": {
    summary: "Rules of the policy in force, with their modes",
    answers: ok("In the policy's order.", answers.policyRules),
    givesTag: true,
  },
  "PUT /v1/policy/rules/:rule/mode": {
    summary: "Switches one rule: a new version with nothing else changed",
    params: { rule: { words: "The rule's name, percent-encoded.", example: "req/ip" } },
    body: body("RuleModeBody", shapes.ruleModeBody, { mode: "shadow", why: "customers complain" }),
    answers: [
      ...ok("It is so already.", answers.oneVersion),
      { status: 201, words: "The new version.", shape: answers.oneVersion },
    ],
    problems: { ...none, 400: ["TG_CONFIG"], 409: ["TG_POLICY_CONFLICT"], ...changed },
    givesTag: true,
    takesTag: true,
  },
  "GET /v1/lists/:list": {
    summary: "Entries of a list, by address",
    params: { list },
    query: shapes.listQuery,
    queryExample: { most: "10" },
    answers: ok("A page, and what the policy itself names.", answers.list),
    problems: none,
  },
  "POST /v1/lists/:list/preview": {
    summary: "Whom entries would hit among clients seen lately; nothing is added",
    params: { list },
    body: body("PreviewBody", shapes.previewBody, { addresses: ["203.0.113.0/24"] }),
    answers: ok("What each would be, and 100 of the clients.", answers.preview),
    problems: none,
  },
  "GET /v1/lists/:list/:address": {
    summary: "One entry of a list",
    params: { list, address },
    answers: ok("The entry.", answers.oneEntry),
    problems: none,
    givesTag: true,
  },
  "PUT /v1/lists/:list/:address": {
    summary: "Adds an entry, or replaces it",
    params: { list, address },
    body: body("ListBody", shapes.listBody, { for: "1h", why: "flood" }),
    answers: [
      ...ok("It was there: replaced, or the same already.", answers.oneEntry),
      { status: 201, words: "Added.", shape: answers.oneEntry },
    ],
    problems: {
      ...none,
      400: ["TG_LIST_ADDRESS", "TG_LIST_EVERYONE", "TG_DURATION"],
      409: ["TG_GUARD"],
      ...changed,
    },
    givesTag: true,
    takesTag: true,
  },
  "DELETE /v1/lists/:list/:address": {
    summary: "Removes an entry",
    params: { list, address },
    answers: ok("What was removed.", answers.removedEntry),
    problems: { ...none, 400: ["TG_LIST_ADDRESS"], ...changed },
    takesTag: true,
  },
  "GET /v1/customers/:id": {
    summary: "What is on record of a customer",
    params: { id: customerId },
    answers: ok("Tier and own limits.", answers.customer),
    problems: none,
    givesTag: true,
  },
  "PUT /v1/customers/:id/tier": {
    summary: "Puts a customer into a tier",
    params: { id: customerId },
    body: body("TierBody", shapes.tierBody, { tier: "pro" }),
    answers: ok("The customer.", answers.customer),
    problems: {
      ...none,
      400: ["TG_TIER_UNKNOWN"],
      409: ["TG_CUSTOMERS_REFUSED"],
      ...changed,
      ...customersDown,
    },
    givesTag: true,
    takesTag: true,
  },
  "PUT /v1/customers/:id/limits": {
    summary: "Gives a customer limits of its own",
    params: { id: customerId },
    body: body("LimitsBody", shapes.limitsBody, { limits: { 60: 100 } }),
    answers: ok("The customer.", answers.customer),
    problems: { ...none, 400: ["TG_OVERRIDE"], 409: ["TG_CUSTOMERS_REFUSED"], ...changed, ...customersDown },
    givesTag: true,
    takesTag: true,
  },
  "GET /v1/decisions/:id": {
    summary: "A refused decision, as it was, and what would be decided now",
    params: { id: { words: "As the client was told it (Tidegate-Decision).", example: "15v9k2m0x3q-1a" } },
    answers: ok("The decision.", answers.decision),
    problems: none,
  },
  "POST /v1/explain": {
    summary: "What a request would get and why, free of charge",
    body: explainBody,
    answers: ok("In words, and rule by rule.", answers.explanation),
  },
  "POST /v1/clear": {
    summary: "Forgets a client: counts, holds, edges",
    body: body("ClearBody", shapes.clearBody, { subject: { ip: "203.0.113.7" } }),
    answers: ok("What was forgotten.", answers.cleared),
  },
  "GET /v1/clients": {
    summary: "Clients seen lately, within a block or by a digest",
    query: shapes.clientsQuery,
    queryExample: { within: "203.0.113.0/24" },
    answers: ok("The busiest first.", answers.clients),
  },
  "GET /v1/busiest": {
    summary: "The busiest clients lately",
    query: shapes.mostQuery,
    queryExample: { most: "5" },
    answers: ok("Busiest first.", answers.busiest),
  },
  "GET /v1/series": {
    summary: "What was decided lately, second by second",
    query: shapes.seriesQuery,
    queryExample: { seconds: "60" },
    answers: ok("Rows of numbers, one a second.", answers.series),
    problems: none,
  },
  "GET /v1/series/client": {
    summary: "One of the busiest clients, second by second",
    query: shapes.clientSeriesQuery,
    queryExample: { ip: "203.0.113.7" },
    answers: ok("Null when it is not among them.", answers.clientSeries),
    problems: none,
  },
  "GET /v1/events": {
    summary: "Live: server-sent events",
    query: shapes.noQuery,
    answers: [{ status: 200, words: "Until one side has enough.", types: ["text/event-stream"] }],
    problems: { ...none, 503: ["TG_EVENTS_FULL"] },
  },
  "GET /v1/edges": { summary: "Every edge", answers: ok("Those configured here.", answers.edges) },
  "GET /v1/edges/:name": {
    summary: "One edge",
    params: { name: edgeName },
    answers: ok("The edge. Its ETag is of what people set.", answers.oneEdge),
    problems: none,
    givesTag: true,
  },
  "POST /v1/edges/sync": {
    summary: "Sets all edges right now",
    body: syncBody,
    answers: ok("What was, or would be, put and removed.", answers.synced),
    problems: none,
  },
  "POST /v1/edges/:name/sync": {
    summary: "Sets an edge right now",
    params: { name: edgeName },
    body: syncBody,
    answers: ok("What was, or would be, put and removed.", answers.synced),
    problems: none,
  },
  "POST /v1/edges/:name/mode": {
    summary: "Whether an edge refuses who is held",
    params: { name: edgeName },
    body: body("EdgeModeBody", shapes.edgeModeBody, { mode: "shadow", why: "customers complain" }),
    answers: ok("The edge.", answers.oneEdge),
    problems: { ...none, ...changed },
    givesTag: true,
    takesTag: true,
  },
  "GET /v1/held": {
    summary: "Who is held now, by rules here and at the edges",
    query: shapes.mostQuery,
    queryExample: { most: "10" },
    answers: ok("Longest first.", answers.held),
  },
  "GET /v1/offenders": {
    summary: "Who is held at the edges, worst first",
    query: shapes.offendersQuery,
    queryExample: { most: "10" },
    answers: ok("A page.", answers.offenders),
  },
  "GET /v1/audit": {
    summary: "Who changed what, newest first",
    query: shapes.auditQuery,
    queryExample: { what: "blocklist.", since: "2026-01-31T12:00:00Z" },
    answers: [
      {
        ...(ok("A page; as NDJSON or CSV all that match.", answers.audit)[0] as RouteAnswer),
        types: ["application/x-ndjson", "text/csv"],
      },
    ],
  },
  "POST /v1/audit/:id/undo": {
    summary: "Takes a change back; takes the role the change took",
    params: { id: { words: "The audit entry's number.", example: "2" } },
    body: body("UndoBody", shapes.undoBody, { why: "a slip" }),
    answers: ok("What the audit says of it.", answers.undone),
    problems: { ...none, 409: ["TG_UNDO_STALE", "TG_UNDO_DONE", "TG_UNDO_NEVER", "TG_GUARD"] },
  },
};

import type { Role } from "../data.js";
import type { Handler } from "./handler.js";
import { audit } from "./handlers/audit.js";
import { busiest } from "./handlers/busiest.js";
import { clear } from "./handlers/clear.js";
import { clients } from "./handlers/clients.js";
import { createToken } from "./handlers/create-token.js";
import { customer } from "./handlers/customer.js";
import { decision } from "./handlers/decision.js";
import { edge } from "./handlers/edge.js";
import { edges } from "./handlers/edges.js";
import { events } from "./handlers/events.js";
import { explain } from "./handlers/explain.js";
import { health } from "./handlers/health.js";
import { held } from "./handlers/held.js";
import { list } from "./handlers/list.js";
import { listEntry } from "./handlers/list-entry.js";
import { login } from "./handlers/login.js";
import { loginCode } from "./handlers/login-code.js";
import { logout } from "./handlers/logout.js";
import { metrics } from "./handlers/metrics.js";
import { offenders } from "./handlers/offenders.js";
import { openapi } from "./handlers/openapi.js";
import { policy } from "./handlers/policy.js";
import { policyRules } from "./handlers/policy-rules.js";
import { policyVersion } from "./handlers/policy-version.js";
import { policyVersions } from "./handlers/policy-versions.js";
import { previewList } from "./handlers/preview-list.js";
import { putCustomerLimits } from "./handlers/put-customer-limits.js";
import { putCustomerTier } from "./handlers/put-customer-tier.js";
import { putListEntry } from "./handlers/put-list-entry.js";
import { putPolicy } from "./handlers/put-policy.js";
import { ready } from "./handlers/ready.js";
import { rehearse } from "./handlers/rehearse.js";
import { removeListEntry } from "./handlers/remove-list-entry.js";
import { revokeToken } from "./handlers/revoke-token.js";
import { rollbackPolicy } from "./handlers/rollback-policy.js";
import { clientSeries, series } from "./handlers/series.js";
import { session } from "./handlers/session.js";
import { setEdgeMode } from "./handlers/set-edge-mode.js";
import { setRuleMode } from "./handlers/set-rule-mode.js";
import { status } from "./handlers/status.js";
import { syncEdges } from "./handlers/sync-edges.js";
import { tokens } from "./handlers/tokens.js";
import { undoAudit } from "./handlers/undo-audit.js";
import { validatePolicy } from "./handlers/validate-policy.js";

export interface Route {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly path: string;
  readonly handle: Handler;
  /** The least one has to be to ask this: every row has it, or is open. */
  readonly role?: Role;
  /** Answered without a token. */
  readonly isOpen?: true;
}

/** All there is to ask. */
export const routes: readonly Route[] = [
  { method: "GET", path: "/health", handle: health, isOpen: true },
  { method: "GET", path: "/ready", handle: ready, isOpen: true },
  { method: "POST", path: "/v1/login", handle: login, isOpen: true },
  { method: "POST", path: "/v1/logout", handle: logout, role: "viewer" },
  { method: "GET", path: "/v1/session", handle: session, role: "viewer" },
  { method: "GET", path: "/v1/tokens", handle: tokens, role: "admin" },
  { method: "POST", path: "/v1/tokens", handle: createToken, role: "admin" },
  { method: "DELETE", path: "/v1/tokens/:id", handle: revokeToken, role: "admin" },
  { method: "POST", path: "/v1/login-codes", handle: loginCode, role: "admin" },
  { method: "GET", path: "/metrics", handle: metrics, role: "viewer" },
  { method: "GET", path: "/v1/openapi.json", handle: openapi, role: "viewer" },
  { method: "GET", path: "/v1/status", handle: status, role: "viewer" },
  { method: "GET", path: "/v1/policy", handle: policy, role: "viewer" },
  { method: "POST", path: "/v1/policy", handle: putPolicy, role: "admin" },
  { method: "GET", path: "/v1/policy/versions", handle: policyVersions, role: "viewer" },
  { method: "GET", path: "/v1/policy/versions/:id", handle: policyVersion, role: "viewer" },
  { method: "POST", path: "/v1/policy/validate", handle: validatePolicy, role: "viewer" },
  { method: "POST", path: "/v1/rehearse", handle: rehearse, role: "operator" },
  { method: "POST", path: "/v1/policy/rollback", handle: rollbackPolicy, role: "admin" },
  { method: "GET", path: "/v1/policy/rules", handle: policyRules, role: "viewer" },
  { method: "PUT", path: "/v1/policy/rules/:rule/mode", handle: setRuleMode, role: "admin" },
  { method: "GET", path: "/v1/lists/:list", handle: list, role: "viewer" },
  { method: "POST", path: "/v1/lists/:list/preview", handle: previewList, role: "viewer" },
  { method: "GET", path: "/v1/lists/:list/:address", handle: listEntry, role: "viewer" },
  { method: "PUT", path: "/v1/lists/:list/:address", handle: putListEntry, role: "operator" },
  { method: "DELETE", path: "/v1/lists/:list/:address", handle: removeListEntry, role: "operator" },
  { method: "GET", path: "/v1/customers/:id", handle: customer, role: "viewer" },
  { method: "PUT", path: "/v1/customers/:id/tier", handle: putCustomerTier, role: "operator" },
  { method: "PUT", path: "/v1/customers/:id/limits", handle: putCustomerLimits, role: "operator" },
  { method: "GET", path: "/v1/decisions/:id", handle: decision, role: "viewer" },
  { method: "POST", path: "/v1/explain", handle: explain, role: "viewer" },
  { method: "POST", path: "/v1/clear", handle: clear, role: "operator" },
  { method: "GET", path: "/v1/clients", handle: clients, role: "viewer" },
  { method: "GET", path: "/v1/busiest", handle: busiest, role: "viewer" },
  { method: "GET", path: "/v1/series", handle: series, role: "viewer" },
  { method: "GET", path: "/v1/series/client", handle: clientSeries, role: "viewer" },
  { method: "GET", path: "/v1/events", handle: events, role: "viewer" },
  { method: "GET", path: "/v1/edges", handle: edges, role: "viewer" },
  { method: "GET", path: "/v1/edges/:name", handle: edge, role: "viewer" },
  { method: "POST", path: "/v1/edges/sync", handle: syncEdges, role: "admin" },
  { method: "POST", path: "/v1/edges/:name/sync", handle: syncEdges, role: "admin" },
  { method: "POST", path: "/v1/edges/:name/mode", handle: setEdgeMode, role: "admin" },
  { method: "GET", path: "/v1/held", handle: held, role: "viewer" },
  { method: "GET", path: "/v1/offenders", handle: offenders, role: "viewer" },
  { method: "GET", path: "/v1/audit", handle: audit, role: "viewer" },
  // What was done by an admin's act is undone by an admin only: the handler looks.
  { method: "POST", path: "/v1/audit/:id/undo", handle: undoAudit, role: "operator" },
];

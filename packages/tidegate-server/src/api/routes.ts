import type { Handler } from "./handler.js";
import { audit } from "./handlers/audit.js";
import { busiest } from "./handlers/busiest.js";
import { clear } from "./handlers/clear.js";
import { customer } from "./handlers/customer.js";
import { decision } from "./handlers/decision.js";
import { edges } from "./handlers/edges.js";
import { explain } from "./handlers/explain.js";
import { health } from "./handlers/health.js";
import { list } from "./handlers/list.js";
import { metrics } from "./handlers/metrics.js";
import { offenders } from "./handlers/offenders.js";
import { policy } from "./handlers/policy.js";
import { policyVersion } from "./handlers/policy-version.js";
import { policyVersions } from "./handlers/policy-versions.js";
import { putCustomerLimits } from "./handlers/put-customer-limits.js";
import { putCustomerTier } from "./handlers/put-customer-tier.js";
import { putListEntry } from "./handlers/put-list-entry.js";
import { putPolicy } from "./handlers/put-policy.js";
import { ready } from "./handlers/ready.js";
import { removeListEntry } from "./handlers/remove-list-entry.js";
import { rollbackPolicy } from "./handlers/rollback-policy.js";
import { setEdgeMode } from "./handlers/set-edge-mode.js";
import { status } from "./handlers/status.js";
import { syncEdges } from "./handlers/sync-edges.js";
import { validatePolicy } from "./handlers/validate-policy.js";

export interface Route {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly path: string;
  readonly handle: Handler;
  /** Answered without a token. */
  readonly isOpen?: true;
}

/** All there is to ask. */
export const routes: readonly Route[] = [
  { method: "GET", path: "/health", handle: health, isOpen: true },
  { method: "GET", path: "/ready", handle: ready, isOpen: true },
  { method: "GET", path: "/metrics", handle: metrics },
  { method: "GET", path: "/v1/status", handle: status },
  { method: "GET", path: "/v1/policy", handle: policy },
  { method: "POST", path: "/v1/policy", handle: putPolicy },
  { method: "GET", path: "/v1/policy/versions", handle: policyVersions },
  { method: "GET", path: "/v1/policy/versions/:id", handle: policyVersion },
  { method: "POST", path: "/v1/policy/validate", handle: validatePolicy },
  { method: "POST", path: "/v1/policy/rollback", handle: rollbackPolicy },
  { method: "GET", path: "/v1/lists/:list", handle: list },
  { method: "PUT", path: "/v1/lists/:list/:address", handle: putListEntry },
  { method: "DELETE", path: "/v1/lists/:list/:address", handle: removeListEntry },
  { method: "GET", path: "/v1/customers/:id", handle: customer },
  { method: "PUT", path: "/v1/customers/:id/tier", handle: putCustomerTier },
  { method: "PUT", path: "/v1/customers/:id/limits", handle: putCustomerLimits },
  { method: "GET", path: "/v1/decisions/:id", handle: decision },
  { method: "POST", path: "/v1/explain", handle: explain },
  { method: "POST", path: "/v1/clear", handle: clear },
  { method: "GET", path: "/v1/busiest", handle: busiest },
  { method: "GET", path: "/v1/edges", handle: edges },
  { method: "POST", path: "/v1/edges/sync", handle: syncEdges },
  { method: "POST", path: "/v1/edges/:name/sync", handle: syncEdges },
  { method: "POST", path: "/v1/edges/:name/mode", handle: setEdgeMode },
  { method: "GET", path: "/v1/offenders", handle: offenders },
  { method: "GET", path: "/v1/audit", handle: audit },
];

import type { BusyKey, Cleared, Explanation, GateMetrics, ListEntry, ListName } from "tidegate";
import type { ConfigProblem } from "../config/config-file-error.js";
import type { EdgeStatus, SyncReport } from "../control-desk.js";
import type { CustomersStatus } from "../customers/customer-book.js";
import type { AuditEntry, ClearedKey, PolicyVersion } from "../data.js";
import type { OffenderFacts } from "../offenders.js";
import type { PolicyStatus } from "../policy/policy-status.js";
import type { Refusal } from "../refusal.js";

/** What the server knows of itself. */
export interface Status {
  readonly startedAt: number;
  readonly isDemo: boolean;
  /** Upstreams and workers can take requests. */
  readonly isReady: boolean;
  readonly isDraining?: boolean;
  readonly workers: number;
  readonly listeners: { readonly proxy?: string; readonly decide?: string; readonly admin?: string };
  readonly store: { readonly kind: string; readonly isDegraded: boolean };
  readonly policy: PolicyStatus;
}

/** GET /health */
export interface HealthAnswer {
  readonly status: "alive";
}

/** GET /ready: 200, or 503 with what is missing. */
export interface ReadyAnswer {
  readonly status: "ready" | "not ready";
  readonly reasons: readonly string[];
}

/** GET /v1/status */
export interface StatusAnswer extends Status {
  readonly ready: ReadyAnswer;
  readonly data: { readonly kind: string };
  readonly metrics: GateMetrics;
  /** Only with `customers.source`. */
  readonly customers?: CustomersStatus;
}

/** GET /v1/policy */
export interface PolicyAnswer {
  readonly status: PolicyStatus;
  /** What is in force, with its text; null when it can not be read or is not stored: `status.problem` says why. */
  readonly version: PolicyVersion | null;
}

/** Of a list of versions: the text is asked for by id. */
export type PolicyVersionLine = Omit<PolicyVersion, "text">;

/** GET /v1/policy/versions, newest first. */
export interface PolicyVersionsAnswer {
  readonly versions: readonly PolicyVersionLine[];
  /** `before` of the next page. */
  readonly next?: number;
}

/** GET /v1/policy/versions/:id, POST /v1/policy, POST /v1/policy/rollback */
export interface PolicyVersionAnswer {
  readonly version: PolicyVersion;
}

/** POST /v1/policy/validate */
export interface ValidateAnswer {
  readonly ok: boolean;
  readonly problems: readonly ConfigProblem[];
}

/** GET /v1/lists/:list, by address. */
export interface ListAnswer {
  readonly list: ListName;
  readonly entries: readonly ListEntry[];
  /** `after` of the next page. */
  readonly next?: string;
  /** Those the policy itself names: they are changed there. */
  readonly fromPolicy: readonly string[];
}

/** PUT /v1/lists/:list/:address */
export interface ListEntryAnswer {
  readonly list: ListName;
  readonly entry: ListEntry;
}

/** DELETE /v1/lists/:list/:address */
export interface ListRemovedAnswer {
  readonly list: ListName;
  readonly removed: string;
}

/** GET /v1/customers/:id, PUT …/tier, PUT …/limits */
export interface CustomerAnswer {
  readonly id: string;
  readonly tier: string | null;
  /** Window in seconds to limit. */
  readonly limits: Readonly<Record<string, number>> | null;
  /** Of a write: whether the primary database has it too. */
  readonly state?: "done" | "pending";
}

/** POST /v1/explain. Times that never come are null. */
export interface ExplainAnswer extends Explanation {
  /** Only with edges: where this client is held there. Null: it can not be told now. */
  readonly offenders?: readonly HeldClient[] | null;
  /** Only with edges: whoever cleared this client by hand, and until when it goes to no edge. Null: it can not be told now. */
  readonly cleared?: readonly ClearedKey[] | null;
}

/** GET /v1/decisions/:id. Times that never come are null. */
export interface DecisionAnswer {
  readonly decision: Refusal;
  /** What the same request would get now, as far as its facts are remembered. Null: it can not be told now. */
  readonly now: ExplainAnswer | null;
}

/** POST /v1/clear */
export interface ClearAnswer extends Cleared {
  /** Only with edges: what was taken off them. */
  readonly edges?: readonly HeldClient[];
}

/** A client the edges are to refuse. */
export interface HeldClient {
  readonly key: string;
  readonly rule: string;
  readonly since: number;
  readonly until: number;
  /** How many times over its limit, when last seen. */
  readonly score: number;
  /** Its requests that came through since it crossed. */
  readonly leaked: number;
  /** Edges it goes to, by name. */
  readonly edges: readonly string[];
  readonly about: OffenderFacts;
}

/** GET /v1/edges */
export interface EdgesAnswer {
  readonly edges: readonly EdgeStatus[];
}

/** POST /v1/edges/:name/mode */
export interface EdgeModeAnswer {
  readonly edge: EdgeStatus;
}

/** POST /v1/edges/:name/sync, POST /v1/edges/sync */
export interface EdgeSyncAnswer {
  readonly reports: readonly SyncReport[];
}

/** GET /v1/offenders, worst first. */
export interface OffendersAnswer {
  readonly offenders: readonly HeldClient[];
  /** `after` of the next page. */
  readonly next?: string;
}

/** GET /v1/busiest */
export interface BusiestAnswer {
  readonly clients: readonly BusyKey[];
}

/** GET /v1/audit, newest first. */
export interface AuditAnswer {
  readonly entries: readonly AuditEntry[];
  /** `before` of the next page. */
  readonly next?: number;
}

/** Every error, as application/problem+json. */
export interface ProblemAnswer {
  readonly type: "about:blank";
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly help?: string;
  /** Where in what was sent: `body.subject.ip`, `query.most`. */
  readonly path?: string;
  /** Of a policy: everything that is wrong in it. */
  readonly problems?: readonly ConfigProblem[];
  /** Of an unexpected error: under this name it is in the log. */
  readonly id?: string;
}

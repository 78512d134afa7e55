import type { Cleared, Explanation, GateMetrics, ListEntry, ListName } from "tidegate";
import type { ConfigProblem } from "../config/config-file-error.js";
import type { EdgeStanding, EdgeStatus, SyncReport } from "../control-desk.js";
import type { CustomersStatus } from "../customers/customer-book.js";
import type { AuditEntry, ClearedKey, NamedToken, PolicyVersion, Role } from "../data.js";
import type { EdgeMode } from "../edge.js";
import type { SeenClient } from "../live/seen-clients.js";
import type { BusyClient, ClientSeries, Series } from "../live/series.js";
import type { OffenderFacts } from "../offenders.js";
import type { PolicyStatus } from "../policy/policy-status.js";
import type { Refusal, RefusedRequest } from "../refusal.js";

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
  /** Of a write: the version it replaced. */
  readonly before?: number;
}

/** GET /v1/policy/rules: of the policy in force. */
export interface PolicyRulesAnswer {
  readonly version: number;
  /** The whole policy's: in shadow or off, no rule refuses. */
  readonly mode: RuleMode;
  readonly rules: readonly PolicyRule[];
  /** By name, as they are written. */
  readonly tiers: readonly string[];
}

export interface PolicyRule {
  readonly name: string;
  readonly mode: RuleMode;
  /** It looks at some requests only (`only`, `except`). */
  readonly isPartial?: true;
}

type RuleMode = "enforce" | "shadow" | "off";

/** POST /v1/policy/validate */
export interface ValidateAnswer {
  readonly ok: boolean;
  readonly problems: readonly ConfigProblem[];
}

/** POST /v1/rehearse: the same as `tidegate replay --json` prints. */
export type { RehearsalReport } from "tidegate/simulate";

/** GET /v1/lists/:list, by address. */
export interface ListAnswer {
  readonly list: ListName;
  readonly entries: readonly ListLine[];
  /** `after` of the next page. */
  readonly next?: string;
  /** Those the policy itself names: they are changed there. */
  readonly fromPolicy: readonly string[];
}

/** Of a list of entries: each with what its header `ETag` would be. */
export interface ListLine extends ListEntry {
  readonly etag: string;
}

/** GET and PUT /v1/lists/:list/:address */
export interface ListEntryAnswer {
  readonly list: ListName;
  readonly entry: ListEntry;
  /** Of a write: the entry it replaced. */
  readonly before?: ListEntry;
}

/** DELETE /v1/lists/:list/:address */
export interface ListRemovedAnswer {
  readonly list: ListName;
  readonly removed: string;
  /** The entry as it was. */
  readonly before?: ListEntry;
}

/** POST /v1/lists/:list/preview: what adding these would do. Nothing is changed. */
export interface ListPreviewAnswer extends ClientsAnswer {
  readonly list: ListName;
  readonly entries: readonly PreviewedEntry[];
}

export interface PreviewedEntry {
  /** As it would stand on the list; as it was sent where it can not. */
  readonly address: string;
  /** Why it can not be added at all. */
  readonly problem?: string;
  /** Why it is most likely a slip: it takes `force`. */
  readonly slip?: string;
  /** The entry there is already. */
  readonly now?: ListLine;
}

/** GET /v1/clients: who came lately, those with the most requests first. */
export interface ClientsAnswer {
  readonly clients: readonly ClientLine[];
  /** How many there are in all. */
  readonly count: number;
}

export interface ClientLine extends Omit<SeenClient, "about"> {
  /** What the request it was last refused for would get now, or else a plain one from there, by the server's own word. Null: it was not looked at. */
  readonly allowed: boolean | null;
}

/** GET /v1/customers/:id, PUT …/tier, PUT …/limits */
export interface CustomerAnswer {
  readonly id: string;
  readonly tier: string | null;
  /** Window in seconds to limit. */
  readonly limits: Readonly<Record<string, number>> | null;
  /** Of a write: whether the primary database has it too. */
  readonly state?: "done" | "pending";
  /** Of a write: what it replaced. */
  readonly before?: Partial<Pick<CustomerAnswer, "tier" | "limits">>;
}

/** POST /v1/explain. Times that never come are null. */
export interface ExplainAnswer extends Explanation {
  /** Only with `remembered`: the refused request that stands for what was left out. None: no such one is remembered. */
  readonly asRefused?: RefusedRequest;
  /** Only with edges: where this client is held there. Null: it can not be told now. */
  readonly offenders?: readonly HeldClient[] | null;
  /** Only with edges: which of them refuse this request now, whatever `allowed` says, which is the server's own word. Null: it can not be told now. */
  readonly refusedAt?: readonly RefusedAt[] | null;
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
  /** Only with `remembered`: as how many refused requests it was forgotten too. */
  readonly remembered?: number;
  /** Only with edges: what was taken off them. */
  readonly edges?: readonly HeldClient[];
  /** Only with edges: until when it goes to none. */
  readonly holdOffUntil?: number;
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
  /** How it stands at each of them. */
  readonly standing: readonly EdgeStanding[];
  readonly about: OffenderFacts;
}

/** An edge that refuses a client now. */
export interface RefusedAt {
  readonly edge: string;
  readonly rule: string;
  readonly key: string;
  readonly until: number;
}

/** GET /v1/edges */
export interface EdgesAnswer {
  readonly edges: readonly EdgeLine[];
}

/** Of a list of edges: each with what its header `ETag` would be. */
export interface EdgeLine extends EdgeStatus {
  readonly etag: string;
}

/** GET /v1/edges/:name, POST /v1/edges/:name/mode */
export interface EdgeModeAnswer {
  readonly edge: EdgeStatus;
  /** Of a write: the mode it replaced. */
  readonly before?: EdgeMode;
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

/** GET /v1/held, longest first: by a rule here, at the edges, or both. */
export interface HeldAnswer {
  readonly held: readonly HeldNow[];
  /** How many there are in all. */
  readonly count: number;
}

export interface HeldNow {
  readonly key: string;
  readonly rule: string;
  readonly since: number;
  readonly until: number;
  /** By a rule of the policy, as this server has seen; otherwise only the edges have to do with it. */
  readonly isHere: boolean;
  /** Edges it goes to, by name. */
  readonly edges: readonly string[];
  readonly about: OffenderFacts;
}

/** GET /v1/busiest */
export interface BusiestAnswer {
  readonly clients: readonly BusyClient[];
}

/** GET /v1/series */
export type SeriesAnswer = Series;

/** GET /v1/series/client: null when this client is not among the busiest. */
export interface ClientSeriesAnswer {
  readonly client: ClientSeries | null;
}

/** GET /v1/audit, newest first. */
export interface AuditAnswer {
  readonly entries: readonly AuditLine[];
  /** `before` of the next page. */
  readonly next?: number;
}

export interface AuditLine extends AuditEntry {
  /** Whether POST /v1/audit/:id/undo can take it back; whether it has changed again since is found out then. */
  readonly undoable: boolean;
  /** The entry that took it back. */
  readonly undoneBy?: number;
}

/** POST /v1/audit/:id/undo */
export interface UndoAnswer {
  readonly undone: number;
  /** What the audit says of it: an act that can be undone in turn. Left out where the audit could not be read. */
  readonly entry?: AuditEntry;
}

/** POST /v1/login, GET /v1/session */
export interface SessionAnswer {
  readonly role: Role;
  /** The token's; null where it has none. */
  readonly name: string | null;
  /** Of a session: when it ends, and what its writes send as `Tidegate-Csrf`. Null for whoever asks with a token. */
  readonly until: number | null;
  readonly csrf: string | null;
}

/** POST /v1/logout */
export interface LogoutAnswer {
  readonly status: "logged out";
}

/** GET /v1/tokens, oldest first. */
export interface TokensAnswer {
  readonly tokens: readonly NamedToken[];
}

/** POST /v1/tokens */
export interface TokenCreatedAnswer {
  readonly token: NamedToken;
  /** The token itself. It is told this once. */
  readonly secret: string;
}

/** DELETE /v1/tokens/:id */
export interface TokenRevokedAnswer {
  readonly revoked: NamedToken;
}

/** POST /v1/login-codes */
export interface LoginCodeAnswer {
  /** To be sent to POST /v1/login, once. */
  readonly code: string;
  readonly until: number;
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
  /** Of what has changed meanwhile: how it is now; null: it is not there. */
  readonly now?: unknown;
}

import type { EdgeStatus } from "../control-desk.js";
import type { SetMode } from "../data.js";
import type { LoopData } from "./edge-facts.js";
import type { EdgeKeeper } from "./edge-keeper.js";
import { leaseOf } from "./edge-lease.js";
import { keyKind } from "./key-kinds.js";
import { type EdgeReport, readReport } from "./status-reporter.js";

/** One edge as this process sees it, itself or through whoever keeps it. */
export interface SeenEdge {
  readonly status: EdgeStatus;
  /** Whether it knows clients by such a key. */
  knows(key: string): boolean;
  /** Whether this key stands there, told at that time if it was told at all. */
  has(key: string, toldAt: number): boolean;
  /** Whether it has heard of what was decided at that time. */
  hasHeard(key: string, decidedAt: number): boolean;
}

export type EdgeNamed = Pick<EdgeStatus, "edge" | "kind" | "maxEntries">;

export interface SeenEdgesOptions {
  readonly keepers: readonly EdgeKeeper[];
  readonly elsewhere: readonly EdgeNamed[];
  /** No file names the edges: those somebody reported of, or set, are all that is known. */
  readonly isUntold: boolean;
  readonly data: Pick<LoopData, "edgeBook" | "leases">;
}

/** Asks for all of them. */
export function seenEdges({
  keepers,
  elsewhere,
  isUntold,
  data,
}: SeenEdgesOptions): () => Promise<SeenEdge[]> {
  const { edgeBook, leases } = data;

  /** Whatever was reported is of the past when nobody has the lease. */
  async function away(named: EdgeNamed, report: EdgeReport | undefined, set: SetMode | undefined) {
    const holder = await leases.holder(leaseOf(named.edge));
    const { keeper: _, state, ...known } = report === undefined ? unseen(named) : statusOf(report);
    const status: EdgeStatus = {
      ...known,
      ...(holder === undefined
        ? { state: "nobody keeps it" as const }
        : { keeper: holder, ...(state && { state }) }),
    };
    const isToldBy = (at: number): boolean => at <= (report?.inStepAt ?? Number.NEGATIVE_INFINITY);
    return {
      status: withMode(status, set),
      knows: (key: string) => knownBy(report, key),
      has: (_key: string, toldAt: number) => isToldBy(toldAt),
      hasHeard: (_key: string, decidedAt: number) => isToldBy(decidedAt),
    };
  }

  return async () => {
    const [modes, reports] = await Promise.all([edgeBook.modes(), edgeBook.reports()]);
    const names = new Set(keepers.map(({ edge }) => edge.name));
    const others = [...elsewhere, ...(isUntold ? namedBy(reports, modes) : [])];
    const rest = others.filter(({ edge }) => !names.has(edge) && names.add(edge));
    return Promise.all([
      ...keepers.map((keeper): SeenEdge | Promise<SeenEdge> => {
        const { name } = keeper.edge;
        const set = modes.get(name);
        if (!keeper.isKept) return away(keeper.status(), readReport(reports.get(name)), set);
        return {
          status: withMode(keeper.status(), set),
          knows: keeper.knows,
          has: keeper.has,
          hasHeard: (key) => !keeper.has(key),
        };
      }),
      ...rest.map((named) => away(named, readReport(reports.get(named.edge)), modes.get(named.edge))),
    ]);
  };
}

function namedBy(reports: ReadonlyMap<string, unknown>, modes: ReadonlyMap<string, unknown>): EdgeNamed[] {
  const names = [...new Set([...reports.keys(), ...modes.keys()])].sort();
  return names.map((edge) => {
    const { kind = "unknown", maxEntries = 0 } = readReport(reports.get(edge)) ?? {};
    return { edge, kind, maxEntries };
  });
}

/** Until somebody has said what it takes, all that is known of it is that it takes keys. */
function knownBy(report: EdgeReport | undefined, key: string): boolean {
  const kind = keyKind(key);
  return kind !== undefined && (report?.takes?.includes(kind) ?? true);
}

function statusOf({ inStepAt: _, takes: __, ...status }: EdgeReport): EdgeStatus {
  return status;
}

/** Nobody has said anything of it yet. */
function unseen({ edge, kind, maxEntries }: EdgeNamed): EdgeStatus {
  const none = { quarantined: [], evicted: 0, unknowable: 0, alarms: [] };
  return { edge, kind, mode: "on", applied: false, maxEntries, ...none };
}

function withMode(status: EdgeStatus, set: SetMode | undefined): EdgeStatus {
  const { setBy: _, ...rest } = status;
  const { mode = "on" } = set ?? {};
  const isReached = rest.state === "in step" || rest.state === "behind";
  const applied = isReached && rest.standsAt === mode;
  if (set === undefined) return { ...rest, mode, applied };
  const { who, why, at } = set;
  return { ...rest, mode, applied, setBy: { who, at, ...(why !== undefined && { why }) } };
}

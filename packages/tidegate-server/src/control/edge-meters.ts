import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { EdgeStatus } from "../control-desk.js";

/** What is measured of the edges, by name. */
export interface EdgeMeters {
  applied(edge: string, seconds: number): void;
  failed(edge: string): void;
  /** From now on it is counted, from 0. */
  opened(edge: string): void;
}

/** One edge as this process sees it. */
export type SeenEdge = Pick<EdgeStatus, "edge"> & Partial<EdgeStatus> & { readonly isKept: boolean };

const gauges: readonly (readonly [
  name: string,
  help: string,
  read: (edge: SeenEdge) => number | undefined,
])[] = [
  [
    "tidegate_edge_up",
    "1 if an edge was reached at the last look.",
    ({ state, problem }) =>
      state === undefined && problem === undefined ? undefined : Number(state !== undefined),
  ],
  ["tidegate_edge_entries", "Entries of ours at an edge.", ({ entries }) => entries],
  ["tidegate_edge_foreign", "Entries of others at an edge.", ({ foreign }) => foreign],
  ["tidegate_edge_pending", "Changes still to be made at an edge.", ({ pending }) => pending],
  ["tidegate_edge_evicted", "Held clients for which an edge has no room.", ({ evicted }) => evicted],
  [
    "tidegate_edge_quarantined",
    "Keys an edge refused, not tried again for a while.",
    ({ quarantined }) => quarantined?.length,
  ],
  [
    "tidegate_edge_drift",
    "Entries found wrong at the last full look, before they were set right.",
    ({ drift }) => drift,
  ],
  [
    "tidegate_edge_propagation_seconds",
    "From the last change measured until the edge told it.",
    ({ propagationMs }) => (propagationMs === undefined ? undefined : propagationMs / 1_000),
  ],
  [
    "tidegate_edge_stopped",
    "1 while a guard withholds new entries from an edge.",
    ({ stopped }) => Number(stopped !== undefined),
  ],
  ["tidegate_edge_withheld", "Changes a guard withholds from an edge.", ({ withheld }) => withheld],
];

/** Of an edge only the process that keeps it shows numbers. */
export function edgeMeters(registry: Registry, seen: () => readonly SeenEdge[]): EdgeMeters {
  const registers = [registry];
  const labelNames = ["edge"] as const;
  for (const [name, help, read] of gauges) {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const each of seen()) {
          const value = each.isKept ? read(each) : undefined;
          if (value !== undefined) this.set({ edge: each.edge }, value);
        }
      },
    });
  }
  new Gauge({
    name: "tidegate_edge_keeper",
    help: "1 if this process keeps the edge.",
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { edge, isKept } of seen()) this.set({ edge }, Number(isKept));
    },
  });
  const times = new Histogram({
    name: "tidegate_edge_apply_seconds",
    help: "From the request that crossed until the edge had been told.",
    labelNames,
    registers,
    buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5, 30, 120],
  });
  const failures = new Counter({
    name: "tidegate_edge_failures_total",
    help: "Calls to an edge that failed or took too long.",
    labelNames,
    registers,
  });
  return {
    applied: (edge, seconds) => times.observe({ edge }, seconds),
    failed: (edge) => failures.inc({ edge }),
    opened: (edge) => failures.inc({ edge }, 0),
  };
}

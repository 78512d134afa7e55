import type { MetricObjectWithValues, MetricValue } from "prom-client";

/** What a worker and its parent say to each other. */
export type ToWorker = { readonly kind: "metrics"; readonly question: number };
export type FromWorker =
  | { readonly kind: "ready"; readonly urls: { readonly proxy?: string; readonly decide?: string } }
  | { readonly kind: "metrics"; readonly question: number; readonly metrics: readonly Metrics[] };

export type Metrics = MetricObjectWithValues<MetricValue<string>>;

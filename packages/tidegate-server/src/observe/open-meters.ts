import { Gauge, type Registry } from "prom-client";
import type { Gate } from "tidegate";
import { clientMeters } from "./client-meters.js";
import { gateMeters } from "./gate-meters.js";
import { openProcessMeters } from "./process-meters.js";

export interface MeterOptions {
  readonly gate: Gate;
  /** One per gate: nothing is kept in prom-client's global one. */
  readonly registry: Registry;
  /** How many of the busiest clients are shown by name; 0: none. */
  readonly offenders: number;
  /** The policy version in force. */
  readonly policyVersion?: () => number | undefined;
  /** Of Tidegate itself. */
  readonly version?: string;
}

/** Prometheus metrics of a gate and of this process. `registry.metrics()` is the text. */
export function openMeters(options: MeterOptions): { close(): void } {
  const { gate, registry, offenders, policyVersion, version } = options;
  gateMeters(gate, registry);
  clientMeters(gate, registry, offenders);
  if (policyVersion !== undefined) {
    new Gauge({
      name: "tidegate_policy_version",
      help: "The policy version in force.",
      registers: [registry],
      aggregator: "min",
      collect() {
        this.set(policyVersion() ?? 0);
      },
    });
  }
  const build = new Gauge({
    name: "tidegate_build_info",
    help: "What runs, by its versions.",
    labelNames: ["version", "node"],
    registers: [registry],
    aggregator: "first",
  });
  build.set({ version: version ?? "unknown", node: process.version }, 1);
  return openProcessMeters(registry);
}

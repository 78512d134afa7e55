import { Counter, Gauge, type Registry } from "prom-client";
import type { Gate, GateMetrics } from "tidegate";

/** Read from the gate when somebody looks: a request pays nothing for it. */
export function gateMeters(gate: Gate, registry: Registry): void {
  const registers = [registry];

  /** The gate's own totals, as they stand; what it no longer has is no longer shown. */
  function counter<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: (metrics: GateMetrics) => readonly (readonly [labels: Record<Label, string>, value: number])[],
  ): void {
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const [labels, value] of read(gate.metrics())) this.inc(labels, value);
      },
    });
  }

  function gauge(
    name: string,
    help: string,
    aggregator: "sum" | "max" | "min",
    read: (metrics: GateMetrics) => number,
  ): void {
    new Gauge({
      name,
      help,
      registers,
      aggregator,
      collect() {
        this.set(read(gate.metrics()));
      },
    });
  }

  counter(
    "tidegate_decisions_total",
    "Requests each rule judged: what it let pass, refused, or would have refused in shadow.",
    ["rule", "outcome"],
    ({ byRule }) =>
      rulesInForce(gate, byRule).flatMap(([rule, { judged, refused, shadowRefused }]) => [
        [{ rule, outcome: "allowed" }, judged - refused - shadowRefused] as const,
        [{ rule, outcome: "refused" }, refused] as const,
        [{ rule, outcome: "shadow" }, shadowRefused] as const,
      ]),
  );
  counter("tidegate_holds_total", "Clients each rule began to hold.", ["rule"], ({ byRule }) =>
    rulesInForce(gate, byRule).map(([rule, { held }]) => [{ rule }, held]),
  );
  counter(
    "tidegate_decisions_by_reason_total",
    "Requests by what decided them.",
    ["reason"],
    ({ byReason }) => Object.entries(byReason).map(([reason, count]) => [{ reason }, count]),
  );
  counter("tidegate_requests_total", "Requests let in and refused.", ["outcome"], ({ allowed, refused }) => [
    [{ outcome: "allowed" }, allowed],
    [{ outcome: "refused" }, refused],
  ]);
  counter("tidegate_delayed_total", "Requests kept waiting by rules that delay.", [], ({ delayed }) => [
    [{}, delayed],
  ]);
  counter("tidegate_without_store_total", "Requests decided without the store.", [], ({ withoutStore }) => [
    [{}, withoutStore],
  ]);
  gauge("tidegate_waiting", "Requests waiting now under rules that delay.", "sum", ({ waiting }) => waiting);
  gauge("tidegate_store_up", "1 while the store answers.", "min", ({ degraded }) => Number(!degraded));
  gauge("tidegate_degraded", "1 while decisions are made without the store.", "max", ({ degraded }) =>
    Number(degraded),
  );
  gauge(
    "tidegate_safelist_entries",
    "Entries of the safelist.",
    "max",
    ({ safelistEntries }) => safelistEntries,
  );
  gauge(
    "tidegate_blocklist_entries",
    "Entries of the blocklist.",
    "max",
    ({ blocklistEntries }) => blocklistEntries,
  );
}

/** Rules of earlier policies are left out, or each change would leave its series behind. A crowd counts beside its rule. */
function rulesInForce(
  { policy }: Gate,
  byRule: GateMetrics["byRule"],
): [string, GateMetrics["byRule"][string]][] {
  const names = new Set(policy.rules.map(({ name }) => name));
  const none = { judged: 0, refused: 0, shadowRefused: 0, held: 0 };
  const crowds = Object.entries(byRule).filter(
    ([name]) => name.endsWith(" crowd") && names.has(name.slice(0, -6)),
  );
  return [
    ...[...names].map((name): [string, typeof none] => [
      name,
      Object.hasOwn(byRule, name) ? (byRule[name] ?? none) : none,
    ]),
    ...crowds,
  ];
}

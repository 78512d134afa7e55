import type { Decision } from "../decision.js";
import type { Gate, GateOptions, Warning } from "../gate.js";
import { createGate, memoryStore } from "../index.js";
import type { Subject } from "../subject.js";
import { subjectOf } from "./subject.js";
import { type VirtualClock, virtualClock } from "./virtual-clock.js";

/** When gates of `openGate` begin. */
export const start = 1_700_000_040_000;

/** A gate on counts in memory and a clock that stands still, and what it warned of. */
export function openGate(options: Partial<GateOptions> & Pick<GateOptions, "rules">): {
  gate: Gate;
  clock: VirtualClock;
  warnings: Warning[];
} {
  const clock = virtualClock(start);
  const warnings: Warning[] = [];
  const gate = createGate({
    store: memoryStore({ clock }),
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  return { gate, clock, warnings };
}

export const perIp = { name: "req/ip", by: "ip", limits: ["3 per 1m"] } as const;
export const client: Subject = subjectOf("203.0.113.7");

export async function times(count: number, act: () => Promise<Decision>): Promise<Decision[]> {
  const decisions: Decision[] = [];
  for (let i = 0; i < count; i++) decisions.push(await act());
  return decisions;
}

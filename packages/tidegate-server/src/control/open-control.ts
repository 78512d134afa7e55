import { Gauge, type Registry } from "prom-client";
import type { Gate, Store, Subject } from "tidegate";
import type { Log } from "../log.js";
import type { ControlSettings } from "../settings.js";
import { memoryOffenders, type Offenders } from "./offenders.js";
import { openTracker } from "./tracker.js";

/** From the first crossing to the edges: who is tracked, who is held. */
export interface Control {
  readonly offenders: Offenders;
  /** Undefined: nobody is tracked. */
  readonly track?: (subject: Subject) => void;
  close(): Promise<void>;
}

export interface ControlOptions {
  readonly settings: ControlSettings;
  readonly gate: Gate;
  readonly store: Store;
  readonly log: Log;
  readonly registry: Registry;
}

export function openControl({ settings, gate, store, log, registry }: ControlOptions): Control {
  const offenders = memoryOffenders();
  const tracker =
    settings.track && openTracker({ settings: settings.track, store, offenders, log, registry });
  const stop = gate.on("held", ({ rule, key, until }) => {
    const edges = edgesOf(gate, rule);
    if (edges !== undefined) offenders.add({ rule, key, until, edges });
  });
  new Gauge({
    name: "tidegate_offenders",
    help: "Clients held now that the edges are to know of.",
    registers: [registry],
    collect() {
      this.set(offenders.size);
    },
  });
  return {
    offenders,
    ...(tracker && { track: tracker.track }),
    async close() {
      stop();
      await tracker?.close();
    },
  };
}

/** Which edges a rule feeds; undefined: none. */
function edgesOf(gate: Gate, rule: string): readonly string[] | undefined {
  const edges = gate.policy.rules.find(({ name }) => name === rule)?.edges;
  if (edges === undefined || edges === false) return undefined;
  return edges === true ? [] : edges;
}

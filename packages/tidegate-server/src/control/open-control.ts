import type { Registry } from "prom-client";
import type { Gate, Store, Subject } from "tidegate";
import type { Log } from "../log.js";
import type { Offenders } from "../offenders.js";
import type { Settings } from "../settings.js";
import { offenderOf } from "./offender-of.js";
import { openTracker } from "./tracker.js";

/** What meets traffic tells control: who is tracked, and whom the policy's own rules hold. */
export interface Control {
  /** Undefined: nobody is tracked. */
  readonly track?: (subject: Subject) => void;
  close(): Promise<void>;
}

export interface ControlOptions {
  readonly settings: Pick<Settings, "control" | "identity">;
  readonly gate: Gate;
  readonly store: Store;
  readonly offenders: Offenders;
  readonly log: Log;
  readonly registry: Registry;
}

export function openControl({ settings, gate, store, offenders, log, registry }: ControlOptions): Control {
  const { identity, control } = settings;
  const tracker =
    control.track && openTracker({ settings: control.track, identity, store, offenders, log, registry });
  const stop = gate.on("held", (event) => {
    const edges = edgesOf(gate, event.rule);
    const offender = edges && offenderOf(event, edges);
    if (offender === undefined) return;
    offenders.add(offender).catch((error) => log.warn({ err: error }, "an offender could not be told"));
  });
  return {
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

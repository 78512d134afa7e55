import type { Registry } from "prom-client";
import type { Gate, GateEvents, Policy, Store, Subject, Verdict } from "tidegate";
import { edgesFed } from "../edge-feed.js";
import type { Log } from "../log.js";
import type { Offenders } from "../offenders.js";
import type { Settings } from "../settings.js";
import { offenderOf } from "./offender-of.js";
import { openTracker } from "./tracker.js";
import { offenderTeller } from "./tracking/offender-teller.js";

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
  if (control.track !== undefined) {
    const { standard, broad, address, holdFor } = control.track;
    log.info(
      { standard, broad, ...(address !== undefined && { address }), holdForMs: holdFor },
      "who floods is tracked for the edges: standard is one client on one path, broad a known tool on all",
    );
  }
  const holds = openHolds({ gate, offenders, log });
  return {
    ...(tracker && { track: tracker.track }),
    async close() {
      await holds.close();
      await tracker?.close();
    },
  };
}

/** Tells of whom the policy's own rules hold: when a hold begins, and now and then while the client goes on, lest it was lost. */
function openHolds({ gate, offenders, log }: Pick<ControlOptions, "gate" | "offenders" | "log">) {
  const teller = offenderTeller({ offenders, log, now: Date.now });
  const edgesOf = feedsOf(gate);

  function tellHeld(event: GateEvents["held"], score = 1): void {
    const edges = edgesOf(event.rule);
    const offender = edges && offenderOf(event, edges);
    if (offender !== undefined) teller.tell({ ...offender, score });
  }

  function tellAgain(subject: Subject, verdict: Verdict): void {
    const { rule, key, allowed, shadow, heldUntil, crossed = false, retryAfterMs } = verdict;
    if (allowed || shadow || heldUntil === undefined || crossed || edgesOf(rule) === undefined) return;
    // By this process's clock, as edges and guards read it: the store's own may differ.
    const until = Math.ceil(Date.now() + retryAfterMs);
    const score = scoreOf(verdict);
    if (!teller.seenAgain({ rule, key, until, score, leaked: 1 }))
      tellHeld({ rule, key, until, subject }, score);
  }

  const stops = [
    gate.on("held", (event) => tellHeld(event)),
    gate.on("refused", ({ subject, decision }) => {
      for (const verdict of decision.verdicts) tellAgain(subject, verdict);
    }),
  ];
  return {
    async close() {
      for (const stop of stops) stop();
      await teller.close();
    },
  };
}

/** How many times over its limit, where the rule estimates that. */
function scoreOf({ estimate, limit, windowMs }: Verdict): number {
  const times = ((estimate ?? 0) * windowMs) / 1_000 / limit;
  return Number.isFinite(times) ? Math.max(1, times) : 1;
}

/** Which edges a rule feeds by now; undefined: none. */
function feedsOf(gate: Gate): (rule: string) => readonly string[] | undefined {
  let known: Policy | undefined;
  let feeds = new Map<string, readonly string[] | undefined>();
  return (rule) => {
    const { policy } = gate;
    if (policy !== known) {
      known = policy;
      feeds = new Map(policy.rules.map((each) => [each.name, edgesFed(each, policy)]));
    }
    return feeds.get(rule);
  };
}

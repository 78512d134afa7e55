import type { Gate, GateEvents, Subject } from "tidegate";
import type { Log } from "../log.js";
import { allowance } from "./allowance.js";

export interface LogDecisionsOptions {
  /** Refusals, and holds, told one by one in a second; the others as a number. Default 10. */
  readonly most?: number;
  readonly everyMs?: number;
}

/**
 * Tells of refusals, holds and outages. A flood of refusals is a line a second: who floods the gate does not flood the
 * disk. Warnings are told by the gate's `onWarning`. Answers how to stop.
 */
export function logDecisions(gate: Gate, log: Log, options: LogDecisionsOptions = {}): () => void {
  const { most = 10, everyMs = 1_000 } = options;
  const refusals = allowance({
    most,
    everyMs,
    onMore: (count, byRule) => log.info({ count, byRule }, "more requests were refused"),
  });
  const holds = allowance({
    most,
    everyMs,
    onMore: (count, byRule) => log.info({ count, byRule }, "more clients are held"),
  });

  function refused({ subject, decision }: GateEvents["refused"]): void {
    const { id, reason, verdict, listed } = decision;
    if (!refusals.take(verdict?.rule ?? reason)) return;
    log.info(
      {
        decision: id,
        reason,
        ...(verdict && {
          rule: verdict.rule,
          key: verdict.key,
          limit: verdict.name,
          retryAfterMs: finite(verdict.retryAfterMs),
        }),
        ...(listed && { listed: listed.address }),
        ...requestOf(subject),
      },
      "refused",
    );
  }

  function held({ rule, key, until, subject }: GateEvents["held"]): void {
    if (!holds.take(rule)) return;
    log.info({ rule, key, until: timeText(until), ...requestOf(subject) }, "held");
  }

  const stops = [
    gate.on("refused", refused),
    gate.on("held", held),
    gate.on("degraded", ({ error }) =>
      log.warn({ err: error }, "the store is out of reach: decisions are made without it"),
    ),
    gate.on("recovered", () => log.info({}, "the store is back")),
  ];
  return () => {
    for (const stop of stops) stop();
    refusals.close();
    holds.close();
  };
}

/** Queries are left out: they carry secrets. */
function requestOf({ ip, method, host, path, customer, user }: Subject): Record<string, unknown> {
  return {
    client: ip,
    ...(customer !== undefined && { customer }),
    ...(user !== undefined && { user }),
    method,
    host,
    path: path.split("?", 1)[0],
  };
}

function finite(ms: number): number | null {
  return Number.isFinite(ms) ? ms : null;
}

function timeText(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : "never";
}

import type { EdgeStatus } from "../control-desk.js";
import type { EdgeBook } from "../data.js";
import type { Log } from "../log.js";
import type { KeyKind } from "./key-kinds.js";

/** What is written down of an edge: for processes that do not keep it, and for whoever keeps it next. */
export interface EdgeReport extends EdgeStatus {
  /** Whoever crossed before this is known there, if the edge is to know it. */
  readonly inStepAt?: number;
  /** Which kinds of keys the edge takes. */
  readonly takes?: readonly KeyKind[];
}

export interface StatusReporter {
  /** Now if it says something new and the last one is a while ago, or if it must; answers in how many milliseconds to come again. */
  report(report: EdgeReport, now: number, isDue: boolean): number;
  /** Resolves when what was reported is written down. */
  idle(): Promise<void>;
}

export function openStatusReporter(
  book: Pick<EdgeBook, "report">,
  log: Log,
  everyMs: number,
): StatusReporter {
  let lastAt = 0;
  let lastText = "";
  let isBusy = false;
  let next: EdgeReport | undefined;
  let writing = Promise.resolve();

  /** What comes while one is being written replaces whatever else waits. */
  async function write(): Promise<void> {
    isBusy = true;
    for (let report = next; report !== undefined; report = next) {
      next = undefined;
      await book
        .report(report.edge, report)
        .catch((error) => log.debug({ err: error }, "an edge's status is not written down"));
    }
    isBusy = false;
  }

  return {
    report(report, now, isDue) {
      const text = JSON.stringify({ ...report, readAt: 0, inStepAt: 0 });
      if (!isDue && text === lastText) return Number.POSITIVE_INFINITY;
      const waitMs = lastAt + everyMs - now;
      if (!isDue && waitMs > 0 && waitMs <= everyMs) return waitMs;
      lastAt = now;
      lastText = text;
      next = report;
      if (!isBusy) writing = write();
      return Number.POSITIVE_INFINITY;
    },
    idle: () => writing,
  };
}

/** What was written down, as far as it can be one of ours. */
export function readReport(written: unknown): EdgeReport | undefined {
  if (typeof written !== "object" || written === null) return undefined;
  const report = written as Partial<EdgeReport>;
  if (typeof report.edge !== "string" || typeof report.maxEntries !== "number") return undefined;
  if (!Array.isArray(report.alarms) || !Array.isArray(report.quarantined)) return undefined;
  return report as EdgeReport;
}

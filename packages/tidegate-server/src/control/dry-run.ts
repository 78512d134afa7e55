import type { Clock } from "tidegate";
import type { SyncReport } from "../control-desk.js";
import { type Edge, problemWords } from "../edge.js";
import { bounded } from "./bounded.js";
import { keysAskedFor, type LoopData, readEdgeFacts } from "./edge-facts.js";
import { readReport } from "./status-reporter.js";
import { wishFor } from "./wish.js";

export interface DryRunOptions {
  readonly name: string;
  /** Opened to be read, and closed again. */
  readonly open: () => Promise<Edge>;
  readonly data: Pick<LoopData, "offenders" | "edgeBook">;
  readonly isSpared: (address: string) => boolean;
  readonly everyMs: number;
  readonly readMs: number;
  readonly clock: Clock;
}

/** What would have to change now at an edge that another process keeps. Changes nothing, and takes no lease. */
export async function dryRun(options: DryRunOptions): Promise<SyncReport> {
  const { name } = options;
  let edge: Edge | undefined;
  try {
    edge = await options.open();
    return { edge: name, isDryRun: true, ...(await planAt(edge, options)) };
  } catch (error) {
    return { edge: name, isDryRun: true, put: [], remove: [], problem: problemWords(error, name) };
  } finally {
    await edge?.close().catch(() => {});
  }
}

async function planAt(edge: Edge, options: DryRunOptions): Promise<Pick<SyncReport, "put" | "remove">> {
  const { name, data, isSpared, everyMs, readMs, clock } = options;
  const read = (asked: Iterable<string>): ReturnType<Edge["current"]> =>
    bounded(readMs, `${name}: reading`, (signal) => edge.current([...asked], signal));
  const now = clock();
  const [facts, reports] = await Promise.all([readEdgeFacts(data, name, now), data.edgeBook.reports()]);
  // What an edge takes it may only know once it was reached.
  if (!edge.abilities.isListable) await read([]);
  const wish = wishFor({ edge, isSpared, everyMs });
  const { entries, foreign } = await read(keysAskedFor(facts, [], wish.knows));
  const quarantined = new Set(readReport(reports.get(name))?.quarantined.map(({ key }) => key));
  const at = { foreign, quarantined, now };
  const { put, remove } = wish.plan(wish.wanted(facts, at), entries, facts, at);
  return { put: put.map(({ key, until, rule }) => ({ key, until, rule })), remove };
}

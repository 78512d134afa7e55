import type { Clock } from "tidegate";
import type { EdgeStatus, SyncReport } from "../control-desk.js";
import type { SetMode } from "../data.js";
import type { Edge } from "../edge.js";
import type { Log } from "../log.js";
import type { ControlSettings } from "../settings.js";
import { openApplyTimes } from "./apply-times.js";
import { bounded } from "./bounded.js";
import { openCaution } from "./caution.js";
import { type EdgeFacts, keysAskedFor, type LoopData, readEdgeFacts } from "./edge-facts.js";
import { leaseOf, openEdgeLease } from "./edge-lease.js";
import type { EdgeMeters } from "./edge-meters.js";
import { modeUnder } from "./edge-stop.js";
import { openEdgeView } from "./edge-view.js";
import { openEdgeWriter } from "./edge-writer.js";
import { keeperStatus } from "./keeper-status.js";
import type { KeeperTerms } from "./keeper-terms.js";
import { type Plan, type PlannedEntry, planFor } from "./plan.js";
import { openQuarantine } from "./quarantine.js";
import { openRhythm } from "./rhythm.js";
import { openStatusReporter, readReport } from "./status-reporter.js";
import { keyTest, type Wanted, wantedAt } from "./wanted.js";

/** Keeps one edge right, as long as no other process does. */
export interface EdgeKeeper {
  readonly edge: Edge;
  /** This process has the lease. */
  readonly isKept: boolean;
  wake(): void;
  status(): EdgeStatus;
  /** Resolves when whatever is wished now has been tried. */
  settle(): Promise<void>;
  /** Reads the edge and sets it right at once. */
  sync(): Promise<SyncReport>;
  /** What would have to change now; changes nothing, and needs no lease. */
  dryRun(): Promise<SyncReport>;
  close(): Promise<void>;
}

export interface EdgeKeeperOptions {
  readonly edge: Edge;
  readonly kind: string;
  readonly settings: Pick<ControlSettings, "everyMs" | "guard">;
  readonly data: LoopData;
  readonly isSpared: (address: string) => boolean;
  /** What stands at the edges may be all that is left of a lost index. */
  readonly onIncomplete: () => void;
  readonly meters: EdgeMeters;
  readonly log: Log;
  /** This process, by a name no other one has. */
  readonly holder: string;
  readonly clock: Clock;
  readonly terms: KeeperTerms;
}

export function openEdgeKeeper(options: EdgeKeeperOptions): EdgeKeeper {
  const { edge, kind, settings, data, isSpared, onIncomplete, meters, log, holder, clock, terms } = options;
  const { name, abilities } = edge;
  const { leaseMs, renewMs, retryMs } = terms;
  const { offenders, leases } = data;
  const lease = openEdgeLease({ leases, name: leaseOf(name), holder, leaseMs, renewMs, retryMs });
  const knows = keyTest(abilities);
  const view = openEdgeView(abilities);
  const caution = openCaution({ edge: name, guard: settings.guard, offenders, onIncomplete, log });
  const quarantine = openQuarantine();
  const times = openApplyTimes(name, meters);
  const reporter = openStatusReporter(data.edgeBook, log, terms.reportMs);
  const writer = openEdgeWriter({
    edge,
    view,
    terms,
    clock,
    log,
    mayWrite: async () => lease.holdsFor(terms.applyMs) || (await take()) === fence,
    isInterrupted: () => rhythm.isWoken,
    onRefused: (refused) => quarantine.add(refused, clock()),
    onApplied(done) {
      caution.applied(times.applied(done.put, clock()), clock());
      for (const { put, remove } of records) {
        put.push(...done.put);
        remove.push(...done.remove);
      }
    },
  });
  let fence: number | undefined;
  let lookAt = 0;
  let isLookWished = false;
  let clearedBefore: ReadonlySet<string> = new Set();
  let pausedUntil = 0;
  let backoffMs = 0;
  let set: SetMode | undefined;
  let wanted: Wanted | undefined;
  let pending = 0;
  let drift: number | undefined;
  let readAt: number | undefined;
  let problem: EdgeStatus["problem"];
  let alarms: readonly string[] = [];
  /** Of those who asked for what is being done. */
  const records = new Set<{ readonly put: PlannedEntry[]; readonly remove: string[] }>();

  const rhythm = openRhythm(async () => {
    const isDue = await round();
    return fence === undefined ? retryMs : nextInMs(isDue);
  });

  /** Answers whether the edge was read. */
  async function round(): Promise<boolean> {
    let facts: EdgeFacts;
    try {
      if (!(await keeps()) || clock() < pausedUntil) return false;
      facts = await bounded(terms.applyMs, "reading who is held", readFacts);
    } catch (error) {
      pausedUntil = clock() + retryMs;
      note(error, "what is wished of an edge can not be read: its entries stay until they end");
      return false;
    }
    try {
      const isLook = await setRight(facts);
      backoffMs = 0;
      problem = undefined;
      return isLook;
    } catch (error) {
      meters.failed(name);
      view.forget();
      backoffMs = Math.min(terms.longestBackoffMs, Math.max(terms.backoffMs, 2 * backoffMs));
      pausedUntil = clock() + backoffMs;
      note(error, "an edge failed: it is read again, then set right");
      return false;
    }
  }

  async function readFacts(): Promise<EdgeFacts> {
    await caution.askComplete();
    return readEdgeFacts(data, name, clock());
  }

  function take(): Promise<number | undefined> {
    return bounded(terms.applyMs, "taking the lease", lease.take);
  }

  /** Whoever did not have the lease for a moment knows nothing any more. */
  async function keeps(): Promise<boolean> {
    const taken = await take();
    if (taken === fence) return taken !== undefined;
    view.forget();
    if (taken !== undefined)
      caution.resume(readReport((await data.edgeBook.reports()).get(name))?.stop ?? {});
    fence = taken;
    log.info({ edge: name, isKept: taken !== undefined }, "an edge changed hands");
    return taken !== undefined;
  }

  async function setRight(facts: EdgeFacts): Promise<boolean> {
    set = facts.set;
    const isLook = isLookWished || !view.isKnown || clock() >= lookAt;
    isLookWished = false;
    const { cleared } = facts;
    if (isLook) await look(facts);
    else view.suspect([...cleared].filter((key) => !clearedBefore.has(key) && knows(key)));
    clearedBefore = cleared;
    const now = clock();
    wanted = wantedFor(facts, view.foreign, now);
    const all = planOf(wanted, view.entries, facts, now);
    const { stop } = caution;
    const plan = await caution.restrict(all, { wanted, current: view.entries, cleared, set, now });
    pending = countOf(all);
    // Whoever keeps the edge next has to know of it.
    if (caution.stop.stopped !== stop.stopped) publish(true);
    const failure = await applyMode();
    // Entries are welcome in any mode, unless a guard wants another one first.
    if (failure !== undefined && caution.stop.stopped !== undefined) throw failure.error;
    pending = countOf(all) - countOf(plan) + (await writer.apply(plan));
    if (failure !== undefined) throw failure.error;
    if (isLook) times.keepOnly(wanted.entries);
    return isLook;
  }

  async function look(facts: EdgeFacts): Promise<void> {
    const asked = keysAskedFor(facts, view.entries.keys(), knows);
    const found = await view.look(asked, clock(), readEdge);
    readAt = clock();
    lookAt = readAt + settings.everyMs;
    drift = found.drift ?? drift;
    if (found.hasLostAll) log.warn({ edge: name }, "an edge has lost its entries: it is filled again");
  }

  function readEdge(asked: readonly string[]): ReturnType<Edge["current"]> {
    return bounded(terms.readMs, `${name}: reading`, (signal) => edge.current(asked, signal));
  }

  function wantedFor({ offenders, cleared }: EdgeFacts, foreign: number, now: number): Wanted {
    const quarantined = quarantine.keys(now);
    const { maxEntries } = abilities;
    return wantedAt({
      edge: name,
      knows,
      maxEntries,
      foreign,
      offenders,
      cleared,
      quarantined,
      isSpared,
      now,
    });
  }

  function planOf(
    { entries }: Wanted,
    current: ReadonlyMap<string, number>,
    { cleared }: EdgeFacts,
    now: number,
  ): Plan {
    const soonMs = 2 * settings.everyMs + abilities.delayMs;
    const { put, remove } = planFor({ wanted: entries, current, cleared, now, soonMs });
    const quarantined = quarantine.keys(now);
    return { put, remove: remove.filter((key) => !quarantined.has(key)) };
  }

  async function applyMode(): Promise<{ readonly error: unknown } | undefined> {
    // What people set may have been lost too, and the edge be the only one to remember.
    if (!caution.isComplete && set === undefined && view.mode !== undefined) return undefined;
    try {
      await writer.setMode(modeUnder(caution.stop, set));
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  function nextInMs(isDue: boolean): number {
    const reportInMs = publish(isDue);
    const now = clock();
    const lookInMs = view.isKnown ? lookAt - now : 0;
    const resumeInMs =
      pending > 0 && writer.resumeAt > now ? writer.resumeAt - now : Number.POSITIVE_INFINITY;
    const soonest = Math.min(lookInMs, resumeInMs, reportInMs, leaseMs - renewMs);
    return Math.max(1, pausedUntil - now, soonest);
  }

  /** Raises alarms, and writes down how the edge is; answers in how many milliseconds to come again for that. */
  function publish(isDue: boolean): number {
    const status = ownStatus();
    for (const alarm of status.alarms)
      if (!alarms.includes(alarm)) log.error({ edge: name, alarm }, "an edge raises an alarm");
    for (const alarm of alarms)
      if (!status.alarms.includes(alarm)) log.info({ edge: name, alarm }, "an alarm has ended");
    alarms = status.alarms;
    return reporter.report({ ...status, stop: caution.stop }, clock(), isDue);
  }

  function note(error: unknown, words: string): void {
    const message = messageOf(error);
    if (problem?.message !== message) log.warn({ err: error, edge: name }, words);
    problem = { at: clock(), message };
  }

  function ownStatus(): EdgeStatus {
    const now = clock();
    return keeperStatus({
      edge: name,
      kind,
      maxEntries: abilities.maxEntries,
      keeper: holder,
      set,
      stop: caution.stop,
      isKnown: view.isKnown,
      entries: [...view.entries.values()].filter((until) => until > now).length,
      foreign: view.foreign,
      pending,
      quarantined: quarantine.list(),
      evicted: wanted?.evicted.size ?? 0,
      unknowable: wanted?.unknowable.size ?? 0,
      readAt,
      problem,
      applyMs: times.percentiles(),
      propagationMs: edge.propagationMs?.(),
      drift,
    });
  }

  return {
    edge,
    get isKept() {
      return fence !== undefined && lease.holdsFor(0);
    },
    wake: rhythm.wake,
    status: ownStatus,
    settle: rhythm.round,
    async sync() {
      const done = { put: [], remove: [] };
      const giveUpAt = performance.now() + terms.readMs;
      records.add(done);
      isLookWished = true;
      do await rhythm.round();
      while (
        pending > 0 &&
        writer.resumeAt <= clock() &&
        problem === undefined &&
        performance.now() < giveUpAt
      );
      records.delete(done);
      return { ...reportOf(name, done, false), ...(problem && { problem: problem.message }) };
    },
    async dryRun() {
      try {
        const now = clock();
        const facts = await readEdgeFacts(data, name, now);
        const asked = keysAskedFor(facts, view.entries.keys(), knows);
        const { entries, foreign } = await readEdge([...asked]);
        return reportOf(name, planOf(wantedFor(facts, foreign, now), entries, facts, now), true);
      } catch (error) {
        return { ...reportOf(name, { put: [], remove: [] }, true), problem: messageOf(error) };
      }
    },
    async close() {
      await rhythm.close();
      if (fence !== undefined) publish(true);
      await bounded(terms.applyMs, "reporting", reporter.idle).catch(() => {});
      await lease
        .giveUp()
        .catch((error) => log.debug({ err: error, edge: name }, "a lease runs out by itself"));
    },
  };
}

function countOf({ remove, put }: Plan): number {
  return remove.length + put.length;
}

function reportOf(edge: string, { put, remove }: Plan, isDryRun: boolean): SyncReport {
  return { edge, put: put.map(({ key, until, rule }) => ({ key, until, rule })), remove, isDryRun };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

import type { Clock } from "tidegate";
import type { EdgeStatus, SyncReport } from "../control-desk.js";
import type { SetMode } from "../data.js";
import { type Edge, EdgeError, problemWords } from "../edge.js";
import type { Log } from "../log.js";
import type { ControlSettings } from "../settings.js";
import { openApplyTimes } from "./apply-times.js";
import { bounded } from "./bounded.js";
import { openCaution } from "./caution.js";
import { type EdgeFacts, keysAskedFor, type LoopData, readEdgeFacts } from "./edge-facts.js";
import { leaseOf, openEdgeLease } from "./edge-lease.js";
import type { EdgeMeters } from "./edge-meters.js";
import { openEdgeView } from "./edge-view.js";
import { openEdgeWriter } from "./edge-writer.js";
import { keeperStatus } from "./keeper-status.js";
import type { KeeperTerms } from "./keeper-terms.js";
import { kindsTaken } from "./key-kinds.js";
import { openOverflow } from "./overflow.js";
import type { Plan, PlannedEntry } from "./plan.js";
import { openQuarantine } from "./quarantine.js";
import { openRhythm } from "./rhythm.js";
import { openStatusReporter } from "./status-reporter.js";
import type { Wanted } from "./wanted.js";
import { type WishedAt, wishFor } from "./wish.js";

/** Keeps one edge right, as long as no other process does. */
export interface EdgeKeeper {
  readonly edge: Edge;
  /** This process has the lease. */
  readonly isKept: boolean;
  wake(): void;
  status(): EdgeStatus;
  /** Whether the edge knows clients by such a key. */
  knows(key: string): boolean;
  /** Whether this key stands there, as far as was read and told. */
  has(key: string): boolean;
  /** Resolves when whatever is wished now has been tried, also after a failure a moment ago. */
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
  /** For the rhythm: nobody sets it. Milliseconds from whenever. */
  readonly steady: () => number;
  readonly terms: KeeperTerms;
}

export function openEdgeKeeper(options: EdgeKeeperOptions): EdgeKeeper {
  const { edge, kind, settings, data, isSpared, onIncomplete, meters, log, holder, clock, steady, terms } =
    options;
  const { name, abilities } = edge;
  const { leaseMs, renewMs, retryMs } = terms;
  const { offenders, leases } = data;
  const lease = openEdgeLease({ leases, name: leaseOf(name), holder, leaseMs, renewMs, retryMs });
  const wish = wishFor({ edge, isSpared, everyMs: settings.everyMs });
  const { knows } = wish;
  const view = openEdgeView(abilities);
  const { guard } = settings;
  const book = data.edgeBook;
  const caution = openCaution({ edge: name, guard, offenders, book, onIncomplete, steady, log });
  const overflow = openOverflow(offenders, steady);
  const quarantine = openQuarantine();
  const times = openApplyTimes(name, meters);
  const reporter = openStatusReporter(data.edgeBook, log, terms.reportMs);
  const writer = openEdgeWriter({
    edge,
    view,
    terms,
    clock,
    steady,
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
  let heldLately = 0;
  let lookAt = Number.NEGATIVE_INFINITY;
  let isLookWished = false;
  /** A person waits: a pause after a failure ends. */
  let isHurried = false;
  let clearedBefore: ReadonlySet<string> = new Set();
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let backoffMs = 0;
  let set: SetMode | undefined;
  let wanted: Wanted | undefined;
  let pending = 0;
  let withheld = 0;
  let drift: number | undefined;
  let readAt: number | undefined;
  let problem: EdgeStatus["problem"];
  let failing: "edge" | "data" = "edge";
  let inStepAt: number | undefined;
  let alarms: readonly string[] = [];
  /** Of those who asked for what is being done. */
  const records = new Set<{ readonly put: PlannedEntry[]; readonly remove: string[] }>();

  const rhythm = openRhythm(async () => {
    const isDue = await round();
    return { nextInMs: fence === undefined ? retryMs : nextInMs(isDue), restMs: restAfter(heldLately) };
  });

  /** Answers whether the edge was read. */
  async function round(): Promise<boolean> {
    let facts: EdgeFacts;
    const mayPause = !isHurried;
    isHurried = false;
    try {
      if (!(await keeps()) || (mayPause && steady() < pausedUntil)) return false;
      facts = await bounded(terms.applyMs, "reading who is held", readFacts);
    } catch (error) {
      pausedUntil = steady() + retryMs;
      note(error, "data", "what is wished of an edge can not be read: its entries stay until they end");
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
      pausedUntil = steady() + backoffMs;
      note(error, "edge", "an edge failed: it is read again, then set right");
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
    if (taken !== undefined) await caution.resume();
    fence = taken;
    log.info({ edge: name, isKept: taken !== undefined }, "an edge changed hands");
    return taken !== undefined;
  }

  async function setRight(facts: EdgeFacts): Promise<boolean> {
    set = facts.set;
    heldLately = facts.offenders.length;
    const askedAt = clock();
    const isLook = isLookWished || !view.isKnown || steady() >= lookAt;
    isLookWished = false;
    const { cleared } = facts;
    if (isLook) await look(facts);
    else view.suspect([...cleared].filter((key) => !clearedBefore.has(key) && knows(key)));
    clearedBefore = cleared;
    const now = clock();
    const at = wishedAt(view.foreign, now);
    wanted = wish.wanted(facts, at);
    const all = wish.plan(wanted, view.entries, facts, at);
    const allowed = await caution.restrict(all, { wanted, current: view.entries, cleared, set, now });
    const { plan } = allowed;
    withheld = allowed.withheld;
    pending = countOf(all) - withheld;
    const failure = await applyMode();
    // Entries are welcome in any mode.
    pending = countOf(all) - withheld - countOf(plan) + (await writer.apply(plan));
    if (failure !== undefined) throw failure.error;
    if (pending + withheld === 0) inStepAt = askedAt;
    if (isLook) times.keepOnly(wanted.entries);
    return isLook;
  }

  async function look(facts: EdgeFacts): Promise<void> {
    const asked = keysAskedFor(facts, view.entries.keys(), knows);
    const found = await view.look(asked, clock(), readEdge);
    readAt = clock();
    lookAt = steady() + settings.everyMs;
    drift = found.drift ?? drift;
    if (found.hasLostAll) log.warn({ edge: name }, "an edge has lost its entries: it is filled again");
  }

  function readEdge(asked: readonly string[]): ReturnType<Edge["current"]> {
    return bounded(terms.readMs, `${name}: reading`, (signal) => edge.current(asked, signal));
  }

  function wishedAt(foreign: number, now: number): WishedAt {
    return { foreign, quarantined: quarantine.keys(now), now };
  }

  async function applyMode(): Promise<{ readonly error: unknown } | undefined> {
    // What people set may have been lost too, and the edge be the only one to remember.
    if (!caution.isComplete && set === undefined && view.mode !== undefined) return undefined;
    try {
      await writer.setMode(set?.mode ?? "on");
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  function nextInMs(isDue: boolean): number {
    const reportInMs = publish(isDue);
    const now = steady();
    const lookInMs = view.isKnown ? lookAt - now : 0;
    const { resumeInMs: restMs } = writer;
    const resumeInMs = pending > 0 && restMs > 0 ? restMs : Number.POSITIVE_INFINITY;
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
    const takes = kindsTaken(knows);
    const report = { ...status, takes, ...(inStepAt !== undefined && { inStepAt }) };
    return reporter.report(report, clock(), isDue);
  }

  function note(error: unknown, whose: typeof failing, words: string): void {
    const message = problemWords(error, name);
    if (problem?.message !== message) log.warn(factsOfFailure(error, name, message), words);
    failing = whose;
    problem = { at: clock(), message, ...(error instanceof EdgeError && { code: error.code }) };
  }

  /** A person waits for it. */
  function hurried(): Promise<void> {
    isHurried = true;
    return rhythm.round();
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
      standsAt: view.lastMode,
      entries: [...view.entries.values()].filter((until) => until > now).length,
      foreign: view.foreign,
      pending,
      withheld,
      isOverfull: overflow.isLate(),
      quarantined: quarantine.list(),
      evicted: wanted?.evicted.size ?? 0,
      unknowable: wanted?.unknowable.size ?? 0,
      readAt,
      problem,
      failing,
      trouble: edge.problem?.(),
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
    knows,
    has: (key) => (view.entries.get(key) ?? 0) > clock(),
    settle: hurried,
    async sync() {
      const done = { put: [], remove: [] };
      const giveUpAt = performance.now() + terms.readMs;
      records.add(done);
      isLookWished = true;
      do await hurried();
      while (pending > 0 && writer.resumeInMs === 0 && problem === undefined && performance.now() < giveUpAt);
      records.delete(done);
      return { ...reportOf(name, done, false), ...(problem && { problem: problem.message }) };
    },
    async dryRun() {
      try {
        const now = clock();
        const facts = await readEdgeFacts(data, name, now);
        const asked = keysAskedFor(facts, view.entries.keys(), knows);
        const { entries, foreign } = await readEdge([...asked]);
        const at = wishedAt(foreign, now);
        return reportOf(name, wish.plan(wish.wanted(facts, at), entries, facts, at), true);
      } catch (error) {
        return { ...reportOf(name, { put: [], remove: [] }, true), problem: problemWords(error, name) };
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

/**
 * A round looks through all who are held, which takes some 3 µs each. With a rest of three times that, a flood of crossings has it
 * work a quarter of the time at most; what an edge or Redis takes meanwhile is nobody's loss.
 */
function restAfter(held: number): number {
  return Math.min(200, 2 + held / 100);
}

function countOf({ remove, put }: Plan): number {
  return remove.length + put.length;
}

function reportOf(edge: string, { put, remove }: Plan, isDryRun: boolean): SyncReport {
  return { edge, put: put.map(({ key, until, rule }) => ({ key, until, rule })), remove, isDryRun };
}

/** An edge that fails for a while is no fault of the program: where in it that showed says nothing. */
function factsOfFailure(error: unknown, edge: string, message: string): object {
  const isUsual = error instanceof EdgeError || (error as Error | undefined)?.name === "TimeoutError";
  if (!isUsual) return { err: error, edge };
  return { edge, problem: message, ...(error instanceof EdgeError && { code: error.code }) };
}

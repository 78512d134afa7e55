import type { Registry } from "prom-client";
import {
  createGate,
  type Duration,
  type IdentityOptions,
  memoryDirectory,
  type Store,
  type Subject,
  type Verdict,
} from "tidegate";
import { ofItsOwn } from "../fact-text.js";
import type { Log } from "../log.js";
import type { Offender, OffenderFacts, Offenders } from "../offenders.js";
import type { TrackSettings } from "../settings.js";
import { clientBlock } from "./client-block.js";
import { factsOf } from "./offender-of.js";
import { distinctLately } from "./tracking/distinct-lately.js";
import { gatheringStore } from "./tracking/gathering-store.js";
import { knownVisits } from "./tracking/known-visits.js";
import { offenderTeller } from "./tracking/offender-teller.js";
import type { Slice } from "./tracking/slice.js";
import { slicingStore } from "./tracking/slicing-store.js";
import { trackedLimit, trackedRules } from "./tracking/tracked-rules.js";
import { trackerMeters } from "./tracking/tracker-meters.js";

/** Counts who comes, beside the request's way: nobody waits for it, and nobody is refused by it. */
export interface Tracker {
  track(subject: Subject): void;
  close(): Promise<void>;
}

export interface TrackerOptions {
  readonly settings: TrackSettings;
  /** How fingerprints are made: as the edges make them. */
  readonly identity?: IdentityOptions;
  readonly store: Store;
  readonly offenders: Offenders;
  readonly log: Log;
  readonly registry: Registry;
  /** Calls to the store under way at the same time; further clients go uncounted, and that is counted. */
  readonly mostUnderWay?: number;
  /** For tests. Default the system's. */
  readonly clock?: () => number;
}

/** Nobody waits for it, so the store may take its time. */
const deadlineMs = 2_000;
/** What a client does is found out as it comes, a few microseconds each: done for many at once, it would be felt. */
const gathering = { fewWaitMs: 1, manyWaitMs: 4, many: 3 };
/** Whoever is far below the rate is counted here, a quarter of what is left to a client at most, and the store is told so often. */
const slicing = { share: 0.25, everyMs: 150, idleMs: 10_000, most: 50_000 };
/** Whoever has hardly taken anything of it is told of after this, or a twelfth of the half-life: what is told late fades late, by a seventeenth at most. */
const longestRestMs = 5_000;
/** In either of two generations. */
const mostVisits = 4096;
/** How often a store that is out of reach is tried: each try is felt, and of one that hangs several are under way. */
const retryMs = 250;

/** What is known of who came before: where it stands among those seen, and what it is counted under. */
interface Visit {
  readonly place: number;
  readonly slices: readonly Slice<OffenderFacts>[];
}

export function openTracker(options: TrackerOptions): Tracker {
  const { settings, identity, store, offenders, log, registry } = options;
  const { mostUnderWay = 1_000, clock: now = Date.now } = options;
  const standard = trackedLimit(settings.standard, settings);
  const broad = trackedLimit(settings.broad, settings);
  const address = settings.address === undefined ? undefined : trackedLimit(settings.address, settings);
  const hold = { for: settings.holdFor as readonly Duration[] };
  const only = settings.methods.length === 0 ? {} : { only: { method: settings.methods } };
  const sliced = slicingStore<OffenderFacts>(gatheringStore(store, gathering), {
    ...slicing,
    restMs: Math.max(slicing.everyMs, Math.min(longestRestMs, settings.halfLifeMs / 12)),
    onRefused({ about }, verdicts) {
      if (about !== undefined) judge(about, refusedBy(verdicts), now());
    },
    onLost({ rule }, hits) {
      if (rule === trackedRules.standard) meters.dropped += hits;
    },
    onAway(error) {
      isStoreAway = true;
      const message = `The store is out of reach, and nobody is tracked: ${error instanceof Error ? error.message : error}`;
      log.warn({ code: "TG_DEGRADED", message }, "tracking");
    },
    onBack() {
      isStoreAway = false;
    },
  });
  const gate = createGate({
    store: sliced,
    directory: memoryDirectory(),
    onStoreFailure: "allow",
    deadlineMs,
    // The slices know what the store does: most requests do not come by the gate.
    breaker: { failures: Number.MAX_SAFE_INTEGER },
    ...(identity && { identity }),
    rules: [
      { name: trackedRules.standard, by: "standard", limits: [standard.limit], hold, ...only },
      { name: trackedRules.broad, by: "broad", limits: [broad.limit], hold, ...only },
      ...(address
        ? [{ name: trackedRules.address, by: "ip" as const, limits: [address.limit], hold, ...only }]
        : []),
    ],
    onWarning: ({ code, message }) => log.warn({ code, message }, "tracking"),
  });
  const perSecond = new Map<string, number>([
    [trackedRules.standard, standard.perSecond],
    [trackedRules.broad, broad.perSecond],
    ...(address ? [[trackedRules.address, address.perSecond] as const] : []),
  ]);
  const visits = knownVisits<Visit>(mostVisits);
  const seen = distinctLately({ now });
  const held = distinctLately({ now, bits: 1 << 16 });
  const teller = offenderTeller({ offenders, log, now });
  const meters = trackerMeters(registry, () => seen.count());
  let isStoreAway = false;
  let triedAt = 0;
  let underWay = 0;
  let onIdle: () => void = () => {};

  async function count(subject: Subject, place: number): Promise<void> {
    underWay++;
    const at = now();
    try {
      const { allowed, verdicts, source } = await gate.decide(subject);
      meters[source === "none" ? "dropped" : "counted"]++;
      // Not asked about, or refused without a write: that says nothing of the store, so the next one tries.
      if (isStoreAway && (verdicts.length === 0 || !allowed)) triedAt = 0;
      if (!allowed) judgeAll(subject, verdicts, at);
      else remember(subject, verdicts, place);
    } catch (error) {
      meters.dropped++;
      log.debug({ err: error }, "a request could not be tracked");
    } finally {
      if (--underWay === 0) onIdle();
    }
  }

  /** For its next request, and for when the store refuses it by what others counted. */
  function remember(subject: Subject, verdicts: readonly Verdict[], place: number): void {
    const slices = verdicts.flatMap((verdict) => sliced.sliceOf(verdict) ?? []);
    if (slices.some(({ about }) => about === undefined)) {
      const about = keptFacts(subject);
      for (const slice of slices) slice.about ??= about;
    }
    // Whoever is counted for its address block is so for this second only.
    const isItself = verdicts.every(({ rule }) => perSecond.has(rule));
    if (isItself && slices.length === verdicts.length) visits.keep(subject, { place, slices });
  }

  function judgeAll(subject: Subject, verdicts: readonly Verdict[], at: number): void {
    const about = factsOf(subject);
    for (const verdict of verdicts) judge(about, verdict, at);
  }

  /**
   * By this process's clock, as edges and guards read it: the store's own may differ. The wait is what is left of the hold,
   * or until the estimate falls below the rate, whichever is longer.
   */
  function judge(about: OffenderFacts, verdict: Verdict, at: number): void {
    const { rule, key, heldUntil, crossed = false, estimate = 0, retryAfterMs, cost: hits } = verdict;
    const rate = perSecond.get(rule);
    if (verdict.allowed || heldUntil === undefined || rate === undefined) return;
    if (about.ip !== undefined) held.add(clientBlock(about.ip));
    const until = Math.ceil(now() + retryAfterMs);
    const score = Math.max(1, estimate / rate);
    if (crossed) meters.crossed.labels(rule).inc();
    else meters.leaked.inc(hits);
    const leaked = crossed ? 0 : hits;
    if (!crossed && teller.seenAgain({ rule, key, until, score, leaked })) return;
    const share = Math.min(1, held.count() / Math.max(1, seen.count()));
    const offender: Offender = { key, rule, crossedAt: at, until, score, leaked, edges: [], about, share };
    teller.tell(offender);
  }

  /** While the store is out of reach one client now and then is enough to find out that it is back. */
  function isInVain(): boolean {
    if (!isStoreAway) return false;
    const at = performance.now();
    if (at - triedAt < retryMs) return true;
    triedAt = at;
    return false;
  }

  return {
    track(subject) {
      const known = isStoreAway ? undefined : visits.get(subject);
      const place = known === undefined ? seen.placeOf(clientBlock(subject.ip)) : known.place;
      seen.addAt(place);
      // The same visit was counted before, and is far below every rate: nothing need be asked.
      if (known !== undefined && sliced.countHere(known.slices)) meters.counted++;
      else if (underWay >= mostUnderWay || isInVain()) meters.dropped++;
      else void count(subject, place);
    },
    async close() {
      await new Promise<void>((resolve) => {
        onIdle = resolve;
        if (underWay === 0) resolve();
      });
      await sliced.close();
      await teller.close();
      await gate.close();
    },
  };
}

/** Facts of a client that may be kept for long. */
function keptFacts(subject: Subject): OffenderFacts {
  const facts = Object.entries(factsOf(subject)).map(([name, fact]) => [name, ofItsOwn(fact)]);
  return Object.fromEntries(facts);
}

/** What a store says of one rule and key, in one verdict: of a hold that begins the limit beside it knows nothing. */
function refusedBy(verdicts: readonly Verdict[]): Verdict {
  const [verdict] = verdicts as [Verdict];
  const begun = verdicts.find(({ crossed }) => crossed);
  if (begun?.heldUntil === undefined) return verdict;
  const { heldUntil } = begun;
  const retryAfterMs = Math.max(verdict.retryAfterMs, Math.ceil(heldUntil - begun.at));
  return { ...verdict, heldUntil, crossed: true, retryAfterMs };
}

import type { Log } from "../../log.js";
import type { Offender, Offenders } from "../../offenders.js";

/** Tells of held clients: of a crossing at once, of the rest at most once a second for each client, until it was heard. */
export interface OffenderTeller {
  /** A client crossed, or was found held by this process for the first time. */
  tell(offender: Offender): void;
  /** One that was told of goes on. False: it is not known here. */
  seenAgain(again: Pick<Offender, "rule" | "key" | "until" | "score" | "leaked">): boolean;
  /** Tells what is still to be told, and waits for it. */
  close(): Promise<void>;
}

export interface OffenderTellerOptions {
  readonly offenders: Offenders;
  readonly log: Log;
  readonly now: () => number;
  /** Clients known at the same time. Whoever is forgotten here is told of as if found anew. */
  readonly most?: number;
  readonly mostUnderWay?: number;
}

/** Changed in place: a client that floods is seen a thousand times a second. */
interface Told {
  offender: Offender;
  until: number;
  score: number;
  leaked: number;
  toldAt: number;
  /** 0: not heard yet. */
  toldUntil: number;
  toldScore: number;
  isUnderWay: boolean;
}

const everyMs = 1_000;
/** Whoever goes on is told of again after this in any case: how much leaked, and lest it was lost. */
const againMs = 5_000;

export function offenderTeller(options: OffenderTellerOptions): OffenderTeller {
  const { offenders, log, now, most = 20_000, mostUnderWay = 1_000 } = options;
  const known = new Map<string, Told>();
  const due = new Set<string>();
  const underWay = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let isFailing = false;

  function remember(id: string, told: Told): void {
    known.delete(id);
    known.set(id, told);
    for (const oldest of known.keys()) {
      if (known.size <= most) return;
      known.delete(oldest);
    }
  }

  function tellNow(id: string, told: Told): void {
    if (told.isUnderWay || underWay.size >= mostUnderWay) {
      tellLater(id);
      return;
    }
    const { until, score, leaked } = told;
    told.toldAt = now();
    told.toldUntil = until;
    told.toldScore = score;
    told.isUnderWay = true;
    const telling = add(id, told, { ...told.offender, until, score, leaked }).finally(() =>
      underWay.delete(telling),
    );
    underWay.add(telling);
  }

  async function add(id: string, told: Told, offender: Offender): Promise<void> {
    try {
      await offenders.add(offender);
      isFailing = false;
    } catch (error) {
      told.toldUntil = 0;
      tellLater(id);
      if (!isFailing) log.warn({ err: error }, "offenders can not be told of; trying on while they are held");
      isFailing = true;
    } finally {
      told.isUnderWay = false;
    }
  }

  function tellLater(id: string): void {
    due.add(id);
    timer ??= setTimeout(tellDue, everyMs).unref();
  }

  function tellDue(): void {
    timer = undefined;
    const ids = [...due];
    due.clear();
    for (const id of ids) {
      const told = known.get(id);
      if (told !== undefined && told.until > now()) tellNow(id, told);
    }
  }

  /** A tenth of what is left, or a second; a score that doubled; and now and then. */
  function isWorthTelling({ until, score, toldAt, toldUntil, toldScore }: Told, at: number): boolean {
    return (
      until - toldUntil > Math.min(1_000, 0.1 * (toldUntil - at)) ||
      score > 2 * toldScore ||
      at - toldAt >= againMs
    );
  }

  return {
    tell(offender) {
      const { until, score, leaked } = offender;
      const id = idOf(offender);
      const before = known.get(id);
      const told: Told = {
        ...(before ?? { toldAt: 0, toldUntil: 0, toldScore: 0 }),
        ...{ offender, until, score, leaked, isUnderWay: false },
      };
      remember(id, told);
      tellNow(id, told);
    },
    seenAgain({ rule, key, until, score, leaked }) {
      const id = idOf({ rule, key });
      const told = known.get(id);
      const at = now();
      if (told === undefined || told.until <= at) return false;
      if (until > told.until) told.until = until;
      told.score = score;
      told.leaked += leaked;
      if (!isWorthTelling(told, at)) return true;
      if (at - told.toldAt >= everyMs) tellNow(id, told);
      else tellLater(id);
      return true;
    },
    async close() {
      clearTimeout(timer);
      tellDue();
      clearTimeout(timer);
      await Promise.all(underWay);
      clearTimeout(timer);
      due.clear();
    },
  };
}

function idOf({ rule, key }: Pick<Offender, "rule" | "key">): string {
  return `${rule}\n${key}`;
}

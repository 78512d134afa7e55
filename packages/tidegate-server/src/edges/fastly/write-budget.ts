import type { Clock } from "tidegate";

/** Fastly takes so many writes an hour for one token, and says on every answer how many are left. */
export interface WriteBudget {
  /** What an answer says of it. */
  learn(headers: Headers): void;
  /** From when on one more may be sent. */
  nextAt(kind: WriteKind): number;
  /** One is sent now. */
  spend(kind: WriteKind): void;
  /** Fastly took no more (429); until it says otherwise. */
  stop(headers: Headers): void;
}

/** Entries leave the reserve alone; removals may take from it, spread too; what people order goes at once. */
export type WriteKind = "entry" | "removal" | "order";

export interface WriteBudgetOptions {
  /** Writes that go at once after a rest: one to each dictionary. */
  readonly burst: number;
  readonly clock: Clock;
}

const gapMs = 250;
/** Part of the hour's writes kept for what is urgent. */
const reserved = 0.3;
/** Somebody else may write with the same token. */
const safety = 1.1;
/** An hour, and what clocks may differ. */
const furthestMs = 2 * 3_600_000;
/** Two answers of one hour may differ by so much on when it ends. */
const driftMs = 60_000;
/** How long to rest where Fastly does not say. */
const restMs = 60_000;

/** At once when idle, then spread over what is left of the hour. */
export function writeBudget({ burst, clock }: WriteBudgetOptions): WriteBudget {
  /** Undefined: nothing was said of this hour yet. */
  let remaining: number | undefined;
  let resetAt = 0;
  /** The most that was left within this hour. */
  let most = 0;
  let stoppedUntil = 0;
  /** When the writes so far would all have been due: all of them, and removals alone. */
  let due = 0;
  let removalsDue = 0;

  /** Infinite where nothing was said. */
  function left(kind: WriteKind): number {
    if (remaining === undefined) return Number.POSITIVE_INFINITY;
    return kind === "entry" ? remaining - Math.floor(most * reserved) : remaining;
  }

  function interval(kind: WriteKind, now: number): number {
    const writes = left(kind);
    if (writes === Number.POSITIVE_INFINITY) return gapMs;
    return Math.max(gapMs, ((resetAt - now) / Math.max(1, writes)) * safety);
  }

  /** Now; a new hour owes the old one nothing. */
  function hourNow(): number {
    const now = clock();
    if (remaining === undefined || now < resetAt) return now;
    remaining = undefined;
    most = 0;
    due = Math.min(due, resetAt);
    removalsDue = Math.min(removalsDue, resetAt);
    return now;
  }

  function learn(headers: Headers): void {
    const rest = wholeNumber(headers.get("Fastly-RateLimit-Remaining"));
    const seconds = wholeNumber(headers.get("Fastly-RateLimit-Reset"));
    const now = hourNow();
    if (rest === undefined || seconds === undefined) return;
    if (seconds * 1_000 <= now || seconds * 1_000 > now + furthestMs) return;
    if (Math.abs(seconds * 1_000 - resetAt) > driftMs) most = 0;
    resetAt = seconds * 1_000;
    remaining = rest;
    most = Math.max(most, rest);
  }

  return {
    learn,
    nextAt(kind) {
      const now = hourNow();
      if (now < stoppedUntil) return stoppedUntil;
      if (left(kind) <= 0) return resetAt;
      if (kind === "order") return now;
      return (kind === "entry" ? due : removalsDue) - (burst - 1) * interval(kind, now);
    },
    spend(kind) {
      const now = hourNow();
      due = Math.max(due, now) + interval("entry", now);
      if (kind === "removal") removalsDue = Math.max(removalsDue, now) + interval("removal", now);
      if (remaining !== undefined && remaining > 0) remaining--;
    },
    stop(headers) {
      learn(headers);
      const now = hourNow();
      remaining = 0;
      stoppedUntil = resetAt > now ? resetAt : now + restMs;
    },
  };
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}

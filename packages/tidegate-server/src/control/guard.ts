import type { ControlGuard } from "../settings.js";
import type { Plan, PlannedEntry } from "./plan.js";

/** Looks for what is too much to be right. */
export interface Guard {
  /** What is wrong with this plan, in words. Asked before it is applied. */
  judge(plan: Plan, facts: GuardFacts): string | undefined;
  /** New entries that stand there now. */
  applied(entries: readonly PlannedEntry[], now: number): void;
}

export interface GuardFacts {
  readonly now: number;
  /** How many are wanted at this edge. */
  readonly held: number;
  /** Ours as they stand there. */
  readonly current: ReadonlyMap<string, number>;
  /** Keys with a good reason to go: cleared by hand, no room, refused by the edge. */
  readonly mayGo: (key: string) => boolean;
}

const windowMs = 60_000;
/** Fewer than this are never an unusual share. */
const fewest = 100;
/** Holds that end about now leave together, and nobody minds: an edge keeps them up to a second longer. */
const endingMs = 5_000;

export function openGuard({ newPerMinute, share }: ControlGuard): Guard {
  /** Key to when it was put. Filled again after a loss, a key is not new. */
  const recent = new Map<string, number>();

  function isNews({ key, isNew, crossedAt }: PlannedEntry, now: number): boolean {
    return isNew && crossedAt > now - windowMs && !recent.has(key);
  }

  return {
    judge(plan, { now, held, current, mayGo }) {
      for (const [key, at] of recent) if (at <= now - windowMs) recent.delete(key);
      const news = plan.put.filter((entry) => isNews(entry, now));
      const lately = recent.size + news.length;
      if (lately > newPerMinute) return `${lately} new entries within a minute (guard: ${newPerMinute})`;
      const most = news.reduce((worst, entry) => Math.max(worst, entry.share), 0);
      if (held >= fewest && most > share)
        return `${percent(most)} of the clients seen lately are held (guard: ${percent(share)})`;
      if (isMassRelease(plan, { now, held, current, mayGo }))
        return `more than half of ${current.size} entries would be removed, and nobody cleared them`;
      return undefined;
    },
    applied(entries, now) {
      for (const entry of entries) if (isNews(entry, now)) recent.set(entry.key, now);
    },
  };
}

/** Removals nobody asked for: more likely a loss than a hundred clients that calmed down at once. */
export function isMassRelease({ remove }: Pick<Plan, "remove">, facts: GuardFacts): boolean {
  const { now, current, mayGo } = facts;
  if (current.size < fewest) return false;
  return remove.filter((key) => !mayGo(key) && isLive(current, key, now)).length > current.size / 2;
}

/** Not about to end by itself. */
export function isLive(current: ReadonlyMap<string, number>, key: string, now: number): boolean {
  return (current.get(key) ?? 0) > now + endingMs;
}

function percent(share: number): string {
  return `${Math.round(share * 1_000) / 10} %`;
}

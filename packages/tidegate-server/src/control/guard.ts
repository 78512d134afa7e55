import type { ControlGuard } from "../settings.js";
import { adoptedRule } from "./adoption.js";
import { clientBlock, networkBlock } from "./client-block.js";
import type { Plan, PlannedEntry } from "./plan.js";
import type { Wanted } from "./wanted.js";

/** Looks for what is too much to be right. */
export interface Guard {
  /** What is wrong with this plan, in words. Asked before it is applied. */
  judge(plan: Plan, facts: GuardFacts): string | undefined;
  /** New entries that stand there now. */
  applied(entries: readonly PlannedEntry[], now: number): void;
}

export interface GuardFacts {
  readonly now: number;
  readonly wanted: Pick<Wanted, "entries">;
  /** Ours as they stand there. */
  readonly current: ReadonlyMap<string, number>;
  /** Keys with a good reason to go: cleared by hand, no room, refused by the edge. */
  readonly mayGo: (key: string) => boolean;
}

const windowMs = 60_000;
/** Fewer clients than this are never an unusual share, nor are those of fewer networks: one attacker has many addresses. */
const fewest = 100;
const fewestNetworks = 20;
/** Holds that end about now leave together, and nobody minds: an edge keeps them up to a second longer. */
const endingMs = 5_000;

export interface GuardOptions {
  readonly limits: ControlGuard;
  /** By which a minute is told: nobody sets it. */
  readonly steady: () => number;
}

export function openGuard({ limits: { newPerMinute, share }, steady }: GuardOptions): Guard {
  /** Key to when it was put. Filled again after a loss, a key is not new. */
  const recent = new Map<string, number>();

  function isNews(entry: PlannedEntry, now: number): boolean {
    return isLatelyCrossed(entry, now) && !recent.has(entry.key);
  }

  return {
    judge(plan, { now, wanted, current, mayGo }) {
      const minuteAgo = steady() - windowMs;
      for (const [key, at] of recent) if (at <= minuteAgo) recent.delete(key);
      const news = plan.put.filter((entry) => isNews(entry, now));
      const lately = recent.size + news.length;
      if (lately > newPerMinute) return `${lately} new entries within a minute (guard: ${newPerMinute})`;
      const most = news.reduce((worst, entry) => Math.max(worst, entry.share), 0);
      if (most > share && isSpread(wanted))
        return `${percent(most)} of the clients seen lately are held (guard: ${percent(share)})`;
      if (isMassRelease(plan, { now, current, mayGo }))
        return `more than half of ${current.size} entries would be removed, and nobody cleared them`;
      return undefined;
    },
    applied(entries, now) {
      for (const entry of entries) if (isNews(entry, now)) recent.set(entry.key, steady());
    },
  };
}

/** It is not there yet, and whoever it is about crossed a moment ago. What was adopted stood somewhere before. */
export function isLatelyCrossed({ isNew, rule, crossedAt }: PlannedEntry, now: number): boolean {
  return isNew && rule !== adoptedRule && crossedAt > now - windowMs;
}

/** Held are many, who have not all one owner. */
function isSpread({ entries }: Pick<Wanted, "entries">): boolean {
  if (entries.size < fewest) return false;
  const clients = new Set<string>();
  const networks = new Set<string>();
  for (const { ip } of entries.values()) {
    if (ip === undefined) continue;
    clients.add(clientBlock(ip));
    networks.add(networkBlock(ip));
    if (clients.size >= fewest && networks.size >= fewestNetworks) return true;
  }
  return false;
}

/** Removals nobody asked for: more likely a loss than a hundred clients that calmed down at once. */
export function isMassRelease(
  { remove }: Pick<Plan, "remove">,
  { now, current, mayGo }: Omit<GuardFacts, "wanted">,
): boolean {
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

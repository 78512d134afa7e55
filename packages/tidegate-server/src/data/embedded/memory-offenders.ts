import type { Offender, Offenders } from "../../offenders.js";
import { listeners } from "../listeners.js";
import { type KeptOffender, mergeOffender, soundOffender } from "../offender-merge.js";
import { rankedOffenders } from "../ranked-offenders.js";

export interface MemoryOffendersOptions {
  readonly most?: number;
  readonly now?: () => number;
  /** Those it begins with. */
  readonly from?: readonly Offender[];
  /** Told of a watcher that throws. */
  readonly onError?: (error: unknown) => void;
}

/** Who is held, in this process. It ends with the process; what stands at the edges is then taken in again, for `isComplete` says so. */
export function memoryOffenders(options: MemoryOffendersOptions = {}): Offenders & { close(): void } {
  const { most = 100_000, now = Date.now, from = [], onError = () => {} } = options;
  const held = new Map<string, KeptOffender>();
  const ranked = rankedOffenders();
  const watchers = listeners<void>(onError);
  let isComplete = false;
  let dropped = 0;
  /** So many too many are let stand, so that not every newcomer to a full house has all the others looked through. */
  const slack = most >> 6;

  function drop(id: string): void {
    held.delete(id);
    ranked.put(id, undefined);
  }

  /** The ended go, then the mildest, of equals whoever is released soonest. */
  function cut(): void {
    const at = now();
    for (const [id, { offender }] of held) if (offender.until <= at) drop(id);
    if (held.size <= most) return;
    const mildest = ranked.at(at).slice(most);
    for (const offender of mildest) drop(idOf(offender));
    dropped += mildest.length;
  }

  /** Answers whether it is news. */
  function take(told: Offender): boolean {
    const offender = soundOffender(told);
    if (offender.until <= now()) return false;
    const id = idOf(offender);
    const { kept, isNews } = mergeOffender(held.get(id), offender, now());
    held.set(id, kept);
    ranked.put(id, kept.offender);
    if (held.size > most + slack) cut();
    return isNews;
  }

  for (const offender of from) take(offender);
  return {
    async add(told) {
      const isNews = take(told);
      if (isNews) watchers.tell();
      return isNews;
    },
    async now() {
      if (held.size > most) cut();
      return ranked.at(now());
    },
    async remove(keys) {
      cut();
      const removed: Offender[] = [];
      const wanted = new Set(keys);
      for (const [id, { offender }] of held) {
        if (!wanted.has(offender.key)) continue;
        drop(id);
        removed.push(offender);
      }
      if (removed.length > 0) watchers.tell();
      return removed;
    },
    dropped: () => dropped,
    watch: (listener) => watchers.add(listener),
    isComplete: async () => isComplete,
    async markComplete() {
      isComplete = true;
    },
    close: () => watchers.clear(),
  };
}

function idOf({ rule, key }: Offender): string {
  return `${rule}\n${key}`;
}

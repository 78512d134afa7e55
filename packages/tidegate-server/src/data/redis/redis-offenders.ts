import type { Offender, Offenders } from "../../offenders.js";
import { soundOffender } from "../offender-merge.js";
import type { Run, Send } from "./commands.js";
import type { ControlEvents } from "./control-events.js";
import type { ControlKeys } from "./control-keys.js";
import { offenderMirror } from "./offender-mirror.js";
import { factsText, laterBy, offenderId, readOffender } from "./offender-record.js";
import { addScript, completeScript, removeScript } from "./offender-scripts.js";
import type { RedisClock } from "./redis-clock.js";
import { together } from "./together.js";

export interface RedisOffendersOptions {
  readonly send: Send;
  readonly run: Run;
  readonly keys: ControlKeys;
  readonly events: ControlEvents;
  readonly now: () => number;
  readonly clock: RedisClock;
  readonly onError: (error: unknown) => void;
  readonly most?: number;
}

const mostAddedAtOnce = 200;
const mostRemovedAtOnce = 1_000;

/** Who is held, for all processes on this Redis. What it holds is bounded, and lost together or not at all. */
export function redisOffenders(options: RedisOffendersOptions): Offenders {
  const { send, run, keys, events, now, clock, onError, most = 100_000 } = options;
  const mirror = offenderMirror({ run, keys, now, clock, onError });
  const places = [keys.held, keys.ends, keys.changes, keys.ranks, keys.events];

  /** Answers of each whether it is news. */
  async function addAll(told: readonly Offender[]): Promise<boolean[]> {
    const ahead = await clock.ahead();
    const args = told.flatMap((offender) => {
      const { until, crossedAt, score, leaked } = laterBy(-ahead, offender);
      const numbers = [until, crossedAt, score, leaked].map(String);
      return [offenderId(offender), ...numbers, factsText(offender)];
    });
    const replies = (await run(addScript, places, [clock.told(), String(most), ...args])) as unknown[];
    const news = replies.map((reply) => Number(reply) === 1);
    if (news.includes(true)) events.tell("offenders");
    return news;
  }

  const add = together({ act: addAll, most: mostAddedAtOnce });
  return {
    async add(told) {
      const offender = soundOffender(told);
      return offender.until > now() && add(offender);
    },
    now: () => mirror.look(),
    async remove(wanted) {
      const known = new Set(wanted);
      const ids = (await mirror.look()).filter(({ key }) => known.has(key)).map(offenderId);
      const ahead = await clock.ahead();
      const removed = [];
      for (let i = 0; i < ids.length; i += mostRemovedAtOnce) {
        const some = ids.slice(i, i + mostRemovedAtOnce);
        const records = (await run(removeScript, places, [clock.told(), ...some])) as (string | null)[];
        for (const [j, id] of some.entries()) {
          const record = records[j];
          const offender = typeof record === "string" ? readOffender(id, record) : undefined;
          if (offender !== undefined) removed.push(laterBy(ahead, offender));
        }
      }
      if (removed.length > 0) events.tell("offenders");
      return removed;
    },
    watch: (listener) => events.watch("offenders", listener),
    isComplete: async () => (await send("HGET", keys.held, "#complete")) === "1",
    async markComplete() {
      await run(completeScript, places, [clock.told()]);
    },
    dropped: () => mirror.dropped,
  };
}

import type { Offender } from "../../offenders.js";
import { corruptError } from "../data-errors.js";
import { rankedOffenders } from "../ranked-offenders.js";
import type { Run } from "./commands.js";
import type { ControlKeys } from "./control-keys.js";
import { laterBy, readOffender } from "./offender-record.js";
import { lookScript } from "./offender-scripts.js";
import type { RedisClock } from "./redis-clock.js";

/** The offenders in Redis as this process knows them; each look fetches only what changed since the last. */
export interface OffenderMirror {
  /** As they stand in Redis when asked, worst first; times are this process's. */
  look(): Promise<Offender[]>;
  /** How many went for want of room, as of the last look. */
  readonly dropped: number;
}

export interface OffenderMirrorOptions {
  readonly run: Run;
  readonly keys: Pick<ControlKeys, "held" | "changes">;
  readonly now: () => number;
  readonly clock: RedisClock;
  /** Told of records that are not ours; they are passed over. */
  readonly onError: (error: unknown) => void;
}

type LookReply =
  | readonly [
      born: string,
      rev: string,
      isAll: number,
      found: readonly (string | null)[],
      dropped: string | null,
    ]
  | null;

/** So often all are read, whatever is said to have changed. */
const wholeEveryMs = 60_000;

export function offenderMirror({ run, keys, now, clock, onError }: OffenderMirrorOptions): OffenderMirror {
  const known = rankedOffenders();
  let born = "";
  let rev = "0";
  let dropped = 0;
  let wholeAt = Number.NEGATIVE_INFINITY;
  let current: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  async function fetchChanges(): Promise<void> {
    const at = performance.now();
    if (at - wholeAt >= wholeEveryMs) born = "";
    const reply = (await run(lookScript, [keys.held, keys.changes], [born, rev])) as LookReply;
    if (reply === null) {
      known.clear();
      born = "";
      return;
    }
    const [bornNow, revNow, isAll, found, droppedNow] = reply;
    if (Number(isAll) === 1) {
      known.clear();
      wholeAt = at;
    }
    takeIn(found);
    born = bornNow;
    rev = revNow;
    dropped = Number(droppedNow ?? 0);
  }

  function takeIn(found: readonly (string | null)[]): void {
    let foreign = 0;
    for (let i = 0; i < found.length; i += 2) {
      const id = found[i] as string;
      const record = found[i + 1];
      if (id.startsWith("#")) continue;
      const offender = typeof record === "string" ? readOffender(id, record) : undefined;
      known.put(id, offender);
      if (offender === undefined && typeof record === "string") foreign++;
    }
    if (foreign > 0)
      onError(corruptError(`The Redis key ${keys.held}`, `${foreign} of its records are not ours`));
  }

  /** One at a time, so that no reply undoes a later one; those who come meanwhile share the next. */
  function refresh(): Promise<void> {
    next ??= current
      .catch(() => {})
      .then(() => {
        next = undefined;
        current = fetchChanges();
        return current;
      });
    return next;
  }

  return {
    async look() {
      const [ahead] = await Promise.all([clock.ahead(), refresh()]);
      const held = known.at(now() - ahead);
      return ahead === 0 ? held : held.map((offender) => laterBy(ahead, offender));
    },
    get dropped() {
      return dropped;
    },
  };
}

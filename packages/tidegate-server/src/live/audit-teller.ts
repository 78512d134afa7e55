import type { AuditLog } from "../data.js";
import type { Log } from "../log.js";
import { auditTail, type Found } from "./audit-tail.js";
import { eventText } from "./events.js";
import type { Listener } from "./listener.js";

/** A listener, and how much of the audit it has had. */
export interface AuditListener extends Pick<Listener, "send" | "hasRoom" | "room"> {
  /** It has had every entry up to this one; undefined: it wants those from now on. */
  auditAfter: number | undefined;
  /** As long as it is to be told what it missed. */
  isBehind: boolean;
  isCatchingUp: boolean;
}

/** Tells listeners each new entry of the audit once and in order, whoever wrote it; first, what they missed. */
export interface AuditTeller {
  /** False: the data could not be read when it was last looked at. */
  readonly isReachable: boolean;
  look(): Promise<void>;
  /** Tells one what it missed, unless that can not be read yet: then the next look does. */
  catchUp(listener: AuditListener): Promise<void>;
  close(): void;
}

export function auditTeller(
  audit: Pick<AuditLog, "list">,
  heard: ReadonlySet<AuditListener>,
  log: Log,
): AuditTeller {
  const tail = auditTail(audit);
  let isReachable = true;
  let isLooking = false;
  let isClosed = false;

  async function look(): Promise<void> {
    if (isLooking || isClosed) return;
    isLooking = true;
    try {
      const told = toldOf(await tail.look());
      isReachable = true;
      for (const each of isClosed ? [] : heard) if (!each.isBehind) tell(each, told);
    } catch (error) {
      isReachable = false;
      log.debug({ err: error }, "the audit can not be read now");
    }
    isLooking = false;
    for (const each of isClosed ? [] : heard) if (each.isBehind) void catchUp(each);
  }

  /** What the others are told meanwhile is read again here, so nothing is told twice or in the wrong order. */
  async function catchUp(each: AuditListener): Promise<void> {
    if (each.isCatchingUp) return;
    each.isCatchingUp = true;
    try {
      while (each.isBehind && tail.last !== undefined && !isClosed) {
        const found = await tail.after(each.auditAfter ?? 0);
        for (const { text, id } of toldOf(found)) {
          await each.room();
          each.send(text);
          each.auditAfter = id;
        }
        each.auditAfter = found.newest;
        each.isBehind = found.newest < tail.last;
      }
    } catch (error) {
      log.debug({ err: error }, "the audit can not be read now");
    }
    each.isCatchingUp = false;
  }

  /** Whom all of it at once would be too much gets it bit by bit. */
  function tell(each: AuditListener, told: readonly Told[]): void {
    for (const { text, id } of told) {
      if (id <= (each.auditAfter ?? 0)) continue;
      if (!each.hasRoom()) {
        each.auditAfter ??= id - 1;
        each.isBehind = true;
        return;
      }
      each.send(text);
      each.auditAfter = id;
    }
  }

  return {
    get isReachable() {
      return isReachable;
    },
    look,
    catchUp,
    close() {
      isClosed = true;
    },
  };
}

interface Told {
  readonly text: string;
  /** Up to this entry all has been told then. */
  readonly id: number;
}

function toldOf({ entries, missedAfter }: Found): Told[] {
  const [first] = entries;
  const texts = entries.map((entry) => ({ text: eventText("audit", entry, entry.id), id: entry.id }));
  if (missedAfter === undefined || first === undefined) return texts;
  return [
    { text: eventText("missed", { after: missedAfter, before: first.id }), id: first.id - 1 },
    ...texts,
  ];
}

import type { ServerResponse } from "node:http";
import type { Log } from "../log.js";
import { type AuditListener, auditTeller } from "./audit-teller.js";
import { eventText, type LiveEvents } from "./events.js";
import { everySecond } from "./every-second.js";
import { type Listener, listener } from "./listener.js";
import type { ListenerOptions, Live } from "./live.js";
import { keepLooking } from "./look.js";
import { type LiveSources, looks } from "./looks.js";

export interface LiveOptions extends LiveSources {
  readonly log: Log;
  /** Listeners at the same time. Default 50. */
  readonly most?: number;
}

interface Heard extends Listener, AuditListener {
  readonly isStillAllowed?: ListenerOptions["isStillAllowed"];
}

/** The processes that meet traffic have closed their second by then. */
const afterMs = 200;
const beatSeconds = 15;
const checkSeconds = 5;

/** One looks, all hear: nothing runs while nobody listens, and the tenth listener costs no more looks than the first. */
export function openLive(options: LiveOptions): Live {
  const { series, data, log, most = 50 } = options;
  const heard = new Set<Heard>();
  const latest = new Map<string, string>();
  let isClosed = false;
  let running: ReturnType<typeof start> | undefined;

  function tellAll(text: string): void {
    for (const each of heard) each.send(text);
  }

  function start(): { catchUp(each: Heard): void; stop(): void } {
    const audit = auditTeller(data.audit, heard, log);
    const looking = looks(options, () => audit.isReachable).map((look) =>
      keepLooking(look, {
        tell(told) {
          const text = eventText(look.event, told as LiveEvents[typeof look.event]);
          latest.set(look.event, text);
          tellAll(text);
        },
        log,
      }),
    );
    let seconds = 0;
    void audit.look();
    const stopTicking = everySecond(() => {
      seconds++;
      void audit.look();
      for (const each of looking) each.tick(seconds);
      if (seconds % beatSeconds === 0) tellAll(": still here\n\n");
      if (seconds % checkSeconds === 0) for (const each of heard) void check(each);
    }, afterMs);
    return {
      catchUp: (each) => void audit.catchUp(each),
      stop() {
        stopTicking();
        audit.close();
        for (const each of looking) each.close();
        latest.clear();
      },
    };
  }

  function stop(): void {
    running?.stop();
    running = undefined;
  }

  return {
    ...(series && { series }),
    listen(res: ServerResponse, { auditAfter, isStillAllowed }: ListenerOptions = {}) {
      if (isClosed || heard.size >= most) return false;
      // Left before he was let in.
      if (res.destroyed) return true;
      const connection = listener(res, () => {
        heard.delete(each);
        if (heard.size === 0) stop();
      });
      const each: Heard = {
        ...connection,
        ...(isStillAllowed && { isStillAllowed }),
        auditAfter,
        isBehind: auditAfter !== undefined,
        isCatchingUp: false,
      };
      heard.add(each);
      for (const text of latest.values()) each.send(text);
      running ??= start();
      running.catchUp(each);
      return true;
    },
    close() {
      isClosed = true;
      for (const each of heard) each.end({ reason: "ending", message: "The server is ending." });
      stop();
    },
  };
}

/** Who can not be asked about now may stay. */
async function check(each: Heard): Promise<void> {
  each.check();
  const isAllowed = await (async () => each.isStillAllowed?.() ?? true)().catch(() => true);
  if (!isAllowed) each.end({ reason: "not allowed", message: "The token or session is no longer valid." });
}

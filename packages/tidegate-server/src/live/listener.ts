import type { ServerResponse } from "node:http";
import { eventText, type LiveEvents } from "./events.js";

/** One connection that hears events. It never waits for its reader, nor keeps more than a bounded amount for it. */
export interface Listener {
  /** For a reader that does not keep up, this was the last one. */
  send(text: string): void;
  /** Whether much more could be sent at once. */
  hasRoom(): boolean;
  /** Resolves when there is room, or nobody there any more. */
  room(): Promise<void>;
  /** To be called every few seconds: a reader that has made no room for several times is let go. */
  check(): void;
  /** Says goodbye. Nothing is sent after that. */
  end(bye: LiveEvents["bye"]): void;
}

/** With more than this unsent the reader does not keep up. */
const mostWaiting = 512 * 1024;
const muchWaiting = mostWaiting / 4;
const mostChecks = 6;

/** So long a reader may take to fetch what waits, once told goodbye. */
const goodbyeMs = 5_000;

const slow = {
  reason: "slow",
  message: "Events were not read fast enough. Come again for what is now.",
} as const;

export function listener(res: ServerResponse, onGone: () => void): Listener {
  let isEnded = false;
  let checksWithoutRoom = 0;
  let timer: NodeJS.Timeout | undefined;
  res.once("close", () => {
    isEnded = true;
    clearTimeout(timer);
    onGone();
  });
  res.on("error", () => res.destroy());
  res.writeHead(200, headers);
  // Browsers wait so many milliseconds before they come again.
  res.write("retry: 2000\n\n");

  function hasRoom(): boolean {
    return res.writableLength < muchWaiting;
  }

  function end(bye: LiveEvents["bye"]): void {
    if (isEnded) return;
    isEnded = true;
    res.end(eventText("bye", bye));
    timer = setTimeout(() => res.destroy(), goodbyeMs);
    timer.unref();
  }

  return {
    send(text) {
      if (isEnded) return;
      if (res.writableLength > mostWaiting) end(slow);
      else res.write(text);
    },
    hasRoom,
    room() {
      if (isEnded || hasRoom()) return Promise.resolve();
      return new Promise((resolve) => {
        const done = (): void => {
          res.off("drain", done).off("close", done);
          resolve();
        };
        res.on("drain", done).on("close", done);
      });
    },
    check() {
      checksWithoutRoom = hasRoom() ? 0 : checksWithoutRoom + 1;
      if (checksWithoutRoom >= mostChecks) end(slow);
    },
    end,
  };
}

const headers = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no",
};

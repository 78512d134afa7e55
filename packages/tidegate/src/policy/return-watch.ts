import { fixedWindow } from "../algorithms/fixed-window/fixed-window.js";
import type { Check } from "../check.js";
import type { GuardedStore } from "../guard.js";

/** Asks a store that is out of reach until it is back: that is then known though no request comes. */
export interface ReturnWatch {
  begin(): void;
  end(): void;
  /** From now on it does not begin. */
  close(): void;
}

export function returnWatch(store: Pick<GuardedStore, "decide">): ReturnWatch {
  let timer: Timer | undefined;
  let isClosed = false;

  async function ask(): Promise<void> {
    try {
      await store.decide([own]);
    } catch {
      // What is set wrong is told to those who decide.
    }
  }

  function end(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    begin() {
      if (isClosed) return;
      timer ??= setInterval(() => void ask(), everyMs);
      timer.unref?.();
    },
    end,
    close() {
      isClosed = true;
      end();
    },
  };
}

type Timer = ReturnType<typeof setInterval> & { unref?: () => void };

/** The store itself is asked no more often than its breaker lets somebody try; in between this costs no call. */
const everyMs = 500;

/** What a request would ask, under a key that is nobody's and ends by itself: a store may answer what needs no writing, and be out of order all the same. */
const own: Check = {
  rule: "gate",
  key: "is-it-back",
  limit: fixedWindow({ limit: 1_000_000, window: "1s" }),
};

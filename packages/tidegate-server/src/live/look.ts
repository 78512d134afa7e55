import type { Log } from "../log.js";
import type { LiveEvents } from "./events.js";

/** One thing to look at again and again, and to tell of. */
export interface Look<Name extends keyof LiveEvents = keyof LiveEvents> {
  readonly event: Name;
  readonly everySeconds: number;
  /** What is to be told; several in the order they are sent. */
  look(): Promise<readonly LiveEvents[Name][]>;
  /** Tells only what differs in this from what was told last. Default: tells all. */
  readonly unlessSame?: (data: LiveEvents[Name]) => unknown;
  /** Reasons to look sooner. Answers how to stop. */
  watch?(wake: () => void): () => void;
  /** However often it is woken. Default 250. */
  readonly leastGapMs?: number;
}

/** Keeps looking until closed. */
export interface Looking {
  tick(seconds: number): void;
  close(): void;
}

export function keepLooking<Name extends keyof LiveEvents>(
  look: Look<Name>,
  { tell, log }: { readonly tell: (data: LiveEvents[Name]) => void; readonly log: Log },
): Looking {
  const { leastGapMs = 250 } = look;
  let isClosed = false;
  let isBusy = false;
  let lookedAt = 0;
  let told: string | undefined;
  let soon: NodeJS.Timeout | undefined;

  async function run(): Promise<void> {
    if (isBusy || isClosed) return;
    isBusy = true;
    lookedAt = Date.now();
    try {
      for (const data of await look.look()) if (!isClosed && isNews(data)) tell(data);
    } catch (error) {
      log.debug({ err: error, event: look.event }, "there is nothing to tell now");
    }
    isBusy = false;
  }

  function isNews(data: LiveEvents[Name]): boolean {
    if (look.unlessSame === undefined) return true;
    const text = JSON.stringify(look.unlessSame(data));
    if (text === told) return false;
    told = text;
    return true;
  }

  function wake(): void {
    if (soon !== undefined || isClosed) return;
    const wait = Math.min(leastGapMs, Math.max(0, lookedAt + leastGapMs - Date.now()));
    soon = setTimeout(() => {
      soon = undefined;
      if (isBusy) wake();
      else void run();
    }, wait);
    soon.unref();
  }

  const stop = look.watch?.(wake);
  void run();
  return {
    tick(seconds) {
      if (seconds % look.everySeconds === 0) void run();
    },
    close() {
      isClosed = true;
      clearTimeout(soon);
      stop?.();
    },
  };
}

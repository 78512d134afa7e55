import type { RedisClient } from "tidegate/redis";
import { unreachableError } from "../data-errors.js";
import { listeners } from "../listeners.js";
import { openWatchLink, type WatchLink } from "./watch-link.js";

export type ControlNews = "offenders" | "book";

/** Tells that something changed, whoever changed it: within milliseconds, by a command that waits on a connection of its own. */
export interface ControlEvents {
  /** Answers how to stop. While nobody watches there is no connection. */
  watch(news: ControlNews, listener: () => void): () => void;
  /** This process changed it: no need to wait for Redis to say so. */
  tell(news: ControlNews): void;
  close(): void;
}

export interface ControlEventsOptions {
  readonly client: RedisClient;
  /** The stream. */
  readonly key: string;
  /** Told once of each outage. It is sat out. */
  readonly onError: (error: unknown) => void;
}

/** One command waits so long; then it is looked whether it still waits for the right thing. */
const waitMs = 5_000;
const answerMs = 2_000;
const shortestPauseMs = 100;
const longestPauseMs = 1_000;
const atOnce = 1_000;

type Entry = readonly [id: string, fields: readonly string[]];

export function controlEvents({ client, key, onError }: ControlEventsOptions): ControlEvents {
  const watchers = { offenders: listeners<void>(onError), book: listeners<void>(onError) };
  let run: object | undefined;
  let link: WatchLink | undefined;
  let timer: NodeJS.Timeout | undefined;
  let wake: () => void = () => {};
  let isOut = false;
  let pauseMs = shortestPauseMs;

  function tellAll(): void {
    watchers.offenders.tell();
    watchers.book.tell();
  }

  async function newestId(open: WatchLink): Promise<string> {
    const reply = await open.command(key, ["XREVRANGE", key, "+", "-", "COUNT", "1"], answerMs);
    return (reply as Entry[])[0]?.[0] ?? "0-0";
  }

  /** Ends only by an error, or when nobody watches any more. */
  async function follow(open: WatchLink, current: object): Promise<void> {
    let last = await newestId(open);
    isOut = false;
    pauseMs = shortestPauseMs;
    // Whatever came while nobody listened is told as one.
    tellAll();
    while (run === current) {
      const words = ["XREAD", "COUNT", `${atOnce}`, "BLOCK", `${waitMs}`, "STREAMS", key, last];
      const entries = entriesOf(await open.command(key, words, waitMs + answerMs));
      if (run !== current) return;
      if (entries.length > 0) {
        last = entries.at(-1)?.[0] as string;
        const kinds = new Set(entries.map(([, fields]) => fields[fields.indexOf("k") + 1]));
        if (kinds.has("o")) watchers.offenders.tell();
        if (kinds.has("b")) watchers.book.tell();
        continue;
      }
      // A stream begun anew may have lower ids than the one waited for.
      const newest = await newestId(open);
      if (newest === last || run !== current) continue;
      last = newest;
      tellAll();
    }
  }

  async function followOn(current: object): Promise<void> {
    while (run === current) {
      let open: WatchLink | undefined;
      try {
        open = await openWatchLink(client);
        if (run !== current) return;
        link = open;
        await follow(open, current);
      } catch (error) {
        if (run === current && !isOut) onError(unreachableError(error));
        isOut = true;
      } finally {
        open?.close();
      }
      if (run !== current) return;
      await pause(pauseMs);
      pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve;
      timer = setTimeout(resolve, ms).unref();
    });
  }

  function stop(): void {
    run = undefined;
    clearTimeout(timer);
    wake();
    link?.close();
    link = undefined;
  }

  return {
    watch(news, listener) {
      const end = watchers[news].add(listener);
      if (run === undefined) {
        run = {};
        void followOn(run);
      }
      return () => {
        end();
        if (watchers.offenders.size + watchers.book.size === 0) stop();
      };
    },
    tell: (news) => watchers[news].tell(),
    close() {
      watchers.offenders.clear();
      watchers.book.clear();
      stop();
    },
  };
}

/** RESP 2 answers a list of streams, RESP 3 a map. */
function entriesOf(reply: unknown): readonly Entry[] {
  if (reply === null || reply === undefined) return [];
  return (Array.isArray(reply) ? reply[0]?.[1] : Object.values(reply)[0]) ?? [];
}

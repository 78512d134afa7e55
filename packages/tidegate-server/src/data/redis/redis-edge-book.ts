import type { ClearedKey, EdgeBook, SetMode } from "../../data.js";
import { edgeModes } from "../../edge.js";
import { corruptError } from "../data-errors.js";
import type { Run, Send } from "./commands.js";
import type { ControlEvents } from "./control-events.js";
import type { ControlKeys } from "./control-keys.js";
import { addClearsScript, reportScript, setModeScript } from "./edge-book-scripts.js";
import { pairs } from "./pairs.js";
import type { RedisClock } from "./redis-clock.js";

export interface RedisEdgeBookOptions {
  readonly send: Send;
  readonly run: Run;
  readonly keys: ControlKeys;
  readonly events: ControlEvents;
  readonly now: () => number;
  readonly clock: RedisClock;
  /** Told of what is not ours; it is passed over. */
  readonly onError: (error: unknown) => void;
}

/** Whoever kept an edge and is gone says nothing of it any more after this. */
const reportMs = 60_000;
const mostClears = 10_000;
/** Keys one script takes. */
const mostAtOnce = 1_000;

export function redisEdgeBook(options: RedisEdgeBookOptions): EdgeBook {
  const { send, run, keys, events, now, clock, onError } = options;

  /** What people decided must not hang on one bad entry: it is told, and the others hold. */
  async function entries<T extends object>(
    key: string,
    isOurs: (value: Partial<Record<string, unknown>>) => boolean,
  ): Promise<[string, T][]> {
    const found = pairs(await send("HGETALL", key));
    return found.flatMap(([name, text]): [string, T][] => {
      const value = parsed(text);
      if (value !== undefined && isOurs(value)) return [[name, value as T]];
      onError(corruptError(`The Redis key ${key}`, "it holds an entry that is not ours"));
      return [];
    });
  }

  return {
    async modes() {
      return new Map(
        await entries<SetMode>(
          keys.modes,
          ({ mode, who, at }) =>
            (edgeModes as readonly unknown[]).includes(mode) &&
            typeof who === "string" &&
            Number.isFinite(at),
        ),
      );
    },
    async setMode(edge, { mode, who, why }) {
      const set: SetMode = { mode, who, ...(why !== undefined && { why }), at: now() };
      await run(setModeScript, [keys.events, keys.modes], [edge, JSON.stringify(set)]);
      events.tell("book");
      return set;
    },
    async clears() {
      const kept = await entries<ClearedKey>(
        keys.clears,
        ({ key, until, who }) => typeof key === "string" && Number.isFinite(until) && typeof who === "string",
      );
      const ahead = await clock.ahead();
      return kept
        .map(([, clear]) => ({ ...clear, until: clear.until + ahead, at: clear.at + ahead }))
        .filter(({ until }) => until > now());
    },
    async addClears(cleared, { until: end, who, isClient }) {
      const ahead = await clock.ahead();
      const [at, until] = [now() - ahead, end - ahead];
      for (let i = 0; i < cleared.length; i += mostAtOnce) {
        const some = cleared.slice(i, i + mostAtOnce).flatMap((key) => {
          const entry: ClearedKey = { key, until, who, at, ...(isClient && { isClient }) };
          return [key, JSON.stringify(entry)];
        });
        await run(
          addClearsScript,
          [keys.events, keys.clears, keys.clearEnds],
          [clock.told(), String(until), String(mostClears), ...some],
        );
      }
      if (cleared.length > 0) events.tell("book");
    },
    async reports() {
      const kept = await entries<{ at: number; report: unknown }>(keys.reports, ({ at }) =>
        Number.isFinite(at),
      );
      const time = now() - (await clock.ahead());
      const fresh = kept.filter(([, { at }]) => at > time - reportMs);
      const stale = kept.filter(([, { at }]) => at <= time - 10 * reportMs).map(([edge]) => edge);
      if (stale.length > 0) await send("HDEL", keys.reports, ...stale);
      return new Map(fresh.map(([edge, { report }]) => [edge, report]));
    },
    async report(edge, report) {
      const text = JSON.stringify({ at: now() - (await clock.ahead()), report });
      await run(reportScript, [keys.reports], [edge, text, String(reportMs)]);
    },
    stops: async () => new Map(await entries<object>(keys.stops, () => true)),
    async setStop(edge, stop) {
      if (stop === undefined) await send("HDEL", keys.stops, edge);
      else await send("HSET", keys.stops, edge, JSON.stringify(stop));
    },
    watch: (listener) => events.watch("book", listener),
  };
}

function parsed(text: string): Partial<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

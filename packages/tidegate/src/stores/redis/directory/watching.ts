import type { DirectoryWatcher } from "../../../directory.js";
import type { Connection } from "../connection.js";
import { notTracking, unreachable } from "./failures.js";
import type { Layout, Named } from "./layout.js";
import type { Masters } from "./masters.js";
import { Mirror } from "./mirror.js";
import type { RecordsInRedis } from "./records-in-redis.js";
import { scanKeys } from "./scan.js";
import { topologyAsker } from "./topology.js";
import { trackMasters } from "./tracking.js";

export interface WatchedRedis {
  readonly connection: Connection;
  readonly masters: Masters;
  readonly layout: Layout;
  readonly records: RecordsInRedis;
  readonly pollEveryMs: number;
}

/** A mirror, kept up by pushes or, where there are none, by looking. */
export interface Watching {
  readonly mirror: Mirror;
  readonly mode: "tracking" | "polling";
  stop(): void;
}

/** Masters come and go without a word. Asking the client which it knows costs nothing. */
const mastersEveryMs = 250;

export function startWatching(redis: WatchedRedis, watcher: DirectoryWatcher, onWhole: () => void): Watching {
  const { connection, masters, layout, records, pollEveryMs } = redis;
  const named = (keys: readonly string[]): Named[] => keys.flatMap((key) => layout.named(key) ?? []);
  const mirror = new Mirror(
    records,
    (found, signal) => scanKeys(masters, layout.entryPattern, (keys) => found(named(keys)), signal),
    { ...watcher, failed: (error) => watcher.failed(unreachable(error)) },
    onWhole,
  );
  const tracking = trackMasters(masters, layout.prefixes, pollEveryMs, {
    armed: () => mirror.resync(),
    flushed: () => mirror.resync(),
    changed: (keys) => mirror.changed(named(keys)),
    failing(error) {
      watcher.failed(notTracking(error));
      mirror.resync();
    },
  });
  const timers = [setInterval(() => tracking.isWhole || mirror.look(), pollEveryMs)];
  if (connection.isCluster) {
    const askAround = topologyAsker(connection, layout);
    const lookAround = () => {
      tracking.refresh();
      askAround(tracking.isWhole);
    };
    timers.push(setInterval(lookAround, mastersEveryMs));
  }
  for (const timer of timers) timer.unref();

  return {
    mirror,
    get mode() {
      return tracking.isFailing ? "polling" : "tracking";
    },
    stop() {
      for (const timer of timers) clearInterval(timer);
      tracking.stop();
      mirror.stop();
    },
  };
}

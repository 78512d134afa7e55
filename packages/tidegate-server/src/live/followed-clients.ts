import type { BusyKey, Gate } from "tidegate";
import { secondRing } from "./second-ring.js";
import { type BusyClient, type ClientSeries, clientSeconds, stepMs } from "./series.js";

/** Requests of the busiest clients, second by second. */
export interface FollowedClients {
  /** Takes what came since the last time for this second's. */
  take(second: number): void;
  /** Nothing of one that is not followed. */
  lately(key: string): Pick<BusyClient, "perMinute">;
  /** Undefined: it is not followed. */
  read(key: string): ClientSeries | undefined;
}

/** Who is among the first is followed, until he is not even among the others. */
const first = 100;
const most = 200;

const minute = 60;

export function followedClients(gate: Pick<Gate, "busiest">): FollowedClients {
  const ring = secondRing({ width: 2, seconds: clientSeconds, most });
  let before = new Map<string, BusyKey>();
  /** Whether nobody could have been counted without being seen here. */
  let hasSeenAll = true;

  return {
    take(second) {
      ring.begin(second);
      const now = gate.busiest(most);
      const current = new Map(now.map((client) => [client.key, client]));
      for (const name of [...ring.names()]) if (!current.has(name)) ring.forget(name);
      for (const [place, client] of now.entries()) {
        const { key, total, totalRefused } = client;
        if (place >= first && !ring.has(key)) continue;
        const earlier = before.get(key) ?? (hasSeenAll ? nothing : client);
        const since = earlier.total <= total && earlier.totalRefused <= totalRefused ? earlier : nothing;
        ring.add(key, [total - since.total, totalRefused - since.totalRefused]);
      }
      before = current;
      hasSeenAll = now.length < most;
    },
    lately(key) {
      if (!ring.has(key) || ring.newest === undefined) return {};
      const [requests = []] = ring.rows(key, ring.newest - minute + 1, minute);
      return { perMinute: requests.reduce((sum, number) => sum + number, 0) };
    },
    read(key) {
      if (!ring.has(key) || ring.newest === undefined) return undefined;
      const from = ring.newest - clientSeconds + 1;
      const [requests = [], refused = []] = ring.rows(key, from, clientSeconds);
      return { key, from: from * stepMs, stepMs, requests, refused };
    },
  };
}

const nothing = { total: 0, totalRefused: 0 };

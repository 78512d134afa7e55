import type { Connection } from "../connection.js";
import type { Layout } from "./layout.js";
import { within } from "./timing.js";

const askWithinMs = 1000;

/**
 * A cluster's client learns of a moved slot only by asking for a key in it, and one of node-redis 5 waits for a dead master for
 * ever. So a key somewhere is asked for, now here, now there. While a master is missing, one master is asked for another's
 * key where the client allows it: the answer makes the client look who owns what.
 */
export function topologyAsker(connection: Connection, layout: Layout): (isWhole: boolean) => void {
  let isAsking = false;
  let turn = 0;
  let askedAt = 0;

  return (isWhole) => {
    const now = performance.now();
    if (isAsking || (!isWhole && now - askedAt < askWithinMs)) return;
    isAsking = true;
    askedAt = now;
    const key = layout.entryKey("blocklist", `topology-${turn++}`);
    const route = isWhole ? key : layout.entryKey("blocklist", `topology-${turn}`);
    within(askWithinMs, connection.command(["EXISTS", key], route))
      .catch(() => {})
      .finally(() => {
        isAsking = false;
      });
  };
}

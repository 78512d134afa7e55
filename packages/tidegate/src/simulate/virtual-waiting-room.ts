import type { WaitsFor } from "../policy/waiting-room.js";
import type { Running } from "./running.js";
import type { VirtualTime } from "./virtual-time.js";

/** Where requests wait by the time of the record: nobody waits in earnest. It holds so many and no more. */
export function virtualWaitingRoom(time: VirtualTime, running: Running, capacity = 1000): WaitsFor {
  let waiting = 0;
  return {
    get waiting() {
      return waiting;
    },
    get isFull() {
      return waiting >= capacity;
    },
    wait(ms) {
      waiting++;
      running.count--;
      return new Promise((resolve) => {
        time.plan(ms, () => {
          waiting--;
          running.count++;
          resolve();
        });
      });
    },
  };
}

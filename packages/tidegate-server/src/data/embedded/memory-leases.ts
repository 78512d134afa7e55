import type { Leases } from "../../data.js";

interface Held {
  readonly holder: string;
  readonly until: number;
  readonly number: number;
}

/** Leases in this process, which is the only one: whoever comes first has it until it is given up or ends. */
export function memoryLeases(now: () => number = Date.now): Leases {
  const held = new Map<string, Held>();
  let last = 0;
  return {
    async take(name, holder, forMs) {
      const lease = held.get(name);
      const isTaken = lease !== undefined && lease.until > now();
      if (isTaken && lease.holder !== holder) return undefined;
      const number = isTaken ? lease.number : ++last;
      held.set(name, { holder, until: now() + forMs, number });
      return number;
    },
    async giveUp(name, holder) {
      if (held.get(name)?.holder === holder) held.delete(name);
    },
    async holder(name) {
      const lease = held.get(name);
      return lease !== undefined && lease.until > now() ? lease.holder : undefined;
    },
  };
}

import type { Offenders } from "../offenders.js";

/** Whether the index of offenders lately had to let some go for want of room. */
export interface Overflow {
  isLate(): boolean;
}

/** So long after the last one people are told. */
const toldMs = 600_000;

export function openOverflow(offenders: Pick<Offenders, "dropped">, steady: () => number): Overflow {
  let known = offenders.dropped();
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    isLate() {
      const dropped = offenders.dropped();
      if (dropped > known) lastAt = steady();
      known = dropped;
      return steady() - lastAt < toldMs;
    },
  };
}

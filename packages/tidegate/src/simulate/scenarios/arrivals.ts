import type { Phase, SimulatedClient } from "./scenario.js";

/** When a client calls, in seconds, to the microsecond. The `nth` of many alike has a start and a chance of its own. */
export function arrivals({ phases, seed = 1 }: SimulatedClient, nth = 0): number[] {
  const chance = seeded(seed * 7919 + nth);
  return phases
    .flatMap((phase) => [...callsOf(phase, chance, nth === 0 ? 0 : chance())])
    .map((seconds) => Math.round(seconds * 1e6) / 1e6)
    .sort((a, b) => a - b);
}

/** About how many calls that is, without making them. */
export function callsExpected({ phases, count = 1 }: SimulatedClient): number {
  return phases.reduce((sum, { from, to, rate }) => sum + Math.max(0, to - from) * rate, 0) * count;
}

function* callsOf(phase: Phase, chance: () => number, shift: number): Generator<number> {
  const { from, to, rate, pattern = "steady", burst = 1, burstSeconds = 0 } = phase;
  if (!(rate > 0)) return;
  const soon = to - 1e-9;
  if (pattern === "poisson") {
    let at = from;
    while (true) {
      at -= Math.log(1 - chance()) / rate;
      if (at >= soon) return;
      yield at;
    }
  }
  const together = pattern === "burst-and-wait" ? burst : 1;
  for (let turn = 0; ; turn++) {
    const begins = from + ((turn + shift) * together) / rate;
    if (begins >= soon) return;
    for (let i = 0; i < together; i++) {
      const at = begins + (i * burstSeconds) / together;
      if (at < soon) yield at;
    }
  }
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

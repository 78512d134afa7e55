import { beforeEach } from "vitest";

const awayMs = 1_500;
const minuteMs = 60_000;

// Those of the machine, whatever clock a file puts in their place.
const { Date: Clock, setTimeout: later } = globalThis;

/** Windows of a minute, an hour and a day turn on the clock: a test that counts to a limit must not straddle the turn. */
beforeEach(async () => {
  const leftMs = minuteMs - (Clock.now() % minuteMs);
  if (leftMs < awayMs) await new Promise((resolve) => later(resolve, leftMs));
});

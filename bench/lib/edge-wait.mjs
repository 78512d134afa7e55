import { setTimeout as pause } from "node:timers/promises";

/** The first answer that is one; asked every few milliseconds. */
export async function waitFor(what, ask, { everyMs = 5, withinMs = 60_000 } = {}) {
  const until = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > until) throw new Error(`waited in vain: ${what}`);
    await pause(everyMs);
  }
}

/** Timers fire a little early, too. */
const slackMs = 20;

/** Calls so many milliseconds after every full second of the clock, until the answered function is called. Keeps no process alive. */
export function everySecond(tick: () => void, afterMs = 0): () => void {
  let timer: NodeJS.Timeout;
  function plan(): void {
    const wait = 1000 - ((Date.now() - afterMs) % 1000);
    timer = setTimeout(run, wait < slackMs ? wait + 1000 : wait);
    timer.unref();
  }
  function run(): void {
    plan();
    tick();
  }
  plan();
  return () => clearTimeout(timer);
}

/** The second that is over by now, counted since the epoch. */
export function lastSecond(): number {
  return Math.floor((Date.now() + slackMs) / 1000) - 1;
}

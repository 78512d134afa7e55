import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "tidegate";

/** Measures how long a change takes to arrive: a time is written, and the service is asked until it tells it. */
export interface CanaryWatch {
  /** The time to write now. Undefined while one is still on its way. */
  next(): number | undefined;
  watch(sent: number): void;
  propagationMs(): number | undefined;
  close(): void;
}

const everyMs = 1_000;
const longestMs = 180_000;

export function canaryWatch(url: string, clock: Clock): CanaryWatch {
  const closing = new AbortController();
  let isWatching = false;
  let measured: number | undefined;

  async function told(): Promise<number | undefined> {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(5_000)]);
    const answer = await fetch(url, { headers: { "Cache-Control": "no-cache" }, redirect: "manual", signal });
    const length = Number(answer.headers.get("Content-Length") ?? 0);
    if (!answer.ok || length > 100) {
      await answer.body?.cancel();
      return undefined;
    }
    const text = (await answer.text()).trim();
    return /^\d{1,16}$/.test(text) ? Number(text) : undefined;
  }

  async function follow(sent: number): Promise<void> {
    while (!closing.signal.aborted && clock() - sent < longestMs) {
      const time = await told().catch(() => undefined);
      if (time !== undefined && time >= sent) {
        measured = clock() - sent;
        return;
      }
      await rest(closing.signal);
    }
  }

  return {
    next: () => (isWatching || closing.signal.aborted ? undefined : clock()),
    watch(sent) {
      isWatching = true;
      void follow(sent).finally(() => {
        isWatching = false;
      });
    },
    propagationMs: () => measured,
    close: () => closing.abort(),
  };
}

/** A second, holding up no process. */
async function rest(signal: AbortSignal): Promise<void> {
  await sleep(everyMs, undefined, { signal, ref: false }).catch(() => {});
}

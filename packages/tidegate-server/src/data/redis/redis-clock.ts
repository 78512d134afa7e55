import { type Run, scriptOf } from "./commands.js";

/** What all processes on one Redis go by, whatever their own clocks say. */
export interface RedisClock {
  /** So many milliseconds this process's clock is ahead of Redis's. 0: they agree well enough. */
  ahead(): Promise<number>;
  /** For scripts: empty, so that they ask Redis itself, but in tests. */
  told(): string;
}

export interface RedisClockOptions {
  readonly run: Run;
  /** Any key: it says which server of a cluster is asked. */
  readonly key: string;
  readonly now: () => number;
  /** Redis's own. For tests. */
  readonly serverClock?: (() => number) | undefined;
}

const timeScript = scriptOf("return redis.call('TIME')");

/** Begins a script. ARGV[1]: the time, in tests only. */
export const serverTime = `
local time = redis.call('TIME')
local now = tonumber(ARGV[1]) or (tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000)
`;

/** Clocks this close are taken for the same, so that times come back as they were told. */
const tolerableMs = 2_000;
const againMs = 10_000;

export function redisClock({ run, key, now, serverClock }: RedisClockOptions): RedisClock {
  let asked: { readonly server: number; readonly steadyAt: number } | undefined;
  let asking: Promise<void> | undefined;
  let ahead = 0;

  async function ask(): Promise<void> {
    const sentAt = performance.now();
    const [seconds, micros] = (await run(timeScript, [key], [])) as [string, string];
    const server = Number(seconds) * 1_000 + Number(micros) / 1_000;
    asked = { server, steadyAt: (sentAt + performance.now()) / 2 };
  }

  function askOnce(): Promise<void> {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  /** Found by a clock nobody sets: this process's own may be set between two answers. */
  async function serverNow(): Promise<number> {
    if (serverClock !== undefined) return serverClock();
    if (asked === undefined) await askOnce();
    const { server, steadyAt } = asked as NonNullable<typeof asked>;
    const sinceMs = performance.now() - steadyAt;
    if (sinceMs > againMs) askOnce().catch(() => {});
    return server + sinceMs;
  }

  return {
    async ahead() {
      const measured = now() - (await serverNow());
      if (Math.abs(measured - ahead) > tolerableMs) ahead = Math.abs(measured) > tolerableMs ? measured : 0;
      return ahead;
    },
    told: () => (serverClock === undefined ? "" : String(serverClock())),
  };
}

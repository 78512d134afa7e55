import { resolve } from "node:path";
import type { LogLevel, Settings } from "../settings.js";
import { parseListen, parseOrigin } from "./addresses.js";
import type { ProblemList } from "./problem-list.js";
import { isRedisUrl, redisAt, redisUrlHelp } from "./read-store.js";
import { sections } from "./settings-shape.js";
import { shown } from "./shown.js";

/** What the command line says; it wins over the file. */
export interface Overrides {
  readonly listen?: {
    readonly proxy?: string | false;
    readonly admin?: string | false;
    readonly decide?: string | false;
  };
  readonly redis?: string;
  /** Relative to the current folder. */
  readonly dataDir?: string;
  readonly workers?: number | string;
  /** One origin in the place of all upstreams. */
  readonly upstream?: string;
  readonly logLevel?: string;
}

/** How each is called on the command line. */
const flags = {
  proxy: "--listen",
  admin: "--admin",
  decide: "--decide",
  redis: "--redis",
  dataDir: "--data",
  workers: "--workers",
  upstream: "--upstream",
  logLevel: "--log-level",
} as const;

/** The flag that said where this listens, if one did. */
export function listenFlag(
  { listen = {} }: Overrides,
  name: "proxy" | "admin" | "decide",
): string | undefined {
  return listen[name] === undefined ? undefined : flags[name];
}

export function workersFlag({ workers }: Overrides): string | undefined {
  return workers === undefined ? undefined : flags.workers;
}

export function applyOverrides(
  settings: Settings,
  overrides: Overrides,
  { problems, cwd }: { problems: ProblemList; cwd: string },
): Settings {
  const { redis, dataDir, upstream } = overrides;
  function refuse(name: keyof typeof flags, message: string, help: string): void {
    problems.addFlag(flags[name], { code: "TG_FLAG", message: `${flags[name]}: ${message}`, help });
  }

  function listenOf(): Settings["listen"] {
    const { ...listen } = settings.listen as {
      -readonly [N in keyof Settings["listen"]]: Settings["listen"][N];
    };
    for (const name of ["proxy", "admin", "decide"] as const) {
      const given = overrides.listen?.[name];
      if (given === undefined) continue;
      const parsed = parseListen(given);
      if ("fault" in parsed) refuse(name, `${shown(given)} ${parsed.fault.is}`, parsed.fault.help);
      else if (parsed.value === undefined) delete listen[name];
      else listen[name] = parsed.value;
    }
    return listen;
  }

  function storeOf(): Settings["store"] {
    if (redis === undefined) return settings.store;
    if (!isRedisUrl(redis)) refuse("redis", "this is not the URL of a Redis.", redisUrlHelp);
    const { url, ...fresh } = redisAt(redis);
    return { ...fresh, ...(settings.store.kind === "redis" && settings.store), url };
  }

  function upstreamsOf(): Settings["upstreams"] {
    if (upstream === undefined) return settings.upstreams;
    const parsed = parseOrigin(upstream);
    if ("value" in parsed) return [{ name: "default", urls: [parsed.value], hosts: [], path: "/" }];
    refuse("upstream", `this ${parsed.fault.is}`, parsed.fault.help);
    return settings.upstreams;
  }

  function workersOf(): number {
    if (overrides.workers === undefined) return settings.workers;
    const read = sections.workers.safeParse(
      /^\d{1,9}$/.test(`${overrides.workers}`) ? Number(overrides.workers) : "",
    );
    if (read.success) return read.data;
    refuse(
      "workers",
      `${shown(overrides.workers)} is not a number of workers.`,
      "Write a whole number from 1 to 128.",
    );
    return settings.workers;
  }

  function levelOf(): LogLevel {
    if (overrides.logLevel === undefined) return settings.logs.level;
    const read = sections.logs.safeParse({ level: overrides.logLevel });
    if (read.success) return read.data.level;
    refuse(
      "logLevel",
      `${shown(overrides.logLevel)} is not a level.`,
      "Use trace, debug, info, warn, error or silent.",
    );
    return settings.logs.level;
  }

  if (dataDir?.trim() === "")
    refuse("dataDir", "it names no folder.", "Write a path such as ./tidegate-data.");
  return {
    ...settings,
    listen: listenOf(),
    store: storeOf(),
    upstreams: upstreamsOf(),
    dataDir: dataDir === undefined ? settings.dataDir : resolve(cwd, dataDir),
    workers: workersOf(),
    logs: { level: levelOf() },
  };
}

import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { TidegateError } from "tidegate";
import { ConfigFileError } from "../config/config-file-error.js";
import { type Loaded, loadConfig } from "../config/load-config.js";
import type { Log } from "../log.js";
import { Secret } from "../secret.js";
import { startServer } from "../server.js";
import { CliError, exit } from "./exit.js";
import type { Io } from "./io.js";

/** An admin API of this process alone, on the data of servers that may or may not run. */
export interface RedisBack {
  readonly url: string;
  readonly token: string;
  readonly hasCustomerSource: boolean;
  /** Why Redis does not answer, if it does not. */
  problem(): string | undefined;
  close(): Promise<void>;
}

export interface RedisBackOptions extends Pick<Io, "env" | "cwd"> {
  readonly redis: string;
  readonly config: string | undefined;
}

/** The answer is all there is to say. */
const silence: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** It meets no traffic, keeps no edge, and stores no policy of its own. */
export async function openRedisBack(options: RedisBackOptions): Promise<RedisBack> {
  const loaded = load(options);
  const token = randomBytes(24).toString("hex");
  const { decisionLog: _, ...settings } = loaded.settings;
  const own: Loaded = {
    settings: {
      ...settings,
      admin: { token: new Secret(token), isPassing: true, hosts: [] },
      customers: {},
      drainMs: 1,
    },
    policyText: "rules: []\n",
    warnings: [],
  };
  let problem: string | undefined;
  const log: Log = {
    ...silence,
    error(about: unknown) {
      const { error } = (about ?? {}) as { error?: unknown };
      if (typeof error === "string") problem ??= error;
    },
  };
  const server = await startServer(own, { log, role: "back", readsFile: false, keepsEdges: false }).catch(
    refused,
  );
  return {
    url: server.urls.admin as string,
    token,
    hasCustomerSource: settings.customers.source !== undefined,
    problem: () => problem,
    close: () => server.close(),
  };
}

function load({ redis, config, env, cwd }: RedisBackOptions): Loaded {
  try {
    return loadConfig({
      ...(config !== undefined && { file: resolve(cwd, config) }),
      overrides: {
        redis,
        listen: { proxy: false, decide: false, admin: "127.0.0.1:0" },
        workers: 1,
        logLevel: "silent",
      },
      env: { ...env },
      cwd,
    });
  } catch (error) {
    if (!(error instanceof ConfigFileError)) throw error;
    const { problems } = error;
    const isOfFlags = problems.every(({ path }) => path.startsWith("--"));
    throw isOfFlags ? new ConfigFileError("The command line", problems) : error;
  }
}

function refused(error: unknown): never {
  if (!(error instanceof TidegateError) || error.code !== "TG_REDIS_CONNECT") throw error;
  throw new CliError(exit.declined, error.message.replace(/ \[TG_REDIS_CONNECT\]$/, ""), "", {
    code: error.code,
  });
}

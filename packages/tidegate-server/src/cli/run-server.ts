import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Logger } from "pino";
import { ConfigFileError } from "../config/config-file-error.js";
import { type Loaded, type LoadOptions, loadConfig, type Overrides } from "../config/load-config.js";
import { openLog } from "../observe/open-log.js";
import { type Server, startServer } from "../server.js";
import { startWorkers } from "../workers/worker-pool.js";
import { configOfParent, giveUp, workerTalk } from "../workers/worker-talk.js";
import { type StartFlags, usualFile } from "./start-flags.js";
import { welcome } from "./welcome.js";

const endSignals = ["SIGTERM", "SIGINT"] as const;

/** Starts what the file and the flags ask for, and runs until told. */
export async function runServer(flags: StartFlags): Promise<void> {
  const worker = process.env.TIDEGATE_WORKER;
  if (worker !== undefined) return work(flags, Number(worker)).catch(giveUp);
  const loaded = load(fileOf(flags), flags);
  const log = logOf(loaded);
  return loaded.settings.workers > 1 ? lead(loaded, log) : serve(loaded, log);
}

function fileOf({ config }: StartFlags): Pick<LoadOptions, "file"> {
  const file = config ?? (existsSync(usualFile) ? usualFile : undefined);
  return file === undefined ? {} : { file: resolve(file) };
}

function load(given: Pick<LoadOptions, "file" | "text">, flags: StartFlags): Loaded {
  try {
    return loadConfig({
      ...given,
      overrides: overridesOf(flags),
      env: process.env,
      cwd: process.cwd(),
    });
  } catch (error) {
    if (!(error instanceof ConfigFileError)) throw error;
    const { problems } = error;
    const isOfFlags = problems.every(({ path }) => path.startsWith("--"));
    throw isOfFlags ? new ConfigFileError("The command line", problems) : error;
  }
}

function logOf({ settings, warnings }: Loaded): Logger {
  const log = openLog(settings.logs);
  for (const { code, message, help } of warnings) log.warn({ code, help }, message);
  return log;
}

async function serve(loaded: Loaded, log: Logger): Promise<void> {
  const server = await startServer(loaded, { log });
  runUntilTold(log, server, () => server.close());
  announce(loaded, server, log);
}

/** The parent of workers: what people ask is answered here, traffic goes to the workers. */
async function lead(loaded: Loaded, log: Logger): Promise<void> {
  const { settings, file, text } = loaded;
  const { workers, drainMs } = settings;
  const pool = await startWorkers({
    count: workers,
    log,
    file: process.argv[1] as string,
    args: process.argv.slice(2),
    config: { ...(file !== undefined && { file }), ...(text !== undefined && { text: text.reveal() }) },
    drainMs,
  });
  const server = await startServer(loaded, { log, role: "back", fronts: pool }).catch(async (error) => {
    await pool.close();
    throw error;
  });
  runUntilTold(log, server, async () => {
    await pool.close();
    await server.close();
  });
  announce(loaded, { ...server, urls: { ...pool.urls, ...server.urls } }, log);
}

/** A worker ends when its parent says so or is gone: Ctrl-C and systemd send their signal to both, and it is the parent's to act on. */
async function work(flags: StartFlags, worker: number): Promise<void> {
  for (const signal of endSignals) process.on(signal, () => {});
  const loaded = load(await configOfParent(), flags);
  const log = logOf(loaded);
  const talk = workerTalk();
  const { finishElsewhere } = talk;
  const server = await startServer(loaded, { log, role: "front", worker, finishElsewhere });
  reloadWhenTold(log, server);
  talk.serve(server, () => end(log, server.close));
}

function announce(loaded: Loaded, server: Pick<Server, "urls" | "loginUrl" | "policy">, log: Logger): void {
  const { urls, loginUrl } = server;
  log.info(
    { ...urls, store: loaded.settings.store.kind, workers: loaded.settings.workers },
    "Tidegate is up",
  );
  // Logs are kept, and read by many: the address itself is for whoever looks at the screen.
  if (loginUrl !== undefined)
    log.info(
      "nobody has a token yet: `tidegate token login-url` makes an address that logs a browser in, once",
    );
  if (loaded.settings.isDemo || process.stdout.isTTY) process.stdout.write(welcome(loaded, urls, server));
}

/** SIGHUP reads the file again; SIGTERM and SIGINT end what is under way, a second one ends at once. */
function runUntilTold(log: Logger, server: Server, close: () => Promise<void>): void {
  let isEnding = false;
  reloadWhenTold(log, server);
  for (const signal of endSignals) {
    process.on(signal, () => {
      if (isEnding) process.exit(1);
      isEnding = true;
      log.info({ signal }, "ending what is under way");
      end(log, close);
    });
  }
}

function reloadWhenTold(log: Logger, server: Server): void {
  process.on("SIGHUP", () => {
    server.reload("SIGHUP").catch((error) => log.error({ err: error }, "the file could not be read again"));
  });
}

function end(log: Logger, close: () => Promise<void>): void {
  close().then(
    () => {
      log.info("ended");
      process.exit(0);
    },
    (error) => {
      log.error({ err: error }, "could not end in order");
      process.exit(1);
    },
  );
}

function overridesOf(flags: StartFlags): Overrides {
  const listen = {
    ...(flags.listen !== undefined && { proxy: flags.listen }),
    ...(flags.admin !== undefined && { admin: flags.admin }),
    ...(flags.decide !== undefined && { decide: flags.decide }),
  };
  return {
    listen,
    ...(flags.redis !== undefined && { redis: flags.redis }),
    ...(flags.upstream !== undefined && { upstream: flags.upstream }),
    ...(flags.data !== undefined && { dataDir: flags.data }),
    ...(flags.workers !== undefined && { workers: flags.workers }),
    ...(flags.logLevel !== undefined && { logLevel: flags.logLevel }),
  };
}

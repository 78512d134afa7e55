import { changedSettings } from "./config/changed-settings.js";
import { ConfigFileError, type ConfigProblem } from "./config/config-file-error.js";
import type { Loaded } from "./config/load-config.js";
import type { Log } from "./log.js";
import type { FileContent } from "./policy/policy-file.js";

/** Reads the file a process was started with as a start would, and logs, once per change, which settings wait for one. */
export function rereadFile(started: Loaded, log: Log): () => FileContent {
  const { file } = started;
  let last = started;

  function tell(now: Loaded, needsRestart: readonly string[]): void {
    for (const { code, path, message, help } of now.warnings.filter(isNotAmong(last.warnings)))
      log.warn({ code, path, help, file }, message);
    if (changedSettings(last.settings, now.settings).length === 0) return;
    if (needsRestart.length > 0) log.warn({ file, needsRestart }, waiting(needsRestart));
    else log.info({ file }, "the file's settings are again those this process runs with");
  }

  return () => {
    const now = read(started);
    const needsRestart = changedSettings(started.settings, now.settings);
    tell(now, needsRestart);
    last = now;
    return { text: now.policyText, needsRestart };
  };
}

/** Who may look at a policy's state may not see every line of the file. */
function read(started: Loaded): Loaded {
  try {
    return started.again?.() ?? started;
  } catch (error) {
    throw error instanceof ConfigFileError ? error.withoutLines() : error;
  }
}

function waiting(paths: readonly string[]): string {
  const take = paths.length === 1 ? "it takes" : "they take";
  return `${paths.join(", ")}: changed in the file; ${take} effect at the next start`;
}

function isNotAmong(told: readonly ConfigProblem[]): (warning: ConfigProblem) => boolean {
  return ({ code, path, message }) =>
    !told.some((one) => one.code === code && one.path === path && one.message === message);
}

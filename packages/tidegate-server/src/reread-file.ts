import { ConfigFileError, type ConfigProblem } from "./config/config-file-error.js";
import type { Loaded } from "./config/load-config.js";
import type { Log } from "./log.js";
import type { FileContent } from "./policy/policy-file.js";

/** Reads the file a process was started with as a start would, and logs what a start would warn of. */
export function rereadFile(started: Loaded, log: Log): () => FileContent {
  const { file } = started;
  let last = started;
  return () => {
    const now = read(started);
    for (const { code, path, message, help } of now.warnings.filter(isNotAmong(last.warnings)))
      log.warn({ code, path, help, file }, message);
    last = now;
    return { text: now.policyText };
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

function isNotAmong(told: readonly ConfigProblem[]): (warning: ConfigProblem) => boolean {
  return ({ code, path, message }) =>
    !told.some((one) => one.code === code && one.path === path && one.message === message);
}

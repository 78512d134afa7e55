import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname } from "node:path";

export interface WatchFileOptions {
  readonly path: string;
  /** Another content may be there, or none any more. */
  onChange(): void;
  /** How often to look, where the system does not tell: links to elsewhere, network disks. Default 2000. */
  readonly pollMs?: number;
  /** For so long it has to stay as it is, so that nobody reads half of it. Default 100. */
  readonly quietMs?: number;
  /** For so long it may be missing, as while it is being replaced. Default 2000. */
  readonly missingMs?: number;
}

export interface FileWatch {
  close(): void;
}

const missing = "missing";

/** Tells of changes to a file, however they are made: written over, replaced, or another linked in its place. */
export function watchFile(options: WatchFileOptions): FileWatch {
  const { path, onChange, pollMs = 2_000, quietMs = 100, missingMs = 2_000 } = options;
  let told = stampOf(path);
  let lookAgain: NodeJS.Timeout | undefined;
  let missingSince: number | undefined;
  let watcher: FSWatcher | undefined;

  function look(before?: string): void {
    lookAgain = undefined;
    const stamp = stampOf(path);
    missingSince = stamp === missing ? (missingSince ?? performance.now()) : undefined;
    if (stamp === told) return;
    const isShortlyMissing = missingSince !== undefined && performance.now() - missingSince < missingMs;
    if (stamp !== before || isShortlyMissing) {
      lookAgain = setTimeout(look, quietMs, stamp).unref();
      return;
    }
    told = stamp;
    onChange();
  }

  function lookSoon(): void {
    if (lookAgain === undefined) look();
  }

  /** The directory, not the file: whoever replaces a file leaves a watch on the old one behind. */
  function listen(): void {
    try {
      watcher = watch(dirname(path), { persistent: false }, lookSoon);
      watcher.on("error", () => {
        watcher?.close();
        watcher = undefined;
      });
    } catch {
      watcher = undefined;
    }
  }

  listen();
  const poll = setInterval(() => {
    if (watcher === undefined) listen();
    lookSoon();
  }, pollMs).unref();

  return {
    close() {
      clearInterval(poll);
      clearTimeout(lookAgain);
      watcher?.close();
    },
  };
}

/** Differs whenever the file a path leads to is another or was written. */
function stampOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(":");
  } catch {
    return missing;
  }
}

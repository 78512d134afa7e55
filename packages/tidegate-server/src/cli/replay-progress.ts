import type { ReadProgress } from "../rehearse/read-logs.js";
import type { Io } from "./io.js";

export interface ReplayProgress {
  tell(progress: ReadProgress): void;
  /** Leaves nothing behind. */
  close(): void;
}

const everyMs = 200;
const width = 24;
const restOfLine = "\u001b[K";

/** How far it is, in one line of a terminal that is written over again and again; nothing elsewhere. */
export function replayProgress(
  { stderr }: Pick<Io, "stderr">,
  now: () => number = performance.now.bind(performance),
): ReplayProgress {
  const begun = now();
  let told = begun;
  let isShown = false;
  return {
    tell(progress) {
      const at = now();
      if (!stderr.isTTY || at - told < everyMs) return;
      told = at;
      isShown = true;
      stderr.write(`\r${progressLine(progress, (at - begun) / 1000)}${restOfLine}`);
    },
    close() {
      if (isShown) stderr.write(`\r${restOfLine}`);
    },
  };
}

function progressLine({ bytes, totalBytes, requests }: ReadProgress, seconds: number): string {
  const rate = `${Math.round(requests / seconds / 1000)}k lines/s`;
  if (totalBytes === undefined || totalBytes === 0) return `${megabytes(bytes)}  ${rate}`;
  const share = Math.min(1, bytes / totalBytes);
  const done = Math.round(share * width);
  const bar = `${"█".repeat(done)}${"░".repeat(width - done)}`;
  const left = share === 0 ? 0 : (seconds / share) * (1 - share);
  return `${bar} ${Math.floor(share * 100)} %  ${megabytes(bytes)} of ${megabytes(totalBytes)}  ${rate}  ${clock(left)} left`;
}

function megabytes(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(2)} GB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const minutes = Math.floor(whole / 60);
  const rest = String(whole % 60).padStart(2, "0");
  return minutes < 60
    ? `${minutes}:${rest}`
    : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}

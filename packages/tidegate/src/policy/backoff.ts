import { fixedWindow } from "../algorithms/fixed-window/fixed-window.js";
import { parseDuration } from "../duration.js";
import { ConfigError, shown } from "../errors.js";
import { type Limit, rejectUnknownOptions } from "../limit.js";

export interface BackoffOptions {
  /** How many limits, 1 to 16. */
  levels: number;
  /** What level 1 lets through; level n lets through n times as much. */
  limit: number;
  /** Level n has a window of `base` to the n-th seconds. */
  base: number;
}

/**
 * Limits that grow slowly over windows that grow fast: whoever goes on is refused for longer and longer.
 *
 * `backoff({ levels: 5, limit: 20, base: 8 })` is 20 per 8 s, 40 per 64 s, 60 per 512 s, 80 per 4096 s and 100 per
 * 32768 s, about 264 a day. All hold together; a refused call costs nothing at any level.
 */
export function backoff(options: BackoffOptions): Limit[] {
  rejectUnknownOptions(options, ["levels", "limit", "base"], "backoff");
  const { levels, limit, base } = options;
  validate("levels", levels, levels >= 1 && levels <= 16, "Give 1 to 16 levels.");
  validate("limit", limit, limit >= 1 && limit * levels <= Number.MAX_SAFE_INTEGER, "Give 1 or more calls.");
  validate("base", base, base >= 2, "Give 2 or more seconds.");
  validate(
    "base",
    base,
    isDuration(1000 * base ** levels),
    "The longest window, base to the power of levels, ends at ten years.",
  );
  return Array.from({ length: levels }, (_, i) =>
    fixedWindow({ limit: limit * (i + 1), window: 1000 * base ** (i + 1) }),
  );
}

function validate(option: keyof BackoffOptions, value: unknown, isRight: boolean, help: string): void {
  if (Number.isInteger(value) && isRight) return;
  throw new ConfigError(
    "TG_BACKOFF",
    `backoff.${option}`,
    `${shown(value)} can not be used here.`,
    `${help} All three are whole numbers, as in backoff({ levels: 5, limit: 20, base: 8 }).`,
  );
}

function isDuration(ms: number): boolean {
  try {
    return parseDuration(ms, "backoff.base") === ms;
  } catch {
    return false;
  }
}

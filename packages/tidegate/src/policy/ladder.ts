import { offences } from "../algorithms/offences/offences.js";
import { parseDuration } from "../duration.js";
import { ConfigError, shown } from "../errors.js";
import { type Limit, rejectUnknownOptions } from "../limit.js";
import { parseFlag } from "./choices.js";
import type { HoldOptions } from "./rule-options.js";

/** How a rule holds its offenders. */
export interface Ladder {
  /** Stands beside the rule's own limits, and counts their refusals. */
  readonly limit: Limit;
  /** A held client is refused wherever its key is known, not only where the rule applies. */
  readonly isEverywhere: boolean;
}

const mostSteps = 12;

export function parseLadder(options: HoldOptions, defaultWithinMs: number, path: string): Ladder {
  rejectUnknownOptions(options, ["after", "within", "for", "forget", "everywhere"], path);
  const { after = 1 } = options;
  if (!Number.isInteger(after) || after < 1 || after > 1_000_000) {
    throw new ConfigError(
      "TG_HOLD",
      `${path}.after`,
      `${shown(after)} is not a number of refusals.`,
      "Write a whole number from 1 to 1000000.",
    );
  }
  const steps = Array.isArray(options.for) ? options.for : [options.for];
  if (steps.length < 1 || steps.length > mostSteps) {
    throw new ConfigError(
      "TG_HOLD",
      `${path}.for`,
      `${shown(options.for)} does not say how long.`,
      `Write a duration, or up to ${mostSteps} that grow: ["1m", "5m", "1h"].`,
    );
  }
  const holdsMs = steps.map((step, i) => parseDuration(step, `${path}.for[${i}]`));
  return {
    limit: offences({
      after,
      withinMs:
        options.within === undefined ? defaultWithinMs : parseDuration(options.within, `${path}.within`),
      holdsMs,
      forgetMs:
        options.forget === undefined ? Math.max(...holdsMs) : parseDuration(options.forget, `${path}.forget`),
    }),
    isEverywhere: parseFlag(options.everywhere, false, `${path}.everywhere`),
  };
}

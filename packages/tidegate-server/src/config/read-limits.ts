import {
  type BackoffOptions,
  backoff,
  type ConcurrencyOptions,
  concurrency,
  type EarrrlOptions,
  earrrl,
  type FixedWindowOptions,
  fixedWindow,
  type Limit,
  type RateText,
  type SlidingCounterOptions,
  type SlidingLogOptions,
  slidingCounter,
  slidingLog,
  type TokenBucketOptions,
  tokenBucket,
  type Warning,
} from "tidegate";
import { type Path, readPath } from "./path.js";
import type { LimitShape } from "./policy-shape.js";
import type { ProblemList } from "./problem-list.js";

export type LimitLike = Limit | RateText;

/** Limits made of what a file says, and under which entry of the file each was written. */
export interface ReadLimits {
  readonly limits: readonly LimitLike[];
  readonly writtenAt: readonly number[];
}

export interface LimitReader {
  readonly problems: ProblemList;
  readonly warn: (warning: Warning, path: Path) => void;
}

type LimitMap = Exclude<LimitShape, string>;
type Told = (message: string) => void;

/** By the names they have in a file. */
const factories: {
  readonly [Name in keyof LimitMap]-?: (options: NonNullable<LimitMap[Name]>, told: Told) => Limit | Limit[];
} = {
  fixedWindow: (options) => fixedWindow(options as FixedWindowOptions),
  slidingLog: (options, onWarning) => slidingLog({ ...(options as SlidingLogOptions), onWarning }),
  slidingCounter: (options) => slidingCounter(options as SlidingCounterOptions),
  tokenBucket: (options) => tokenBucket(options as TokenBucketOptions),
  earrrl: (options) => earrrl(options as EarrrlOptions),
  concurrency: (options) => concurrency(options as ConcurrencyOptions),
  backoff: (options) => backoff(options as BackoffOptions),
};

/** Reads a list of limits, or a single one, that stands at `path`. Where one can not be made, another stands for all, so that the rest can be judged. */
export function readLimits(
  given: LimitShape | readonly LimitShape[],
  path: Path,
  reader: LimitReader,
): ReadLimits {
  const isList = Array.isArray(given);
  const before = reader.problems.count;
  const limits: LimitLike[] = [];
  const writtenAt: number[] = [];
  for (const [i, one] of (isList ? given : [given]).entries()) {
    const made = readLimit(one, isList ? [...path, i] : path, reader);
    limits.push(...made);
    writtenAt.push(...made.map(() => i));
  }
  return reader.problems.count === before
    ? { limits, writtenAt }
    : { limits: ["1 per second"], writtenAt: [0] };
}

function readLimit(one: LimitShape, path: Path, { problems, warn }: LimitReader): readonly LimitLike[] {
  if (typeof one === "string") return [one as RateText];
  const names = Object.keys(one) as (keyof LimitMap)[];
  const [name] = names;
  if (name === undefined || names.length > 1) {
    problems.add(path, {
      code: "TG_LIMIT",
      message:
        names.length === 0 ? "This map names no limit." : `One limit is meant to be ${names.join(" and ")}.`,
      help: `Write one of ${Object.keys(factories).join(", ")}, each as an entry of its own: - ${name ?? "fixedWindow"}: { … }.`,
    });
    return [];
  }
  const make = factories[name] as (options: unknown, told: Told) => Limit | Limit[];
  const made = problems.guard(
    path,
    () => make(one[name], (message) => warn(largeLog(message), path)),
    (error) => readPath(error.path, one),
  );
  return made === undefined ? [] : [made].flat();
}

function largeLog(message: string): Warning {
  return {
    code: "TG_LOG_LARGE",
    message: message.replace(/^Tidegate: slidingLog\.limit: a/, "A").replace(/ \[TG_LOG_LARGE\]$/, ""),
    help: "Use slidingCounter where a close estimate will do.",
  };
}

import { resolve } from "node:path";
import type { RateText } from "tidegate";
import {
  type ComparedLimit,
  callsPerSecond,
  checkScenario,
  type LimitSpec,
  limitOf,
  type Phase,
  type Scenario,
  type SimulatedClient,
} from "tidegate/simulate";
import { z } from "zod";
import { ConfigFileError } from "../config/config-file-error.js";
import { readPath } from "../config/path.js";
import { ProblemList } from "../config/problem-list.js";
import { shaped } from "../config/shape-problems.js";
import { duration, map, rate, whole } from "../config/shapes.js";
import { readSource } from "../config/source.js";
import { readTree } from "../config/tree.js";
import { CliError, exit } from "./exit.js";
import type { Io } from "./io.js";

const number = z.number({ error: "Write a number." });
const seconds = z.number({ error: "Write seconds from the start, as a number." });
const text = z.string({ error: "Write a text." }).max(200);
const perSecond = z.union([rate(), number], {
  error: "Write calls per second, or a rate such as 30 per minute.",
});
const windowed = map({ limit: number, window: duration() });

const shape = map({
  title: text.optional(),
  about: z.string({ error: "Write a text." }).max(2000).optional(),
  seconds,
  plot: z.enum(["estimates", "calls-by-limit", "calls-by-client"]).optional(),
  readAt: z.array(seconds, { error: "Write a list of seconds." }).max(100).optional(),
  clients: z
    .array(
      map({
        name: text,
        count: whole(1, 100_000).optional(),
        seed: whole(0, 2_147_483_647).optional(),
        phases: z
          .array(
            map({
              from: seconds,
              to: seconds,
              rate: perSecond,
              pattern: z.enum(["steady", "burst-and-wait", "poisson"]).optional(),
              burst: whole(1, 100_000).optional(),
              burstSeconds: seconds.optional(),
            }),
            { error: "Write a list of phases." },
          )
          .max(1000),
      }),
      { error: "Write a list of clients." },
    )
    .max(20),
  limits: z
    .array(
      map({
        name: text.optional(),
        shared: z.boolean({ error: "Write true or false." }).optional(),
        earrrl: map({ rate: perSecond, halfLife: duration(), overage: number.optional() }).optional(),
        fixedWindow: windowed.optional(),
        slidingLog: windowed.optional(),
        slidingCounter: windowed.optional(),
        tokenBucket: map({ rate: perSecond, per: duration().optional(), burst: number }).optional(),
      }),
      { error: "Write a list of limits." },
    )
    .max(12),
});

/** Reads a scenario from a file. Throws a `ConfigFileError` with everything wrong in it, by line. */
export function readScenario(file: string, { cwd }: Pick<Io, "cwd">): Scenario {
  const source = sourceAt(file, resolve(cwd, file));
  const problems = new ProblemList(source);
  const tree = readTree(source, problems);
  const given = tree && shaped({ shape, value: tree.value, path: [], problems });
  problems.throwIfAny();
  const scenario = scenarioFrom(given as z.infer<typeof shape>, file, problems);
  problems.guard(
    [],
    () => checkScenario(scenario),
    ({ path }) => readPath(path, tree?.value),
  );
  problems.throwIfAny();
  return scenario;
}

function scenarioFrom(given: z.infer<typeof shape>, file: string, problems: ProblemList): Scenario {
  const { title = file, about = "", clients, limits, seconds, plot, readAt } = given;
  return {
    name: file,
    title,
    about,
    seconds,
    ...(plot && { plot }),
    ...(readAt && { readAt: readAt.toSorted((a, b) => a - b) }),
    clients: clients.map((client, i): SimulatedClient => {
      const phases = client.phases.map((phase, j) => ({
        ...phase,
        rate: rateAt(phase.rate, ["clients", i, "phases", j, "rate"], problems),
      }));
      return { ...client, phases: phases as Phase[] } as SimulatedClient;
    }),
    limits: limits.flatMap(({ name, shared, ...kinds }, i): ComparedLimit[] => {
      const limit = limitFrom(kinds, i, problems);
      return limit === undefined
        ? []
        : [{ limit, ...(name !== undefined && { name }), ...(shared && { isShared: true }) }];
    }),
  };
}

function limitFrom(kinds: object, nth: number, problems: ProblemList): LimitSpec | undefined {
  const path = ["limits", nth];
  if (Object.keys(kinds).length !== 1) {
    problems.add(path, {
      code: "TG_SCENARIO",
      message: "One limit has one algorithm.",
      help: "Write one of earrrl, fixedWindow, slidingLog, slidingCounter and tokenBucket in each entry.",
    });
    return undefined;
  }
  const spec = kinds as LimitSpec;
  return problems.guard(
    path,
    () => limitOf(spec) && spec,
    (error) => readPath(error.path, spec),
  );
}

function rateAt(value: number | string, path: (string | number)[], problems: ProblemList): number {
  return problems.guard(path, () => callsPerSecond(value as RateText, "rate")) ?? 0;
}

function sourceAt(file: string, path: string) {
  try {
    return readSource(path);
  } catch (error) {
    if (!(error instanceof ConfigFileError) || error.code !== "TG_CONFIG_READ") throw error;
    throw new CliError(
      exit.usage,
      `${file}: ${error.problems[0]?.message ?? "It can not be read."}`,
      "Name a file with a scenario as it is seen from this folder; docs/server/simulate.md has one to begin with.",
      { code: error.code },
    );
  }
}

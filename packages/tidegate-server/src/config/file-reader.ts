import { ConfigError, type Duration, parseDuration } from "tidegate";
import type { z } from "zod";
import type { ConfigProblem } from "./config-file-error.js";
import { type Filled, fillIn } from "./environment.js";
import { type Path, pathText, valueAt } from "./path.js";
import type { ProblemList, Words } from "./problem-list.js";
import { type Section, type SectionName, sections } from "./settings-shape.js";
import { shaped } from "./shape-problems.js";
import { shown } from "./shown.js";
import type { Tree } from "./tree.js";

export interface FileReaderOptions {
  readonly tree: Tree;
  readonly problems: ProblemList;
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
  /** A token whose variable is not set is a warning, and something else stands in for it. */
  readonly canLackTokens: boolean;
}

/** Reads one section after the other, telling what is wrong and going on with something that is not. */
export class FileReader {
  readonly problems: ProblemList;
  readonly warnings: ConfigProblem[] = [];
  /** Relative paths are seen from here. */
  readonly folder: string;
  readonly #written: Readonly<Record<string, unknown>>;
  readonly #filled: Filled;
  readonly #faulty = new Set<SectionName>();

  constructor(options: FileReaderOptions) {
    const { tree, problems, env, folder, canLackTokens } = options;
    this.problems = problems;
    this.folder = folder;
    this.#written = tree.value;
    this.#filled = fillIn(tree.value, env, problems, (path, words) => {
      if (!canLackTokens || path.at(-1) !== "token") return false;
      this.warn(path, words);
      return true;
    });
    problems.isHidden = (path) => this.#filled.isFilled(path);
  }

  /** As the file has it, or its defaults where it is left out or has another shape. */
  section<Name extends SectionName>(name: Name): Section<Name> {
    const shape = sections[name] as unknown as z.ZodType<Section<Name>>;
    const value = this.#filled.value[name];
    const before = this.problems.count;
    const read = shaped({
      shape,
      value:
        value === undefined
          ? undefined
          : typed(value, shape, (path) => this.#filled.isFilled([name, ...path])),
      path: [name],
      problems: this.problems,
    });
    if (this.problems.count > before) this.#faulty.add(name);
    return read ?? shape.parse(undefined);
  }

  /** Whether the section is there and, as far as was seen, in order. */
  isSound(name: SectionName): boolean {
    return !this.#faulty.has(name);
  }

  has(name: SectionName): boolean {
    return this.#written[name] !== undefined;
  }

  /** Milliseconds of a duration a timer can run. */
  timer(text: string, path: Path): number {
    const ms = this.problems.guard(path, () => {
      const given = parseDuration(text as Duration, pathText(path));
      if (given <= longestTimerMs) return given;
      throw new ConfigError(
        "TG_DURATION",
        pathText(path),
        `${shown(text)} is too long.`,
        "Write at most 24d.",
      );
    });
    return ms ?? 1000;
  }

  /** Tells of a value that will not do. What came from the environment is shown as it is written. */
  refuse(
    path: Path,
    { code = "TG_CONFIG_VALUE", is, help }: { code?: string; is: string; help: string },
  ): void {
    const written = valueAt(this.#written, path);
    this.problems.add(path, {
      code,
      message: `${written === undefined ? "This" : shown(written)} ${is}`,
      help,
    });
  }

  warn(path: Path, words: Words): void {
    this.warnings.push(this.problems.placed(path, words, "key"));
  }
}

/** Node's timers end there: a longer one would fire at once. */
const longestTimerMs = 24 * 86_400_000;

/** The environment has only texts: where a number or a yes-or-no is wanted, one that reads as such is taken for it. */
function typed(value: unknown, shape: z.ZodType, isFilled: (path: Path) => boolean): unknown {
  const issues = shape.safeParse(value).error?.issues ?? [];
  let made = value;
  for (const issue of issues) {
    const path = issue.path as Path;
    const text = valueAt(value, path);
    if (issue.code !== "invalid_type" || typeof text !== "string" || !isFilled(path)) continue;
    if (issue.expected === "boolean" && /^(?:true|false)$/.test(text))
      made = replaced(made, path, text === "true");
    else if (/^(?:number|int)$/.test(issue.expected) && /^-?\d{1,15}(?:\.\d+)?$/.test(text))
      made = replaced(made, path, Number(text));
  }
  return made;
}

function replaced(value: unknown, [step, ...rest]: Path, by: unknown): unknown {
  if (step === undefined) return by;
  if (Array.isArray(value)) return value.map((item, i) => (i === step ? replaced(item, rest, by) : item));
  const map = value as Record<string, unknown>;
  return { ...map, [step]: replaced(map[step as string], rest, by) };
}

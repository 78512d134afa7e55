import { ConfigError, TidegateError } from "tidegate";
import { excerpt } from "./excerpt.js";

/** One thing to correct, or, among warnings, to look at. */
export interface ConfigProblem {
  readonly code: string;
  /** Both from 1. Undefined where no file is to blame: a flag, a file that can not be read. */
  readonly line?: number;
  readonly column?: number;
  /** `policy.rules[2].limits[0]`, or the flag, `--redis`. Empty: the file as a whole. */
  readonly path: string;
  readonly message: string;
  /** What to write instead. */
  readonly help: string;
}

/** A configuration or policy that can not be used, with everything that is wrong in it. */
export class ConfigFileError extends TidegateError {
  readonly file: string;
  readonly problems: readonly ConfigProblem[];
  readonly #untold: number;

  constructor(file: string, problems: readonly ConfigProblem[], text = "", untold = 0) {
    super(
      problems.length === 1 ? (problems[0] as ConfigProblem).code : "TG_CONFIG",
      `${file} can not be used.`,
      "Correct what the problems say.",
    );
    this.file = file;
    this.problems = problems;
    this.#untold = untold;
    this.message = report(file, problems, text, untold);
  }

  /** The same without the file's lines, for who may see what is wrong and not all that stands there. */
  withoutLines(): ConfigFileError {
    return new ConfigFileError(this.file, this.problems, "", this.#untold);
  }
}

function report(file: string, problems: readonly ConfigProblem[], text: string, untold: number): string {
  const lines = text.split("\n");
  const count = problems.length + untold;
  const parts = problems.map((problem) => paragraph(file, problem, lines));
  if (untold > 0) parts.push(`And ${untold} more.`);
  return [`${file} can not be used: ${count} ${count === 1 ? "problem" : "problems"}.`, ...parts].join(
    "\n\n",
  );
}

function paragraph(
  file: string,
  { code, line, column, path, message, help }: ConfigProblem,
  lines: string[],
) {
  const where = line === undefined ? path || file : `${file}:${line}:${column} ${path}`.trimEnd();
  const told = `${where}\n  ${message}\n  ${help} [${code}]`;
  const shown = line === undefined ? undefined : excerpt(lines, line, column as number);
  return shown === undefined ? told : `${told}\n${shown}`;
}

/** What an error says of a configuration or policy. Any other error is none of these, and is thrown on. */
export function problemsOf(error: unknown): readonly ConfigProblem[] {
  if (error instanceof ConfigFileError) return error.problems;
  if (error instanceof ConfigError) return [problemOf(error)];
  throw error;
}

/** The parts of a library error, whose message is all of them in one line. */
export function problemOf(error: ConfigError): ConfigProblem {
  const { code, path, help } = error;
  const message = error.message.slice(`${path}: `.length, -` ${help} [${code}]`.length);
  return { code, path, message: sentence(message), help: inFiles(help) };
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Functions can not be written in a file, so none is advised. */
function inFiles(help: string): string {
  return help
    .replace(/; for one of your own use a function of the subject/, "")
    .replace(/,? (?:or )?a function of the (?:subject|outcome)/g, "");
}

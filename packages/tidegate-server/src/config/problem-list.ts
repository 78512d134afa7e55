import { ConfigError } from "tidegate";
import { ConfigFileError, type ConfigProblem, problemOf } from "./config-file-error.js";
import { type Path, pathText } from "./path.js";
import type { Source } from "./source.js";

/** What is wrong, in words. */
export type Words = Pick<ConfigProblem, "code" | "message" | "help">;

/** Where a path stands: at its value, or at its key. */
export type Part = "key" | "value";

const most = 50;

/** Everything found wrong with one source, up to a number anybody would read. */
export class ProblemList {
  readonly #source: Source;
  readonly #found: ConfigProblem[] = [];
  /** One place, one problem: a second is most often the same, seen from elsewhere. */
  readonly #places = new Set<string>();
  #untold = 0;
  #count = 0;
  /** Told by whoever has read the source. */
  offsetOf: (path: Path, part: Part) => number | undefined = () => undefined;
  /** Whether what stands at a path came, wholly or in part, from the environment, and must not be shown. */
  isHidden: (path: Path) => boolean = () => false;

  constructor(source: Source) {
    this.#source = source;
  }

  /** How often something was found, told or not. */
  get count(): number {
    return this.#count;
  }

  get isEmpty(): boolean {
    return this.#found.length === 0;
  }

  addAt(offset: number, words: Words, path = ""): void {
    this.#push({ ...words, ...this.#source.placeOf(offset), path });
  }

  /** Words that take some finding are asked for only while they would be told. */
  add(path: Path, words: Words | (() => Words), part: Part = "value"): void {
    if (this.#found.length < most)
      this.#push(this.placed(path, typeof words === "function" ? words() : words, part));
    else this.#leaveOut();
  }

  /** A problem of no file: a flag. */
  addFlag(flag: string, words: Words): void {
    this.#push({ ...words, path: flag });
  }

  placed(path: Path, words: Words, part: Part = "value"): ConfigProblem {
    const offset = this.offsetOf(path, part);
    const place = offset === undefined ? {} : this.#source.placeOf(offset);
    return { ...words, ...place, path: pathText(path) };
  }

  /** Does what may throw the library's `ConfigError`, which is then a problem at this path or below it. */
  guard<T>(path: Path, act: () => T, below: (error: ConfigError) => Path = () => []): T | undefined {
    try {
      return act();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.addError([...path, ...below(error)], error);
      return undefined;
    }
  }

  /** The library's error, with better help where there is some. */
  addError(path: Path, error: ConfigError, betterHelp?: string): void {
    const { code, message, help } = problemOf(error);
    this.add(path, {
      code,
      help: betterHelp ?? help,
      message: this.isHidden(path) ? hiddenMessage : message,
    });
  }

  throwIfAny(): void {
    if (!this.isEmpty) throw this.error();
  }

  error(): ConfigFileError {
    const inOrder = this.#found.toSorted(
      (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
    );
    return new ConfigFileError(this.#source.name, inOrder, this.#source.text, this.#untold);
  }

  #push(problem: ConfigProblem): void {
    if (this.#found.length >= most) {
      this.#leaveOut();
      return;
    }
    this.#count++;
    const { path } = problem;
    if (path !== "" && this.#places.has(path)) return;
    this.#places.add(path);
    this.#found.push(problem);
  }

  #leaveOut(): void {
    this.#count++;
    this.#untold++;
  }
}

export const hiddenMessage = "What the environment gives here can not be used.";

import { ConfigError, shown } from "../errors.js";

/** The first is the default. */
export function oneOf<const T extends string>(
  given: T | undefined,
  choices: readonly [T, ...T[]],
  path: string,
): T {
  if (given === undefined) return choices[0];
  if (choices.includes(given)) return given;
  throw notAChoice(given, path, `Use ${choices.map((choice) => shown(choice)).join(", ")}.`);
}

export function parseFlag(given: boolean | undefined, byDefault: boolean, path: string): boolean {
  if (given === undefined) return byDefault;
  if (typeof given === "boolean") return given;
  throw notAChoice(given, path, "Use true or false.");
}

export function notAChoice(given: unknown, path: string, help: string): ConfigError {
  return new ConfigError("TG_CHOICE", path, `${shown(given)} is not a choice.`, help);
}

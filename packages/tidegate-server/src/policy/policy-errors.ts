import { ConfigError, TidegateError } from "tidegate";

export function conflictError(newest: number | undefined, after: number | undefined): TidegateError {
  const is = newest === undefined ? "there is none" : `version ${newest} is the newest`;
  const was = after === undefined ? "the first one" : `one after version ${after}`;
  return new TidegateError(
    "TG_POLICY_CONFLICT",
    `The policy is another by now: ${is}, and this was to be ${was}.`,
    "Nothing was changed. Read the newest version, make the change to that one, and send it again.",
  );
}

export function noSuchVersion(id: number): TidegateError {
  return new TidegateError(
    "TG_POLICY_VERSION",
    `There is no policy version ${id}.`,
    "Nothing was changed. The history lists those there are.",
  );
}

export function nothingBefore(): TidegateError {
  return new TidegateError(
    "TG_POLICY_VERSION",
    "There is no other policy before the one in force.",
    "Nothing was changed. The history lists those there are; name one of them.",
  );
}

/** The store of versions is out of reach: the same may succeed later. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof TidegateError && error.code === "TG_DATA_UNREACHABLE";
}

/** Or the file can not be read at the moment. Nobody has to change anything for the same to succeed later. */
export function isPassing(error: unknown): boolean {
  return isUnreachable(error) || (error instanceof TidegateError && error.code === "TG_CONFIG_READ");
}

export function unusableError(id: number, cause: unknown): TidegateError {
  return new TidegateError(
    "TG_POLICY_UNUSABLE",
    `Version ${id}, the newest accepted policy, can not be put in force here: ${reasonOf(cause)}`,
    "Write a policy that can into the file: a changed file is taken in at the start, before anything else.",
    { cause },
  );
}

/** For the log. Where a person's text is to blame it says which places of it; a stack would only be in the way. */
export function faultOf(error: unknown): Readonly<Record<string, unknown>> {
  const problems = problemsOf(error);
  if (problems !== undefined) return { problems };
  if (!(error instanceof ConfigError)) return { err: error };
  const { code, path } = error;
  return { problems: [{ code, path, message: error.message }] };
}

/** Line by line, if it is such an error. */
export function problemsOf(error: unknown): readonly unknown[] | undefined {
  const isList = error instanceof Error && "problems" in error && Array.isArray(error.problems);
  return isList ? (error.problems as readonly unknown[]) : undefined;
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

import type { Policy } from "tidegate";
import { policyDigest } from "../data.js";
import { problemsOf, reasonOf } from "./policy-errors.js";
import type { PolicyFileStatus } from "./policy-status.js";

export interface PolicyFileOptions {
  readonly path: string;
  /** What stands in the file now. Throws when it can not be used. */
  read(): FileContent;
}

export interface FileContent {
  /** The policy's. */
  readonly text: string;
  /** What else the file says by now that this process does only after a start, by path. */
  readonly needsRestart?: readonly string[];
}

export interface ReadPolicy {
  readonly text: string;
  readonly digest: string;
  readonly policy: Policy;
}

/** The file as last read, good or bad. */
export interface PolicyFile {
  readonly path: string;
  /** When last read it could not be used, or not be taken in. */
  readonly isRefused: boolean;
  /** Throws what is wrong with it, and remembers. */
  read(): ReadPolicy;
  /** It is good, and could not be taken in all the same. */
  failed(error: unknown): void;
  status(digestInForce: string | undefined): PolicyFileStatus;
}

export function policyFile(file: PolicyFileOptions, parse: (text: string) => Policy): PolicyFile {
  const { path } = file;
  let digest: string | undefined;
  let problem: { readonly error: unknown } | undefined;
  let needsRestart: readonly string[] = [];

  function fails(error: unknown): void {
    problem = { error };
  }

  return {
    path,
    get isRefused() {
      return problem !== undefined;
    },
    failed: fails,
    read() {
      needsRestart = [];
      try {
        const content = file.read();
        const { text } = content;
        needsRestart = content.needsRestart ?? [];
        const policy = parse(text);
        digest = policyDigest(text);
        problem = undefined;
        return { text, digest, policy };
      } catch (error) {
        fails(error);
        throw error;
      }
    },
    status(digestInForce) {
      const waiting = needsRestart.length > 0 ? { needsRestart } : {};
      if (problem === undefined)
        return { path, state: digest === digestInForce ? "in force" : "behind", ...waiting };
      const { error } = problem;
      const problems = problemsOf(error);
      return { path, state: "refused", problem: reasonOf(error), ...(problems && { problems }), ...waiting };
    },
  };
}

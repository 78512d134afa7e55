import type { Policy } from "tidegate";
import type { ConfigProblem } from "./config-file-error.js";
import { refuseReferences } from "./environment.js";
import { judgePolicy, type PolicyTerms } from "./judge-policy.js";
import type { Path } from "./path.js";
import { policyShape } from "./policy-shape.js";
import { ProblemList } from "./problem-list.js";
import type { LimitReader } from "./read-limits.js";
import { readPolicy } from "./read-policy.js";
import { sections } from "./settings-shape.js";
import { shaped } from "./shape-problems.js";
import { sourceOf } from "./source.js";
import { readTree } from "./tree.js";

export interface ParsePolicyOptions extends PolicyTerms {
  /** What to call the text in messages. Default `"policy"`. */
  readonly name?: string;
  readonly onWarning?: (warning: ConfigProblem) => void;
}

/** Reads the text of a policy. Throws a `ConfigFileError` that names everything wrong with it, by line. */
export function parsePolicy(text: string, options: ParsePolicyOptions = {}): Policy {
  const { name = "policy", onWarning = () => {}, ...terms } = options;
  const source = sourceOf(name, text);
  const problems = new ProblemList(source);
  const tree = readTree(source, problems);
  const policy = tree && policyAt({ value: tree.value, path: [], terms, problems, onWarning });
  problems.throwIfAny();
  return policy as Policy;
}

export interface PolicyPlace {
  readonly value: unknown;
  readonly path: Path;
  readonly terms: PolicyTerms;
  readonly problems: ProblemList;
  readonly onWarning: (warning: ConfigProblem) => void;
}

/** The policy a value means, judged; undefined when its shape is wrong. Problems are told either way. */
export function policyAt({ value, path, terms, problems, onWarning }: PolicyPlace): Policy | undefined {
  refuseReferences(value, path, problems);
  const shape = shaped({ shape: policyShape, value, path, problems, elsewhere });
  if (shape === undefined) return undefined;
  const reader: LimitReader = {
    problems,
    warn: ({ code, message, help }, at) => onWarning(problems.placed(at, { code, message, help })),
  };
  const read = readPolicy(shape, path, reader);
  judgePolicy(read, path, terms, reader);
  return read.policy;
}

function elsewhere(key: string): string | undefined {
  if (key === "policy") return "This is a whole configuration: give what stands under policy, by itself.";
  if (key === "onStoreFailure")
    return "For all rules it is failure.onStoreFailure; for one it stands in the rule.";
  return Object.hasOwn(sections, key)
    ? "It is a setting of the server: write it at the top of the file, beside policy."
    : undefined;
}

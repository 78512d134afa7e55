import type { Path } from "./path.js";
import type { ProblemList, Words } from "./problem-list.js";
import { shown } from "./shown.js";

/** Settings with `${NAME}` and `${NAME:-default}` filled in, and which they are. */
export interface Filled {
  readonly value: Readonly<Record<string, unknown>>;
  /** Whether anything at this path, above or below it came from the environment. */
  isFilled(path: Path): boolean;
}

const reference = /\$\$\{|\$\{([^}]*)\}?/g;
const inside = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/** Told of a variable that is not set; answers whether to go on with a stand-in all the same. */
export type Lacking = (path: Path, words: Words) => boolean;

/** Long enough for a token, and none. */
const standIn = "not-set-in-this-environment";

/** Fills in every text but the policy's, which holds for many processes and is shown to whoever may see it. */
export function fillIn(
  value: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv,
  problems: ProblemList,
  isLacking: Lacking = () => false,
): Filled {
  const filled: Path[] = [];

  function text(written: string, path: Path): string {
    if (!written.includes("${")) return written;
    filled.push(path);
    return written.replace(reference, (whole: string, name: string | undefined) => {
      if (name === undefined) return "${";
      const parts = whole.endsWith("}") ? inside.exec(name) : null;
      if (parts === null) {
        problems.add(path, misspelt);
        return "";
      }
      const given = Object.hasOwn(env, parts[1] as string) ? env[parts[1] as string] : undefined;
      if (parts[2] !== undefined) return given || parts[2];
      if (given !== undefined) return given;
      const words = missing(parts[1] as string);
      if (isLacking(path, words)) return standIn;
      problems.add(path, words);
      return "";
    });
  }

  function each(part: unknown, path: Path): unknown {
    if (typeof part === "string") return text(part, path);
    if (Array.isArray(part)) return part.map((item, i) => each(item, [...path, i]));
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, each(inner, [...path, key])]));
  }

  const { policy, ...settings } = value;
  const done = each(settings, []) as Record<string, unknown>;
  return {
    value: "policy" in value ? { ...done, policy } : done,
    isFilled: (path) => filled.some((one) => one.every((step, i) => i >= path.length || step === path[i])),
  };
}

function missing(name: string): Words {
  return {
    code: "TG_ENV_MISSING",
    message: `The environment has no ${name}.`,
    help: `Set ${name} before the start, or write \${${name}:-default}.`,
  };
}

const misspelt: Words = {
  code: "TG_ENV_MISSING",
  message: "This does not name a variable of the environment.",
  help: `Write \${NAME} or \${NAME:-default}, with letters, digits and _; $\${ stands for \${ itself.`,
};

/** Tells of every `${` in a policy. */
export function refuseReferences(policy: unknown, path: Path, problems: ProblemList): void {
  if (typeof policy === "string") {
    if (policy.includes("${")) problems.add(path, inPolicy(policy));
  } else if (typeof policy === "object" && policy !== null) {
    for (const [key, inner] of Object.entries(policy)) {
      const at = [...path, Array.isArray(policy) ? Number(key) : key];
      if (key.includes("${")) problems.add(at, inPolicy(key), "key");
      refuseReferences(inner, at, problems);
    }
  }
}

function inPolicy(text: string): Words {
  return {
    code: "TG_ENV_IN_POLICY",
    message: `${shown(text)} refers to the environment, and a policy can not.`,
    help: "Write the value itself: a policy holds for every process, and its versions are kept and shown as they are written.",
  };
}

import type { Policy } from "tidegate";
import type { Data } from "../../packages/tidegate-server/src/data.js";
import type { Log } from "../../packages/tidegate-server/src/log.js";
import {
  type KeepPolicyOptions,
  keepPolicy,
  type PolicyKeeper,
} from "../../packages/tidegate-server/src/policy/keep-policy.js";

/** A keeper, what it put in force so far, and what it logged. */
export interface Kept {
  readonly keeper: PolicyKeeper;
  readonly inForce: string[];
  readonly lines: { readonly level: string; readonly fields: object; readonly words: string }[];
}

type Given = Partial<Omit<KeepPolicyOptions, "policies" | "audit" | "log">>;

export async function keep(
  { policies, audit }: Pick<Data, "policies" | "audit">,
  given: Given = {},
): Promise<Kept> {
  const inForce: string[] = [];
  const lines: Kept["lines"] = [];
  const keeper = await keepPolicy({
    policies,
    audit,
    parse,
    apply: (policy) => inForce.push(nameOf(policy)),
    log: logTo(lines),
    ...given,
  });
  return { keeper, inForce, lines };
}

/** Bad texts as a file's reader refuses them: with each problem and its line. */
export class BadText extends Error {
  readonly problems = [{ line: 1, message: "no such policy" }];
}

/** `policy x` is a policy of one rule named x. */
function parse(text: string): Policy {
  const [, name] = /^policy (\S+)$/.exec(text.trim()) ?? [];
  if (name === undefined) throw new BadText(`${JSON.stringify(text)} is no policy.`);
  return { rules: [{ name, by: "ip", limits: ["10 per minute"] }] };
}

function nameOf({ rules }: Policy): string {
  return rules[0]?.name ?? "none";
}

function logTo(lines: Kept["lines"]): Log {
  const at =
    (level: string) =>
    (...args: unknown[]): void =>
      void lines.push({
        level,
        fields: typeof args[0] === "object" && args[0] !== null ? args[0] : {},
        words: String(args.at(-1)),
      });
  const log = {
    trace: at("trace"),
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
  };
  return log as unknown as Log;
}

import { resolve } from "node:path";
import type { IdentityOptions, Policy } from "tidegate";
import { loadConfig } from "../config/load-config.js";
import { parsePolicy } from "../config/parse-policy.js";
import { readSource } from "../config/source.js";
import type { Io } from "./io.js";
import { isBarePolicy } from "./validate-file.js";

export interface PolicyOfFile {
  readonly policy: Policy;
  /** Of a whole configuration. */
  readonly identity?: IdentityOptions;
  readonly trustedProxies?: readonly string[];
}

/** The policy of a `tidegate.yaml`, or of a file that is a policy alone. Throws a `ConfigFileError` with what is wrong. */
export function policyOfFile(given: string, { cwd, env }: Pick<Io, "cwd" | "env">): PolicyOfFile {
  const file = resolve(cwd, given);
  const { text } = readSource(file);
  if (isBarePolicy(text)) return { policy: parsePolicy(text, { name: file }) };
  const { settings, policyText } = loadConfig({ file, env: { ...env }, cwd, canLackTokens: true });
  const { identity, trustedProxies } = settings;
  return { policy: parsePolicy(policyText, { name: file, identity }), identity, trustedProxies };
}

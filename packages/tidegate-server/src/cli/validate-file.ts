import { resolve } from "node:path";
import { isMap, isScalar } from "yaml";
import type { ConfigProblem } from "../config/config-file-error.js";
import { loadConfig } from "../config/load-config.js";
import { parsePolicy } from "../config/parse-policy.js";
import { policyShape } from "../config/policy-shape.js";
import { ProblemList } from "../config/problem-list.js";
import { sections } from "../config/settings-shape.js";
import { readSource, sourceOf } from "../config/source.js";
import { yamlDocument } from "../config/yaml-document.js";
import type { Io } from "./io.js";

/** Reads a configuration, or a policy alone. Throws a `ConfigFileError` with what is wrong, answers what to look at. */
export function validateFile(given: string, { cwd, env }: Pick<Io, "cwd" | "env">): readonly ConfigProblem[] {
  const file = resolve(cwd, given);
  const { text } = readSource(file);
  if (!isBarePolicy(text)) return loadConfig({ file, env: { ...env }, cwd, canLackTokens: true }).warnings;
  const warnings: ConfigProblem[] = [];
  parsePolicy(text, { name: file, onWarning: (warning) => warnings.push(warning) });
  return warnings;
}

/** Whether a text is a policy alone, and not a configuration with one in it. What can not be read is neither: who reads it then says why. */
export function isBarePolicy(text: string): boolean {
  const source = sourceOf("policy", text);
  const contents = yamlDocument(source, new ProblemList(source))?.contents;
  if (!isMap(contents)) return false;
  const keys = contents.items.map(({ key }) => (isScalar(key) ? String(key.value) : ""));
  const ofPolicy = keys.filter((key) => Object.hasOwn(policyShape.shape, key));
  return ofPolicy.length > 0 && !keys.some((key) => key === "policy" || Object.hasOwn(sections, key));
}

import type { z } from "zod";
import { nearest } from "./nearest.js";
import { type Path, pathText, valueAt } from "./path.js";
import { hiddenMessage, type ProblemList, type Words } from "./problem-list.js";
import { isSecretSection } from "./secret-sections.js";
import { shown } from "./shown.js";

type Issue = z.core.$ZodIssue;

export interface Shaped<T> {
  readonly shape: z.ZodType<T>;
  readonly value: unknown;
  readonly path: Path;
  readonly problems: ProblemList;
  /** What to say of a key at the top that belongs elsewhere. */
  readonly elsewhere?: (key: string) => string | undefined;
}

/** The value in its shape, defaults filled in; undefined when it has another, which is then told. */
export function shaped<T>({ shape, value, path, problems, elsewhere }: Shaped<T>): T | undefined {
  const result = shape.safeParse(value, { error: () => "" });
  if (result.success) return result.data;
  const issues = result.error.issues.flatMap((each) => meant(each, []));
  const misspelt = new Set<string>();
  for (const issue of issues) {
    if (issue.code !== "unrecognized_keys") continue;
    const above = issue.path as Path;
    const known = issue.message.split(" ");
    for (const key of issue.keys) {
      const other = above.length === 0 ? elsewhere?.(key) : undefined;
      const at = [...path, ...above, key];
      const isBare = valueAt(value, [...above, key]) === null && nearest(key, known) === undefined;
      if (isBare && isSecretSection(at[0]))
        problems.addAt(problems.offsetOf(at, "key") ?? 0, bareKey(known), pathText(at.slice(0, -1)));
      else problems.add(at, () => unknownKey(key, known, other), "key");
      misspelt.add(pathText([...above, issue.keys.length > 20 ? "" : (nearest(key, known) ?? "")]));
    }
  }
  for (const issue of issues) {
    const below = issue.path as Path;
    const given = valueAt(value, below);
    const isMisspelt = given === undefined && misspelt.has(pathText(below));
    if (issue.code === "unrecognized_keys" || isMisspelt) continue;
    const at = [...path, ...below];
    const words = wordsOf(issue, given);
    problems.add(at, problems.isHidden(at) ? { ...words, message: hiddenMessage } : words);
  }
  return undefined;
}

export interface Keyed {
  readonly value: Readonly<Record<string, unknown>>;
  readonly shape: z.ZodObject;
  readonly problems: ProblemList;
  readonly elsewhere: (key: string) => string | undefined;
}

/** Tells of keys at the top that a shape does not have. */
export function unknownKeys({ value, shape, problems, elsewhere }: Keyed): void {
  const known = Object.keys(shape.shape);
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) problems.add([key], () => unknownKey(key, known, elsewhere(key)), "key");
  }
}

/** Of several forms something may have, the one it was most likely meant to have. */
function meant(issue: Issue, above: readonly PropertyKey[]): Issue[] {
  const path = [...above, ...issue.path];
  if (issue.code !== "invalid_union") return [{ ...issue, path }];
  const likely = issue.errors
    .filter((issues) => !issues.some(isOtherForm))
    .map((issues) => ({ issues, unknown: issues.reduce((sum, each) => sum + unknownKeysOf(each), 0) }))
    .sort((a, b) => a.unknown - b.unknown)[0];
  return likely === undefined ? [{ ...issue, path }] : likely.issues.flatMap((each) => meant(each, path));
}

function isOtherForm({ code, path }: Issue): boolean {
  return path.length === 0 && code !== "unrecognized_keys" && code !== "too_small" && code !== "too_big";
}

function unknownKeysOf(issue: Issue): number {
  return issue.code === "unrecognized_keys" && issue.path.length === 0 ? issue.keys.length : 0;
}

function unknownKey(key: string, known: readonly string[], elsewhere: string | undefined): Words {
  const guess = nearest(key, known);
  const list = `There are ${known.join(", ")}.`;
  return {
    code: "TG_CONFIG_KEY",
    message: `There is no setting ${shown(key)} here.`,
    help: elsewhere ?? (guess === undefined ? list : `Did you mean ${guess}? ${list}`),
  };
}

/** It may be the rest of a secret that has a comma in it. */
function bareKey(known: readonly string[]): Words {
  return {
    code: "TG_CONFIG_KEY",
    message: "Something stands here that is no setting and has no value.",
    help: `Put quotes around a text with a comma in it. There are ${known.join(", ")}.`,
  };
}

function wordsOf(issue: Issue, value: unknown): Words {
  const help = issue.message || helpOf(issue, value);
  return { code: "TG_CONFIG_VALUE", message: messageOf(issue, value), help };
}

function messageOf(issue: Issue, value: unknown): string {
  const name = issue.path.at(-1);
  if (value === undefined) return typeof name === "string" ? `${shown(name)} is missing.` : "It is missing.";
  if (value === null) return "Nothing is written here.";
  if (isSecret(name)) return "This can not be used here.";
  switch (issue.code) {
    case "invalid_type":
      return issue.expected in nouns && issue.message === ""
        ? `${shown(value)} is not ${nouns[issue.expected]}.`
        : `${shown(value)} can not be used here.`;
    case "invalid_value":
      return `${shown(value)} is not a choice.`;
    case "too_small":
    case "too_big":
      return typeof value === "number"
        ? `${value} is too ${issue.code === "too_big" ? "large" : "small"}.`
        : `This is too ${issue.code === "too_big" ? "long" : "short"}.`;
    default:
      return `${shown(value)} can not be used here.`;
  }
}

function isSecret(name: PropertyKey | undefined): boolean {
  return name === "token" || name === "url" || name === "urls";
}

const nouns: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  record: "a map",
};

function helpOf(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.expected === "string" && typeof value !== "object")
        return value === undefined ? "Add it." : `Put quotes around it: "${value}".`;
      return `Write ${nouns[issue.expected] ?? "something else"}.`;
    case "invalid_value":
      return choices(issue.values.map(String), value);
    case "invalid_union":
      return "options" in issue && Array.isArray(issue.options)
        ? choices(issue.options.map(String), value)
        : "Write it as docs/server/config.md shows.";
    case "too_small":
      return `Write at least ${issue.minimum}.`;
    case "too_big":
      return `Write at most ${issue.maximum}.`;
    default:
      return "Write it as docs/server/config.md shows.";
  }
}

function choices(known: readonly string[], value: unknown): string {
  const guess = typeof value === "string" ? nearest(value, known) : undefined;
  const list = `${known.length === 1 ? "Write" : "Use"} ${known.join(", ")}.`;
  return guess === undefined ? list : `Did you mean ${guess}? ${list}`;
}

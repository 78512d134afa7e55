import { isDeepStrictEqual } from "node:util";
import { type LoginOptions, loginRules, type RuleOptions } from "tidegate";
import {
  isMap,
  isScalar,
  type Node,
  type Pair,
  type ParsedNode,
  parseDocument,
  visit,
  type YAMLMap,
} from "yaml";
import { type Path, valueAt } from "./path.js";
import { ProblemList } from "./problem-list.js";
import { sourceOf } from "./source.js";
import { readTree, type Tree } from "./tree.js";

export type RuleMode = NonNullable<RuleOptions["mode"]>;

type Written = RuleMode | Readonly<Record<string, RuleMode>>;

/** What has to be written where, and what stands for it now. */
interface Setting {
  readonly path: Path;
  readonly value: Written;
  readonly now: RuleMode;
}

/**
 * A policy's text with another mode for one rule, and all else as it was, comments included. Undefined: it has no such rule.
 * Whether the text can be used at all is not looked at.
 */
export function withRuleMode(text: string, rule: string, mode: RuleMode): string | undefined {
  const tree = treeOf(text);
  const setting = tree && settingOf(tree, rule, mode);
  if (tree === undefined || setting === undefined) return undefined;
  if (setting.now === mode) return text;
  const { path, value } = setting;
  const wanted = structuredClone(tree.value);
  (valueAt(wanted, path.slice(0, -1)) as Record<string, unknown>)[path.at(-1) as string] = value;
  const isMeant = (written: string): boolean => isDeepStrictEqual(treeOf(written)?.value, wanted);
  const written = inPlace(text, tree, path, value);
  if (isMeant(written)) return written;
  const anew = withoutAliases(text, path, value);
  if (isMeant(anew)) return anew;
  throw new Error("This rule's mode can not be written into the policy's text.");
}

/** Where something can not be changed in place, because an alias has it too: aliases are written out. Comments stay. */
function withoutAliases(text: string, path: Path, value: Written): string {
  const document = parseDocument(text, { version: "1.2", schema: "core", uniqueKeys: false });
  visit(document, { Alias: (_, alias) => (alias.resolve(document) as Node | undefined)?.clone() as Node });
  visit(document, {
    Node(_, node) {
      if ("anchor" in node) delete node.anchor;
    },
  });
  document.setIn(path, document.createNode(value));
  return document.toString({ lineWidth: 0 });
}

function treeOf(text: string): Tree | undefined {
  const source = sourceOf("policy", text);
  return readTree(source, new ProblemList(source));
}

const loginParts = ["pair", "ip", "account"] as const;

function settingOf({ value }: Tree, rule: string, mode: RuleMode): Setting | undefined {
  const rules = (Array.isArray(value.rules) ? value.rules : []) as readonly {
    readonly name?: string;
    readonly mode?: RuleMode;
    readonly login?: LoginOptions;
  }[];
  for (const [i, { name, mode: now = "enforce", login }] of rules.entries()) {
    if (login === undefined) {
      if (name === rule) return { path: ["rules", i, "mode"], value: mode, now };
      continue;
    }
    const named = loginRules(login.name === undefined ? {} : { name: login.name });
    const part = loginParts[named.findIndex((each) => each.name === rule)];
    if (part !== undefined) return loginSetting(["rules", i, "login", "mode"], part, login.mode, mode);
  }
  return undefined;
}

/** One of the three rules that stand there as one. */
function loginSetting(
  at: Path,
  part: (typeof loginParts)[number],
  modes: LoginOptions["mode"],
  mode: RuleMode,
): Setting {
  if (typeof modes === "string")
    return { path: at, value: { pair: modes, ip: modes, account: modes, [part]: mode }, now: modes };
  const now = modes?.[part] ?? "enforce";
  return modes === undefined
    ? { path: at, value: { [part]: mode }, now }
    : { path: [...at, part], value: mode, now };
}

function inPlace(text: string, { nodeAt }: Tree, path: Path, value: Written): string {
  const written = typeof value === "string" ? value : `{ ${pairs(value)} }`;
  const there = nodeAt(path);
  if (there !== undefined) return `${text.slice(0, there.range[0])}${written}${text.slice(there.range[1])}`;
  const map = nodeAt(path.slice(0, -1));
  if (!isMap(map)) return text;
  const { at, before, after } = gapIn(text, map as YAMLMap.Parsed);
  return `${text.slice(0, at)}${before}${path.at(-1)}: ${written}${after}${text.slice(at)}`;
}

function pairs(value: Readonly<Record<string, RuleMode>>): string {
  return Object.entries(value)
    .map(([name, mode]) => `${name}: ${mode}`)
    .join(", ");
}

/** Where one more setting fits into a map: behind its name if that stands on one line, else before all others. */
function gapIn(
  text: string,
  map: YAMLMap.Parsed,
): { readonly at: number; readonly before: string; readonly after: string } {
  const [first] = map.items;
  const named = map.items.find(({ key }) => isScalar(key) && key.value === "name") ?? first;
  const value = named?.value as ParsedNode | null | undefined;
  if (map.flow === true)
    return value == null
      ? { at: map.range[0] + 1, before: " ", after: " " }
      : { at: value.range[1], before: ", ", after: "" };
  const start = (first as Pair<ParsedNode>).key.range[0];
  const indent = " ".repeat(start - (text.lastIndexOf("\n", start - 1) + 1));
  if (isScalar(value) && !text.slice(value.range[0], value.range[1]).includes("\n")) {
    const end = text.indexOf("\n", value.range[1]);
    return { at: end === -1 ? text.length : end, before: `\n${indent}`, after: "" };
  }
  return { at: start, before: "", after: `\n${indent}` };
}

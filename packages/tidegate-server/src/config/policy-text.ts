import { isDeepStrictEqual } from "node:util";
import { isAlias, isMap, stringify, visit } from "yaml";
import type { ProblemList } from "./problem-list.js";
import { ProblemList as Problems } from "./problem-list.js";
import { type Source, sourceOf } from "./source.js";
import { readTree, type Tree } from "./tree.js";

/** The policy section as a text of its own, with its comments, moved to the left margin. It reads back to the same. */
export function policyText(source: Source, tree: Tree, problems: ProblemList): string {
  const node = tree.nodeAt(["policy"]);
  const { policy } = tree.value;
  if (node === undefined || policy === null || policy === undefined) return emptyPolicy;
  refuseOutsideAliases(tree, problems);
  const cut = isMap(node) && !node.flow ? cutOut(source.text, node.range) : undefined;
  const own = cut ?? `${source.text.slice(node.range[0], node.range[1])}\n`;
  return isDeepStrictEqual(readBack(own), policy) ? own : stringify(policy, { lineWidth: 0 });
}

const emptyPolicy = "rules: []\n";

/** Whole lines, each without the indentation of the first key. */
function cutOut(text: string, [start, , end]: readonly [number, number, number]): string {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const indent = start - lineStart;
  const above = commentsAbove(text, lineStart);
  const lines = text.slice(above, end).trimEnd().split("\n");
  return `${lines.map((line) => dedented(line, indent)).join("\n")}\n`;
}

/** Where the comments begin that stand between `policy:` and its first key. */
function commentsAbove(text: string, lineStart: number): number {
  let from = lineStart;
  while (from > 0) {
    const before = text.lastIndexOf("\n", from - 2) + 1;
    if (!/^\s*(?:#.*)?\n$/.test(text.slice(before, from))) break;
    from = before;
  }
  return from;
}

function dedented(line: string, indent: number): string {
  const blanks = line.length - line.trimStart().length;
  return line.slice(Math.min(indent, blanks));
}

function readBack(text: string): unknown {
  const source = sourceOf("policy", text);
  return readTree(source, new Problems(source))?.value;
}

/** A policy stands alone: what it refers to must stand in it. */
function refuseOutsideAliases({ document, nodeAt }: Tree, problems: ProblemList): void {
  const policy = nodeAt(["policy"]);
  if (policy === undefined) return;
  const [start, , end] = policy.range;
  const isInside = (offset: number) => offset >= start && offset < end;
  if (isAlias(policy)) problems.add(["policy"], outside);
  else
    visit(policy, {
      Alias(_, alias) {
        const target = alias.resolve(document);
        if (!isInside(target?.range?.[0] ?? -1)) problems.addAt(alias.range?.[0] ?? start, outside, "policy");
      },
    });
}

const outside = {
  code: "TG_CONFIG_YAML",
  message: "The policy refers to something outside of it.",
  help: "Write it out here: the policy is kept and read by itself.",
};

import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type ParsedNode,
  type Scalar,
  type YAMLMap,
} from "yaml";
import { type Path, pathText } from "./path.js";
import type { Part, ProblemList, Words } from "./problem-list.js";
import { shown } from "./shown.js";
import type { Source } from "./source.js";
import { deepest, tooDeep, tooMany, type YamlDocument, yamlDocument } from "./yaml-document.js";

/** What a source says, as plain values, and where it says it. */
export interface Tree {
  readonly value: Readonly<Record<string, unknown>>;
  readonly document: YamlDocument;
  nodeAt(path: Path): ParsedNode | undefined;
}

const mostNodes = 120_000;
const mostAliases = 64;

/** Reads a source whose root is a map. Undefined when there are problems; from then on the list can place paths. */
export function readTree(source: Source, problems: ProblemList): Tree | undefined {
  const document = yamlDocument(source, problems);
  if (document === undefined) {
    if (problems.isEmpty) problems.addAt(0, empty);
    return undefined;
  }
  problems.offsetOf = (path, part) => offsetIn(document, path, part);
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    problems.addAt(0, empty);
    return undefined;
  }
  const value = new Walk(document, problems).plain(contents, [], 0);
  if (problems.isEmpty && !isMap(contents)) problems.addAt(contents.range[0], notAMap(value));
  if (!problems.isEmpty) return undefined;
  return {
    value: value as Record<string, unknown>,
    document,
    nodeAt: (path) => findNode(document, path)?.value,
  };
}

const empty: Words = {
  code: "TG_CONFIG_EMPTY",
  message: "Nothing is written in it.",
  help: 'Write settings such as "upstreams:" and "policy:"; docs/server/config.md has them all.',
};

function notAMap(value: unknown): Words {
  return {
    code: "TG_CONFIG_VALUE",
    message: `It is ${Array.isArray(value) ? "a list" : "a single value"}, not a map of settings.`,
    help: 'Begin each setting with its name and a colon, e.g. "rules:".',
  };
}

/** Makes plain values of nodes, and refuses what would surprise. */
class Walk {
  readonly #document: YamlDocument;
  readonly #problems: ProblemList;
  #nodes = 0;
  #aliases = 0;
  #isOver = false;

  constructor(document: YamlDocument, problems: ProblemList) {
    this.#document = document;
    this.#problems = problems;
  }

  plain(node: ParsedNode | null, path: Path, depth: number): unknown {
    if (node === null || this.#isOver) return null;
    if (++this.#nodes > mostNodes) return this.#stop(node, tooMany);
    if (depth > deepest) return this.#stop(node, tooDeep);
    if (node.tag !== undefined) this.#refuse(node, path, tagged(node.tag));
    if (isAlias(node)) return this.#aliased(node, path, depth);
    if (isMap(node)) return this.#map(node as YAMLMap.Parsed, path, depth);
    if (isSeq(node))
      return node.items.map((item, i) => this.plain(item as ParsedNode, [...path, i], depth + 1));
    return (node as Scalar).value;
  }

  #aliased(alias: Alias.Parsed, path: Path, depth: number): unknown {
    if (++this.#aliases > mostAliases) return this.#stop(alias, manyAliases);
    const target = alias.resolve(this.#document) as ParsedNode | undefined;
    if (target === undefined) this.#refuse(alias, path, unknownAlias);
    return this.plain(target ?? null, path, depth + 1);
  }

  #map(map: YAMLMap.Parsed, path: Path, depth: number): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    for (const { key, value } of map.items) {
      if (this.#isOver) break;
      const name = isScalar(key) ? String(key.value) : "";
      const at = [...path, name];
      if (key?.tag !== undefined) this.#refuse(key, at, tagged(key.tag));
      if (isAlias(key)) this.#refuse(key, path, aliasedKey);
      else if (name === "<<") this.#refuse(key ?? map, at, merged);
      else if (isDangerous(name)) this.#refuse(key ?? map, at, notASetting(name));
      else if (Object.hasOwn(made, name)) this.#refuse(key ?? map, at, twice(name));
      else made[name] = this.plain(value, at, depth + 1);
    }
    return made;
  }

  #refuse(node: ParsedNode, path: Path, words: Words): void {
    this.#problems.addAt(node.range[0], words, pathText(path));
  }

  #stop(node: ParsedNode, words: Words): null {
    this.#isOver = true;
    this.#problems.addAt(node.range[0], words);
    return null;
  }
}

/** Names under which objects keep what makes them objects. */
function isDangerous(name: string): boolean {
  return name === "__proto__" || name === "constructor" || name === "prototype";
}

function notASetting(name: string): Words {
  return {
    code: "TG_CONFIG_KEY",
    message: `${shown(name)} can name nothing here.`,
    help: "Choose another name.",
  };
}

function twice(name: string): Words {
  return {
    code: "TG_CONFIG_KEY_TWICE",
    message: `${shown(name)} is there twice.`,
    help: "Keep one of them: the other would silently do nothing.",
  };
}

function tagged(tag: string): Words {
  return {
    code: "TG_CONFIG_YAML",
    message: `The tag ${shown(tag)} is not read.`,
    help: 'Drop it; put quotes around what is to be a text, e.g. "42".',
  };
}

const merged: Words = {
  code: "TG_CONFIG_YAML",
  message: 'Merge keys ("<<") are not read: YAML 1.2 has none.',
  help: "Write the settings out, or use an alias (*name) for a whole value.",
};

const aliasedKey: Words = {
  code: "TG_CONFIG_YAML",
  message: "The name of a setting is an alias.",
  help: "Write the name out.",
};

const unknownAlias: Words = {
  code: "TG_CONFIG_YAML",
  message: "This is an alias of nothing that stands before it.",
  help: "Name an anchor (&name) written above, or put quotes around a text that begins with *.",
};

const manyAliases: Words = {
  code: "TG_CONFIG_LARGE",
  message: `There are more than ${mostAliases} aliases.`,
  help: "Write some of them out.",
};

interface Found {
  readonly key: ParsedNode | undefined;
  readonly value: ParsedNode | undefined;
  /** How many steps of the path are there. */
  readonly steps: number;
}

function findNode(document: YamlDocument, path: Path): Found | undefined {
  const found = nearestNode(document, path);
  return found.steps === path.length ? found : undefined;
}

/** The node at a path, or the deepest one on the way to it. */
function nearestNode(document: YamlDocument, path: Path): Found {
  let found: Found = { key: undefined, value: document.contents ?? undefined, steps: 0 };
  for (const [i, step] of path.entries()) {
    const at = resolved(document, found.value);
    if (isMap(at)) {
      const pair = (at as YAMLMap.Parsed).items.find(
        ({ key }) => isScalar(key) && String(key.value) === step,
      );
      if (pair === undefined) return found;
      found = { key: pair.key, value: pair.value ?? undefined, steps: i + 1 };
    } else if (isSeq(at) && typeof step === "number" && at.items[step] !== undefined) {
      found = { key: undefined, value: at.items[step] as ParsedNode, steps: i + 1 };
    } else return found;
  }
  return found;
}

function resolved(document: YamlDocument, node: ParsedNode | undefined): ParsedNode | undefined {
  return isAlias(node) ? (node.resolve(document) as ParsedNode | undefined) : node;
}

/** What is missing is placed at the key of what should have it. */
function offsetIn(document: YamlDocument, path: Path, part: Part): number | undefined {
  const { key, value, steps } = nearestNode(document, path);
  const node = part === "key" || steps < path.length ? (key ?? value) : (value ?? key);
  return node?.range[0];
}

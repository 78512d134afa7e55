import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** Sources by path below `src/`: `{ "stores/memory/index.ts": "import …" }`. */
export type Sources = Readonly<Record<string, string>>;

export interface Import {
  /** The importing file. */
  readonly file: string;
  /** A file below `src/`, or as written when it is not a relative import: `node:net`, `vitest`. */
  readonly target: string;
  /** Erased by the compiler: `import type`, `export type … from`. */
  readonly isType: boolean;
}

const FROM = /^[ \t]*(?:import|export)\s+(type\s+)?[\w$*{][\w$*{},\s]*?\sfrom\s+["']([^"']+)["']/gm;
const BARE = /^[ \t]*import\s+["']([^"']+)["']/gm;
const DYNAMIC = /\bimport\(\s*["']([^"']+)["']\s*\)/g;

export function importsOf(file: string, source: string): Import[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*$/gm, "");
  const found = [
    ...[...code.matchAll(FROM)].map((match) => ({ specifier: match[2], isType: match[1] !== undefined })),
    ...[...code.matchAll(BARE)].map((match) => ({ specifier: match[1], isType: false })),
    ...[...code.matchAll(DYNAMIC)].map((match) => ({ specifier: match[1], isType: false })),
  ];
  return found.map(({ specifier, isType }) => ({ file, target: resolve(file, specifier), isType }));
}

/** `./earrrl.js` in `algorithms/earrrl/vectors.ts` is `algorithms/earrrl/earrrl.ts`; it may lead out of `src/` (`../…`). */
function resolve(file: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  return posix.join(posix.dirname(file), specifier).replace(/\.js$/, ".ts");
}

/** All TypeScript sources of a folder but the tests, which may import what they like. */
export function readSources(folder: string): Sources {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith(".test.ts"));
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
}

/** Everything reachable from a file, itself included. */
export function graphFrom(start: string, imports: readonly Import[]): Set<string> {
  const reached = new Set([start]);
  for (const file of reached) {
    for (const { target } of imports.filter((each) => each.file === file)) reached.add(target);
  }
  return reached;
}

/** Import cycles that exist at run time, each as `a → b → a`. Types may refer to each other. */
export function cyclesAmong(imports: readonly Import[]): string[] {
  const targets = new Map<string, string[]>();
  for (const { file, target, isType } of imports) {
    if (!isType) targets.set(file, [...(targets.get(file) ?? []), target]);
  }
  const cycles: string[] = [];
  const done = new Set<string>();

  function visit(file: string, path: readonly string[]): void {
    if (path.includes(file)) {
      cycles.push([...path.slice(path.indexOf(file)), file].join(" → "));
      return;
    }
    if (done.has(file)) return;
    for (const target of targets.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  }

  for (const file of targets.keys()) visit(file, []);
  return cycles;
}

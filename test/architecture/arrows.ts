import { posix } from "node:path";
import { type Import, importsOf, type Sources } from "./imports.js";

/** One row: which files it is about, what they may import, and why not more. */
export interface Arrow {
  /** Paths below `src/`. The first row that matches a file governs it. */
  readonly from: string;
  /** `own/**` is the file's own folder and below; `!x` takes x away again. */
  readonly may: readonly string[];
  /** Allowed as `import type` only. */
  readonly mayType?: readonly string[];
  readonly because: string;
}

const PURE = "{limit,check,decision,duration,errors}.ts";
const ASSEMBLED = "!{index,gate,assemble-gate,limiter}.ts";

/** The import arrows of the library, row by row. A room without a row is a violation: give it one. */
export const libraryArrows: readonly Arrow[] = [
  {
    from: "index.ts",
    may: ["**", "!node:*", "!testing/**", "!http/**"],
    because:
      "the public face wires the defaults; it runs in Workers, and adapters have entry points of their own",
  },
  {
    from: "{assemble-gate,limiter}.ts",
    may: ["*.ts", "!index.ts", "policy/**", "algorithms/**"],
    because: "what assembles knows the seams and the policy; the store is handed in, and HTTP knows the gate",
  },
  {
    from: "gate.ts",
    may: ["*.ts", ASSEMBLED],
    mayType: ["policy/rule-options.ts"],
    because: "the gate's seam names its rules; how they are judged is the policy's to know",
  },
  {
    from: "*.ts",
    may: ["*.ts", ASSEMBLED],
    because: "the spine is the seams: it knows none of the rooms that hang on it",
  },
  {
    from: "algorithms/*.ts",
    may: [PURE, "algorithms/**"],
    because: "what algorithms share is as pure as they are",
  },
  {
    from: "algorithms/**",
    may: [PURE, "own/**", "algorithms/*.ts"],
    mayType: ["testing/vector.ts"],
    because: "an algorithm is pure: no clock, no store, no other algorithm",
  },
  {
    from: "stores/packed/**",
    may: ["*.ts", ASSEMBLED, "own/**", "node:*"],
    because: "the packed state is what stores share; it knows none of them",
  },
  {
    from: "stores/memory/**",
    may: ["*.ts", ASSEMBLED, "own/**", "stores/packed/**"],
    because: "a store knows the seams, no policy and no algorithm by name; this one runs in Workers too",
  },
  {
    from: "stores/redis/**",
    may: ["*.ts", ASSEMBLED, "stores/redis/**", "stores/packed/**", "node:*"],
    because: "what lives in Redis shares one way to it, and knows no policy",
  },
  {
    from: "stores/**",
    may: ["*.ts", ASSEMBLED, "own/**", "stores/packed/**", "node:*"],
    because: "a store knows the seams, no policy and no algorithm by name (the assembled Lua is generated)",
  },
  {
    from: "policy/**",
    may: ["*.ts", "!{index,assemble-gate}.ts", "policy/**", "algorithms/**"],
    because: "policy knows neither HTTP nor where counts live",
  },
  {
    from: "http/**",
    may: ["*.ts", "own/**", "policy/identity/**"],
    mayType: ["node:*", "pkg:*"],
    because:
      "an adapter knows the gate and who the client is, and its framework by type only: the app brings it",
  },
  {
    from: "compat/**",
    may: ["*.ts", "own/**"],
    because: "what stands in another library's place is built on the public face",
  },
  {
    from: "presets/**",
    may: [
      "*.ts",
      "presets/**",
      "policy/{identity,matching}/**",
      "http/{account,target}.ts",
      "stores/**",
      "node:*",
    ],
    because: "a preset speaks a seed's own layout, so it may know stores by name",
  },
  {
    from: "simulate/**",
    may: ["*.ts", "own/**", "policy/**", "algorithms/**", "stores/memory/**"],
    because: "a rehearsal runs the real policy and algorithms, in memory, on a virtual clock",
  },
  {
    from: "testing/**",
    may: ["**", "node:*", "pkg:vitest"],
    because: "only tests import `tidegate/testing`, and it may bring a test runner along",
  },
];

/** One line for each import that no row allows. */
export function violations(arrows: readonly Arrow[], sources: Sources): string[] {
  return Object.entries(sources).flatMap(([file, source]) => {
    const arrow = arrows.find(({ from }) => matches(from, file));
    if (!arrow) return [`${file} stands in a room without a row in the table of arrows`];
    return importsOf(file, source)
      .filter((each) => !isAllowed(arrow, each))
      .map(({ target }) => `${file} must not import ${target}: ${arrow.because}`);
  });
}

function isAllowed(arrow: Arrow, { file, target, isType }: Import): boolean {
  const own = posix.dirname(file);
  const patterns = isType ? [...arrow.may, ...(arrow.mayType ?? [])] : arrow.may;
  let allowed = false;
  for (const pattern of patterns) {
    const isTakenAway = pattern.startsWith("!");
    const glob = (isTakenAway ? pattern.slice(1) : pattern).replace(/^own\//, `${own}/`);
    if (matches(glob, tagged(target))) allowed = !isTakenAway;
  }
  return allowed;
}

/** Files end in `.ts`, built-ins begin with `node:`; the rest are packages. */
function tagged(target: string): string {
  return target.endsWith(".ts") || target.startsWith("node:") ? target : `pkg:${target}`;
}

/** `*` stays within a folder, `**` does not; neither leaves `src/` nor stands for a package or built-in. */
function matches(glob: string, path: string): boolean {
  if (path.startsWith("../")) return false;
  if (path.includes(":") && !glob.includes(":")) return false;
  const pattern = glob
    .replace(/[.+^$()|[\]\\]/g, "\\$&")
    .replace(/\{([^}]*)\}/g, (_, names: string) => `(?:${names.replaceAll(",", "|")})`)
    .replace(/\*\*|\*/g, (star) => (star === "**" || glob.includes(":") ? ".*" : "[^/]*"));
  return new RegExp(`^${pattern}$`).test(path);
}

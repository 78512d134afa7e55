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
const ASSEMBLED = "!{index,gate,assemble-gate,gate-surroundings,limiter}.ts";

/** The import arrows of the library, row by row. A room without a row is a violation: give it one. */
export const libraryArrows: readonly Arrow[] = [
  {
    from: "index.ts",
    may: ["**", "!node:*", "!testing/**", "!http/**"],
    because:
      "the public face wires the defaults; it runs in Workers, and adapters have entry points of their own",
  },
  {
    from: "{assemble-gate,gate-surroundings,limiter}.ts",
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
    may: ["*.ts", "!{index,assemble-gate,gate-surroundings}.ts", "policy/**", "algorithms/**"],
    because: "policy knows neither HTTP nor where counts live",
  },
  {
    from: "http/**",
    may: ["*.ts", "own/**", "policy/identity/**", "policy/matching/{match,path}.ts"],
    mayType: ["node:*", "pkg:*"],
    because:
      "an adapter knows the gate, who the client is and how requests are matched, and its framework by type only: the app brings it",
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
    from: "simulate/traffic/**",
    may: ["own/**"],
    mayType: ["simulate/rehearsal.ts"],
    because: "modelled traffic knows no policy: it would not be the truth",
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

const LIBRARY = "pkg:tidegate*";
const SPINE =
  "{settings,data,edge,edge-feed,offenders,hold,refusal,control-desk,problem,log,secret,closing,version,printable,kept-request,fact-text,said-once,end-in-one-piece,answering,make-folder,sql-parameters}.ts";

/** The import arrows of the server. The library is known by its public entry points only, which is what a package's name is. */
export const serverArrows: readonly Arrow[] = [
  {
    from: "{server,core,front,back,counts,reread-file,index}.ts",
    may: ["**", "!cli/**", "node:*", "pkg:*"],
    because: "what assembles the server knows its rooms; how it is started is the command's to know",
  },
  {
    from: "*.ts",
    may: [SPINE, LIBRARY, "node:*"],
    mayType: ["pkg:*"],
    because: "the spine is the seams: it knows none of the rooms",
  },
  {
    from: "config/**",
    may: [SPINE, "own/**", LIBRARY, "node:*", "pkg:{yaml,zod}"],
    because: "reading a file opens nothing",
  },
  {
    from: "data/**",
    may: [SPINE, "data/**", LIBRARY, "node:*", "pkg:{libsql,@redis/client}"],
    because: "data is kept, not understood",
  },
  {
    from: "policy/**",
    may: [SPINE, "own/**", LIBRARY, "node:*"],
    because: "which version rules is decided without knowing where versions are kept or how a file is read",
  },
  {
    from: "proxy/**",
    may: [SPINE, "own/**", LIBRARY, "node:*", "pkg:{undici,prom-client}"],
    because: "the proxy knows the gate and its upstreams",
  },
  {
    from: "decide/**",
    may: [SPINE, "own/**", "listen/bearer.ts", LIBRARY, "node:*", "pkg:prom-client"],
    because: "the decision service knows the gate and its callers",
  },
  {
    from: "client/**",
    may: ["own/**", "fact-text.ts", LIBRARY, "node:*", "pkg:undici"],
    mayType: ["decide/**"],
    because: "the client lives in other people's processes",
  },
  {
    from: "edges/**",
    may: [SPINE, "edges/**", LIBRARY, "node:*"],
    because: "an edge knows what it is to be told, and nobody who tells it",
  },
  {
    from: "listen/**",
    may: [SPINE, "own/**", LIBRARY, "node:*"],
    because: "a listener knows nothing of what it serves",
  },
  {
    from: "observe/**",
    may: [SPINE, "own/**", LIBRARY, "node:*", "pkg:{pino,prom-client}"],
    because: "who observes changes nothing",
  },
  {
    from: "api/**",
    may: [
      SPINE,
      "own/**",
      "api/**",
      "listen/bearer.ts",
      "config/**",
      LIBRARY,
      "node:*",
      "pkg:{hono*,@hono/*,zod,prom-client}",
    ],
    mayType: ["policy/**", "customers/**", "live/**"],
    because: "a handler asks the gate, the data and the keeper it was handed",
  },
  {
    from: "customers/**",
    may: [SPINE, "own/**", LIBRARY, "node:*", "pkg:{pg,libsql,undici}"],
    because: "a primary database is reached from here and nowhere else",
  },
  {
    from: "control/**",
    may: [SPINE, "control/**", LIBRARY, "node:*", "pkg:prom-client"],
    because: "control knows who is held; edges are handed in",
  },
  {
    from: "live/**",
    may: [SPINE, "own/**", LIBRARY, "node:*"],
    because: "who watches changes nothing, and what he watches is handed in",
  },
  {
    from: "plots/**",
    may: ["own/**", LIBRARY, "node:*", "pkg:@resvg/resvg-js"],
    because: "what is drawn is handed in, and where it goes is the command's to know",
  },
  {
    from: "rehearse/**",
    may: [SPINE, "rehearse/**", LIBRARY, "node:*"],
    because: "a log is read, not understood: what it means under a policy is the library's to say",
  },
  {
    from: "demo/**",
    may: ["node:*"],
    because: "the demo's app is any app",
  },
  {
    from: "workers/**",
    may: [SPINE, "own/**", "node:*", "pkg:prom-client", LIBRARY],
    mayType: ["server.ts"],
    because: "workers are processes; what they run is the command's to know",
  },
  {
    from: "cli/**",
    may: ["**", "node:*", "pkg:*"],
    because: "the command starts the server, and otherwise speaks to its API",
  },
];

const PAGE_SPINE = "*.{ts,tsx}";
const PAGE_LIBRARIES = "pkg:{preact,preact/hooks,@preact/signals}";

/** The import arrows of the dashboard. It speaks to the server by its API, and knows what is answered by type. */
export const dashboardArrows: readonly Arrow[] = [
  {
    from: "types.ts",
    may: [],
    mayType: ["../../tidegate-server/src/api/types.ts", "../../tidegate-server/src/rehearse/input-facts.ts"],
    because: "of the server only what its API and its reports say is known, and only as types",
  },
  {
    from: "{main,shell}.tsx",
    may: [PAGE_SPINE, "{live,pages,parts}/**", "pkg:*.css", PAGE_LIBRARIES],
    because: "the frame knows the pages",
  },
  {
    from: PAGE_SPINE,
    may: [PAGE_SPINE, "!{main,shell}.tsx", PAGE_LIBRARIES],
    because: "the spine is what every page stands on",
  },
  {
    from: "live/**",
    may: [PAGE_SPINE, "!{main,shell}.tsx", "own/**", PAGE_LIBRARIES],
    because: "what is known of the server is the same on every page",
  },
  {
    from: "report/**",
    may: [
      "{types,words}.ts",
      "style.css",
      "parts/{table,foreign,swatch}.tsx",
      "own/**",
      PAGE_LIBRARIES,
      "pkg:{uplot*,*.css}",
    ],
    because: "a report is shown without a server too: everything comes in as data",
  },
  {
    from: "parts/**",
    may: [PAGE_SPINE, "!{main,shell}.tsx", "live/**", "report/**", "own/**", PAGE_LIBRARIES, "pkg:uplot*"],
    because: "a part stands on any page",
  },
  {
    from: "playground/**",
    may: [
      "style.css",
      "parts/line-plot.tsx",
      "own/**",
      PAGE_LIBRARIES,
      "pkg:{uplot*,*.css,tidegate/simulate}",
    ],
    because: "the playground is a page of its own too, without a server",
  },
  {
    from: "pages/**",
    may: [
      PAGE_SPINE,
      "!{main,shell}.tsx",
      "live/**",
      "parts/**",
      "playground/playground.tsx",
      "own/**",
      PAGE_LIBRARIES,
    ],
    because: "a page is made of parts, and knows no other page",
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

/** Files end in `.ts` or `.tsx`, built-ins begin with `node:`; the rest are packages. */
function tagged(target: string): string {
  return /\.tsx?$/.test(target) || target.startsWith("node:") ? target : `pkg:${target}`;
}

/** `*` stays within a folder, `**` does not; neither leaves `src/`, which only a path that begins with `../` does, nor stands for a package or built-in. */
function matches(glob: string, path: string): boolean {
  if (path.startsWith("../") !== glob.startsWith("../")) return false;
  if (path.includes(":") && !glob.includes(":")) return false;
  const pattern = glob
    .replace(/[.+^$()|[\]\\]/g, "\\$&")
    .replace(/\{([^}]*)\}/g, (_, names: string) => `(?:${names.replaceAll(",", "|")})`)
    .replace(/\*\*|\*/g, (star) => (star === "**" || glob.includes(":") ? ".*" : "[^/]*"));
  return new RegExp(`^${pattern}$`).test(path);
}

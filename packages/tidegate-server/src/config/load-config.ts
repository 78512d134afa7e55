import { dirname, resolve } from "node:path";
import type { Policy } from "tidegate";
import { Secret } from "../secret.js";
import { hasSilentCallers, type Settings, type UpstreamSettings } from "../settings.js";
import { checkTogether } from "./check-together.js";
import type { ConfigProblem } from "./config-file-error.js";
import { demoText } from "./demo-text.js";
import { FileReader } from "./file-reader.js";
import { applyOverrides, type Overrides } from "./overrides.js";
import { policyAt } from "./parse-policy.js";
import { policyShape } from "./policy-shape.js";
import { policyText } from "./policy-text.js";
import { ProblemList } from "./problem-list.js";
import { readSettings } from "./read-settings.js";
import { fileShape } from "./settings-shape.js";
import { unknownKeys } from "./shape-problems.js";
import { readSource, type Source, sourceOf } from "./source.js";
import { readTree, type Tree } from "./tree.js";
import type { ToldFact } from "./untold-facts.js";

export type { Overrides } from "./overrides.js";

/** A configuration, found to be in order. */
export interface Loaded {
  readonly settings: Settings;
  /** The policy by itself, as YAML: `parsePolicy` reads it. */
  readonly policyText: string;
  /** What to look at, though nothing is wrong. */
  readonly warnings: readonly ConfigProblem[];
  /** Absolute. Undefined: the demo. */
  readonly file?: string;
  /** All of the file as it was read. */
  readonly text?: Secret;
  /** The file as it stands by now, on the same terms: flags, environment, folder. Throws as `loadConfig` does. */
  readonly again?: () => Loaded;
}

export interface LoadOptions {
  /** Without it the demo's settings hold. */
  readonly file?: string;
  /** What the file said when it was read before: then it is not read now. */
  readonly text?: string;
  readonly overrides?: Overrides;
  /** Default `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
  /** Default the current folder. */
  readonly cwd?: string;
  /** For who only looks: a token whose variable is not set is a warning (`TG_ENV_MISSING`), and the settings hold something else. */
  readonly canLackTokens?: boolean;
}

const noConfig = "name another with --config, or leave it out for the demo.";

/** Reads a configuration. Throws a `ConfigFileError` that names everything wrong with it, by line. */
export function loadConfig(options: LoadOptions = {}): Loaded {
  const { overrides = {}, env = process.env, cwd = process.cwd(), canLackTokens } = options;
  if (options.file === undefined) return demoConfig(overrides, { cwd });
  const file = resolve(cwd, options.file);
  const folder = dirname(file);
  const { text, ...terms } = options;
  const source = text === undefined ? readSource(file, noConfig) : sourceOf(file, text);
  return {
    ...load({ source, overrides, env, cwd, folder, canLackTokens }),
    file,
    text: new Secret(source.text),
    again: () => loadConfig({ ...terms, file, cwd }),
  };
}

/** The same of a text, or a file's bytes, that stands nowhere. */
export function loadText(
  text: string | Uint8Array,
  options: Omit<LoadOptions, "file" | "text"> = {},
): Loaded {
  const { overrides = {}, env = process.env, cwd = process.cwd(), canLackTokens } = options;
  const source = sourceOf("the configuration", text);
  return load({ source, overrides, env, cwd, folder: cwd, canLackTokens });
}

/** What is run without a file: an app of ours behind 100 requests a minute. */
export function demoConfig(
  overrides: Overrides = {},
  { cwd = process.cwd() }: { cwd?: string } = {},
): Loaded {
  const source = sourceOf("the demo", demoText);
  return load({ source, overrides, env: {}, cwd, folder: cwd, upstreams: [demoUpstream] });
}

/** The server starts the app and fills in where it is. */
const demoUpstream: UpstreamSettings = { name: "demo", urls: [], hosts: [], path: "/" };

interface LoadTerms {
  readonly source: Source;
  readonly overrides: Overrides;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly folder: string;
  readonly upstreams?: readonly UpstreamSettings[];
  readonly canLackTokens?: boolean | undefined;
}

function load(terms: LoadTerms): Loaded {
  const { source, overrides, env, cwd, folder, upstreams, canLackTokens = false } = terms;
  const problems = new ProblemList(source);
  const tree = readTree(source, problems);
  if (tree === undefined) throw problems.error();
  const reader = new FileReader({ tree, problems, env, folder, canLackTokens });
  unknownKeys({ value: tree.value, shape: fileShape, problems, elsewhere });
  const read = readSettings(reader);
  const isDemo = upstreams !== undefined && overrides.upstream === undefined;
  const own = { ...read, isDemo, upstreams: upstreams ?? read.upstreams };
  const settings = applyOverrides(own, overrides, { problems, cwd });
  checkTogether(settings, overrides, reader);
  const policy = readOwnPolicy(tree, settings, reader);
  const text = policyText(source, tree, problems);
  problems.throwIfAny();
  if (policy?.rules.length === 0 && settings.control.track === undefined) reader.warn(["policy"], noRules);
  return { settings, policyText: text, warnings: reader.warnings };
}

function readOwnPolicy(tree: Tree, settings: Settings, reader: FileReader): Policy | undefined {
  const { problems, warnings } = reader;
  // What is wrong with the edges is told already.
  const areEdgesRead = reader.isSound("edges") && reader.isSound("control");
  return policyAt({
    value: tree.value.policy === undefined ? { rules: [] } : tree.value.policy,
    path: ["policy"],
    terms: {
      canFinish: !hasSilentCallers(settings),
      identity: settings.identity,
      store: settings.store.kind,
      untold: untoldTo(settings),
      ...(areEdgesRead && { edges: settings }),
    },
    problems,
    onWarning: (warning) => warnings.push(warning),
  });
}

/** Whom the proxy does not know, for want of being told where to look. */
function untoldTo({ listen, identify }: Settings): readonly ToldFact[] {
  if (listen.proxy === undefined) return [];
  return (["account", "customer", "user"] as const).filter((fact) => identify[fact] === undefined);
}

function elsewhere(key: string): string | undefined {
  return Object.hasOwn(policyShape.shape, key) ? `Write it under policy: policy: { ${key}: … }.` : undefined;
}

const noRules = {
  code: "TG_POLICY_EMPTY",
  message: "The policy has no rules, so nobody is limited.",
  help: "Write some under policy, e.g. rules: [{ name: req/ip, by: ip, limits: [100 per minute] }].",
};

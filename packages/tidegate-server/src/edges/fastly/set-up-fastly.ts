import { EdgeError } from "../../edge.js";
import type { FastlyEdgeSettings } from "../../settings.js";
import { activeVersion, dictionaryIds, listOf } from "./dictionaries.js";
import { type FastlyAnswer, type FastlyClient, fastlyClient, notSetUp } from "./fastly-client.js";
import { type FastlyRenderOptions, fastlyCalls, renderFastly } from "./render-fastly.js";
import { confName, shardNames } from "./shards.js";
import { writeBudget } from "./write-budget.js";

export interface FastlySetUpOptions {
  readonly settings: FastlyEdgeSettings & { readonly name?: string };
  /** As the identity's `fingerprint` says. */
  readonly fingerprint?: FastlyRenderOptions["fingerprint"];
  /** Says what would be done, and does nothing. */
  readonly isDryRun: boolean;
  readonly log?: (line: string) => void;
  readonly signal?: AbortSignal;
}

export interface FastlySetUp {
  /** One line each, as told to `log`. */
  readonly steps: readonly string[];
  /** The version that serves afterwards. */
  readonly version: number;
}

interface Snippet {
  readonly name: string;
  readonly type: string;
  readonly content: string;
}

/** Before what the service's own snippets do: those have 100 unless told otherwise. */
const priority = "10";

/**
 * Brings dictionaries and VCL into a service: clones the version that serves, adds what is missing, lets Fastly validate it and
 * activates it. Other people's drafts are left alone. Done again, or after a failure, it does what is still to be done.
 */
export async function setUpFastly(options: FastlySetUpOptions): Promise<FastlySetUp> {
  const { settings } = options;
  return setUp(options).catch((error: unknown) => {
    throw isUnreached(error) ? unreachedNow(error, settings.api) : error;
  });
}

async function setUp(options: FastlySetUpOptions): Promise<FastlySetUp> {
  const { settings, isDryRun, log = () => {}, signal = new AbortController().signal } = options;
  const budget = writeBudget({ burst: 1, clock: Date.now });
  const client = fastlyClient({ ...settings, name: settings.name ?? "fastly", budget });
  const steps: string[] = [];
  const say = (line: string): void => {
    steps.push(line);
    log(line);
  };

  const from = await activeVersion(client, signal);
  const missing = await whatIsMissing(client, options, from, signal);
  if (missing.dictionaries.length + missing.snippets.length === 0) {
    say(`Version ${from} is active and has everything.`);
    return { steps, version: from };
  }
  for (const draft of await draftsAfter(client, from, signal))
    say(
      `Version ${draft} is a draft of somebody's: it is left alone, and lacks what follows. Run this again once it is active.`,
    );

  const would = isDryRun ? "Would clone" : "Clone";
  say(`${would} version ${from}, which is active.`);
  const to = isDryRun ? undefined : await clone(client, from, signal);
  try {
    for (const name of missing.dictionaries) {
      say(`${isDryRun ? "Would create" : "Create"} the dictionary ${name}.`);
      if (to !== undefined) await must(client, "POST", `/version/${to}/dictionary`, { name }, signal);
    }
    for (const { name, type, content, isThere } of missing.snippets) {
      say(`${wordFor(isThere, isDryRun)} the snippet ${name} (${type}).`);
      if (to === undefined) continue;
      const path = `/version/${to}/snippet`;
      if (isThere)
        await must(client, "PUT", `${path}/${encodeURIComponent(name)}`, { content, type, priority }, signal);
      else await must(client, "POST", path, { name, type, content, priority, dynamic: "0" }, signal);
    }
    if (to === undefined) {
      say("Would let Fastly validate it, and activate it.");
      return { steps, version: from };
    }
    say(`Validate version ${to}.`);
    await validate(client, to, signal);
    await expectUntouched(client, options, { from, to }, signal);
    say(`Activate version ${to}.`);
    await must(client, "PUT", `/version/${to}/activate`, undefined, signal);
    return { steps, version: to };
  } catch (error) {
    if (to !== undefined)
      say(`Version ${to} stays a draft and serves nobody; version ${from} was not changed.`);
    throw error;
  }
}

interface Missing {
  readonly dictionaries: readonly string[];
  readonly snippets: readonly (Snippet & { readonly isThere: boolean })[];
}

async function whatIsMissing(
  client: FastlyClient,
  { settings, fingerprint }: FastlySetUpOptions,
  version: number,
  signal: AbortSignal,
): Promise<Missing> {
  const { prefix, shards } = settings;
  const ids = await dictionaryIds(client, version, signal);
  const there = await listOf(client, `/version/${version}/snippet`, signal);
  const snippets = snippetsFor(settings, fingerprint).flatMap((snippet) => {
    const found = there.find(({ name }) => name === snippet.name);
    if (found === undefined) return [{ ...snippet, isThere: false }];
    if (String(found.dynamic) === "1" || !String(found.content).includes(prefix))
      throw notSetUp(
        client.edge,
        `the service has a snippet ${snippet.name} that is not ours: give the edge another prefix.`,
      );
    const isSame = found.content === snippet.content && found.type === snippet.type;
    return isSame ? [] : [{ ...snippet, isThere: true }];
  });
  const names = [...shardNames(prefix, shards), confName(prefix)];
  return { dictionaries: names.filter((name) => !ids.has(name)), snippets };
}

/** The include as one snippet above all subroutines, and a line in each of four. */
function snippetsFor(
  settings: FastlyEdgeSettings,
  fingerprint: FastlyRenderOptions["fingerprint"],
): Snippet[] {
  const { prefix, shards, canary } = settings;
  const canaryPath = canary === undefined ? undefined : new URL(canary).pathname;
  const { files } = renderFastly({
    prefix,
    shards,
    ...(fingerprint && { fingerprint }),
    ...(canaryPath && { canaryPath }),
  });
  const include = {
    name: `${prefix}_include`,
    type: "init",
    content: files.map(({ text }) => text).join("\n"),
  };
  return [
    include,
    ...fastlyCalls.map((type) => ({ name: `${prefix}_${type}`, type, content: `call ${prefix}_${type};` })),
  ];
}

async function draftsAfter(client: FastlyClient, from: number, signal: AbortSignal): Promise<number[]> {
  const versions = await listOf(client, "/version", signal);
  return versions.flatMap(({ number, active, locked }) =>
    typeof number === "number" && number > from && active !== true && locked !== true ? [number] : [],
  );
}

async function clone(client: FastlyClient, from: number, signal: AbortSignal): Promise<number> {
  const { body } = await must(client, "PUT", `/version/${from}/clone`, undefined, signal);
  const { number } = (body ?? {}) as { number?: unknown };
  if (typeof number !== "number")
    throw notSetUp(client.edge, `version ${from} was cloned, and Fastly does not say to which.`);
  await must(
    client,
    "PUT",
    `/version/${number}`,
    { comment: `Tidegate: edge setup, from version ${from}` },
    signal,
  );
  return number;
}

async function validate(client: FastlyClient, version: number, signal: AbortSignal): Promise<void> {
  const { status, body } = await client.get(`/version/${version}/validate`, signal);
  const { status: verdict, msg } = (body ?? {}) as { status?: unknown; msg?: unknown };
  if (status >= 300 || verdict !== "ok")
    throw notSetUp(
      client.edge,
      `Fastly does not find version ${version} valid: ${client.detail({ status, body: { msg }, headers: new Headers() })}.`,
    );
}

/** Meanwhile nobody locked, changed or overtook it: what is activated is what was cloned and what we added. */
async function expectUntouched(
  client: FastlyClient,
  options: FastlySetUpOptions,
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): Promise<void> {
  const versions = await listOf(client, "/version", signal);
  const mine = versions.find(({ number }) => number === to);
  const isServing = versions.some(({ number, active }) => number === from && active === true);
  const left = await whatIsMissing(client, options, to, signal);
  const before = await listOf(client, `/version/${from}/snippet`, signal);
  const after = await listOf(client, `/version/${to}/snippet`, signal);
  const ours = new Set(snippetsFor(options.settings, options.fingerprint).map(({ name }) => name));
  const others = (snippets: Record<string, unknown>[]): string =>
    JSON.stringify(
      snippets
        .filter(({ name }) => !ours.has(String(name)))
        .map(({ name, content }) => [name, content])
        .sort(),
    );
  if (
    !isServing ||
    mine?.locked === true ||
    left.dictionaries.length + left.snippets.length > 0 ||
    others(before) !== others(after)
  )
    throw notSetUp(
      client.edge,
      `somebody else changed the service meanwhile: version ${to} is not activated.`,
    );
}

async function must(
  client: FastlyClient,
  method: "POST" | "PUT",
  path: string,
  fields: Record<string, string> | undefined,
  signal: AbortSignal,
): Promise<FastlyAnswer> {
  const answer = await client.write(method, path, fields && new URLSearchParams(fields), signal);
  if (answer.status >= 300)
    throw notSetUp(client.edge, `${method} ${path} was answered ${answer.status}, ${client.detail(answer)}.`);
  return answer;
}

function isUnreached(error: unknown): error is EdgeError {
  return error instanceof EdgeError && error.code === "TG_EDGE_UNREACHED";
}

/** Nobody tries again by himself here. */
function unreachedNow({ code, edge, message, help }: EdgeError, api: string): EdgeError {
  const words = message.slice(`${edge}: `.length, -` ${help} [${code}]`.length);
  const advice = `See that ${api} can be reached from here, then run it again: it does what is still to be done.`;
  return new EdgeError(code, edge, words, advice, true);
}

function wordFor(isThere: boolean, isDryRun: boolean): string {
  const word = isThere ? "replace" : "create";
  return isDryRun ? `Would ${word}` : word.charAt(0).toUpperCase() + word.slice(1);
}

import { createHash } from "node:crypto";
import { EdgeError } from "../../edge.js";
import { type FastlyClient, notSetUp, unreached } from "./fastly-client.js";

/** An item of a dictionary: its key to its value. */
export type Items = Map<string, string>;

/** What stands in one dictionary, and by what Fastly tells that it has changed. */
export interface DictionaryState {
  readonly items: Items;
  readonly stamp: string;
}

const perPage = 100;
/** No dictionary has so many. */
const mostPages = 1_000;

/** The number of the version that serves. */
export async function activeVersion(client: FastlyClient, signal: AbortSignal): Promise<number> {
  const versions = await listOf(client, "/version", signal);
  const active = versions.find((version) => version.active === true)?.number;
  if (typeof active !== "number") throw notSetUp(client.edge, "the service has no active version.");
  return active;
}

/** Dictionaries of a version, name to id. */
export async function dictionaryIds(
  client: FastlyClient,
  version: number,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const found = await listOf(client, `/version/${version}/dictionary`, signal);
  return new Map(
    found.flatMap(({ name, id }) =>
      typeof name === "string" && typeof id === "string" && /^\w{1,64}$/.test(id) ? [[name, id]] : [],
    ),
  );
}

/** A dictionary as it is now; the one known already where Fastly says that nothing has changed. */
export async function readDictionary(
  client: FastlyClient,
  { version, id }: { readonly version: number; readonly id: string },
  known: DictionaryState | undefined,
  signal: AbortSignal,
): Promise<DictionaryState> {
  const info = `/version/${version}/dictionary/${id}/info`;
  const stamp = await stampOf(client, info, signal);
  if (known?.stamp === stamp) return known;
  for (let before = stamp, tries = 1; ; tries++) {
    const items = await listItems(client, id, signal);
    const after = await stampOf(client, info, signal);
    // Pages move while somebody writes: what was listed then may lack some.
    if (after === before || tries === 3) return { items, stamp: after === before ? after : "" };
    before = after;
  }
}

function noService({ edge, service }: FastlyClient): EdgeError {
  return new EdgeError(
    "TG_EDGE_SETUP",
    edge,
    `there is no service ${service} for this token (404).`,
    "Write the service's id as Fastly shows it, and give the edge a token that may see this service.",
    false,
  );
}

/** Of `{ digest, item_count, last_updated }`. */
async function stampOf(client: FastlyClient, info: string, signal: AbortSignal): Promise<string> {
  const { body } = await ask(client, info, signal);
  return createHash("sha256").update(JSON.stringify(body)).digest("hex");
}

async function listItems(client: FastlyClient, id: string, signal: AbortSignal): Promise<Items> {
  const items: Items = new Map();
  for (let page = 1; page <= mostPages; page++) {
    const query = `?page=${page}&per_page=${perPage}&sort=created&direction=ascend`;
    const rows = await listOf(client, `/dictionary/${id}/items${query}`, signal);
    for (const { item_key: key, item_value: value } of rows)
      if (typeof key === "string" && typeof value === "string") items.set(key, value);
    if (rows.length < perPage) return items;
  }
  throw unreached(client.edge, `dictionary ${id} was listed without an end.`);
}

/** Anything listed, each an object. */
export async function listOf(
  client: FastlyClient,
  path: string,
  signal: AbortSignal,
): Promise<Record<string, unknown>[]> {
  const { body } = await ask(client, path, signal);
  if (!Array.isArray(body))
    throw unreached(
      client.edge,
      `GET ${path.split("?", 1)[0]} was answered with something other than a list.`,
    );
  return body.filter((row): row is Record<string, unknown> => typeof row === "object" && row !== null);
}

async function ask(client: FastlyClient, path: string, signal: AbortSignal) {
  const answer = await client.get(path, signal);
  if (answer.status < 300) return answer;
  if (answer.status === 404 && path === "/version") throw noService(client);
  const what = `GET ${path.split("?", 1)[0]} was answered ${answer.status}, ${client.detail(answer)}.`;
  throw answer.status === 404 ? notSetUp(client.edge, what) : unreached(client.edge, what);
}

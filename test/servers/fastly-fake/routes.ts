import { bulk, info, one, shownItem } from "./items.js";
import {
  activate,
  badRequest,
  cloneVersion,
  type Dictionary,
  draft,
  generatedVcl,
  limits,
  newId,
  notFound,
  Refusal,
  type Service,
  type Snippet,
  snippetTypes,
  timeNow,
  type Version,
  validate,
} from "./service.js";

/** A request, read. */
export interface Call {
  readonly service: Service;
  readonly query: URLSearchParams;
  /** A form's fields. Throws where the body is none. */
  form(): URLSearchParams;
  json(): unknown;
  readonly poison: ReadonlySet<string>;
  readonly maxItems: number;
}

export interface Reply {
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

type Handler = (call: Call, ...parts: string[]) => Reply | Promise<Reply>;

/** Paths below `/service/<id>`, as they are documented. */
export const routes: readonly (readonly [method: string, path: RegExp, handler: Handler])[] = [
  [
    "GET",
    /^$/,
    ({ service }) => ({ body: { ...shownService(service), version: active(service)?.number ?? 1 } }),
  ],
  ["GET", /^\/details$/, details],
  [
    "GET",
    /^\/version$/,
    ({ service }) => ({ body: [...service.versions.values()].map((each) => shownVersion(service, each)) }),
  ],
  ["GET", /^\/version\/(\d+)$/, on(({ service }, version) => ({ body: shownVersion(service, version) }))],
  ["PUT", /^\/version\/(\d+)$/, on(comment)],
  [
    "PUT",
    /^\/version\/(\d+)\/clone$/,
    on(({ service }, version) => ({ body: shownVersion(service, cloneVersion(service, version)) })),
  ],
  ["PUT", /^\/version\/(\d+)\/activate$/, on(activated)],
  ["PUT", /^\/version\/(\d+)\/lock$/, on(locked)],
  ["GET", /^\/version\/(\d+)\/validate$/, on(validated)],
  ["GET", /^\/version\/(\d+)\/generated_vcl$/, on(generated)],
  ["GET", /^\/version\/(\d+)\/dictionary$/, on(dictionaries)],
  ["POST", /^\/version\/(\d+)\/dictionary$/, on(createDictionary)],
  ["GET", /^\/version\/(\d+)\/dictionary\/([^/]+)\/info$/, on(dictionaryInfo)],
  ["GET", /^\/version\/(\d+)\/dictionary\/([^/]+)$/, on(describeDictionary)],
  ["DELETE", /^\/version\/(\d+)\/dictionary\/([^/]+)$/, on(deleteDictionary)],
  [
    "GET",
    /^\/version\/(\d+)\/snippet$/,
    on(({ service }, version) => ({
      body: [...version.snippets.values()].map((each) => shownSnippet(service, version, each)),
    })),
  ],
  ["POST", /^\/version\/(\d+)\/snippet$/, on(createSnippet)],
  [
    "GET",
    /^\/version\/(\d+)\/snippet\/([^/]+)$/,
    on(({ service }, version, name) => ({ body: shownSnippet(service, version, snippetOf(version, name)) })),
  ],
  ["PUT", /^\/version\/(\d+)\/snippet\/([^/]+)$/, on(updateSnippet)],
  [
    "GET",
    /^\/version\/(\d+)\/vcl$/,
    on(({ service }, version) => ({
      body: [...version.vcls.values()].map((vcl) => ({
        ...vcl,
        service_id: service.id,
        version: version.number,
      })),
    })),
  ],
  ["POST", /^\/version\/(\d+)\/vcl$/, on(createVcl)],
  ["GET", /^\/dictionary\/([^/]+)\/items$/, listItems],
  ["PATCH", /^\/dictionary\/([^/]+)\/items$/, patchItems],
  ["POST", /^\/dictionary\/([^/]+)\/item$/, createItem],
  ["GET", /^\/dictionary\/([^/]+)\/item\/([^/]+)$/, describeItem],
  ["PUT", /^\/dictionary\/([^/]+)\/item\/([^/]+)$/, (call, id, key) => changeItem(call, id, key, "upsert")],
  ["PATCH", /^\/dictionary\/([^/]+)\/item\/([^/]+)$/, (call, id, key) => changeItem(call, id, key, "update")],
  [
    "DELETE",
    /^\/dictionary\/([^/]+)\/item\/([^/]+)$/,
    (call, id, key) => changeItem(call, id, key, "delete"),
  ],
];

export const active = ({ versions }: Service): Version | undefined =>
  [...versions.values()].find(({ isActive }) => isActive);

function on(handler: (call: Call, version: Version, name: string) => Reply | Promise<Reply>): Handler {
  return (call, number, name = "") => {
    const version = call.service.versions.get(Number(number));
    if (version === undefined) throw notFound(`Couldn't find version ${number}`);
    return handler(call, version, name);
  };
}

function shownService({ id, name }: Service): object {
  return { id, name, customer_id: "customer", type: "vcl", comment: "" };
}

function shownVersion({ id }: Service, version: Version): object {
  return {
    number: version.number,
    service_id: id,
    active: version.isActive,
    locked: version.isLocked,
    comment: version.comment,
    created_at: version.createdAt,
    updated_at: version.updatedAt,
    deleted_at: null,
    deployed: false,
    staging: false,
    testing: false,
  };
}

function details({ service }: Call): Reply {
  const serving = active(service);
  const shown = serving && shownVersion(service, serving);
  const versions = [...service.versions.values()].map((each) => shownVersion(service, each));
  return {
    body: { ...shownService(service), versions, active_version: shown ?? null, version: versions.at(-1) },
  };
}

function comment(call: Call, version: Version): Reply {
  draft(version).comment = call.form().get("comment") ?? "";
  return { body: shownVersion(call.service, version) };
}

async function activated({ service }: Call, version: Version): Promise<Reply> {
  await activate(service, version);
  return { body: { ...shownVersion(service, version), msg: null } };
}

function locked({ service }: Call, version: Version): Reply {
  version.isLocked = true;
  return { body: shownVersion(service, version) };
}

async function validated(_call: Call, version: Version): Promise<Reply> {
  const { isValid, errors } = await validate(version);
  return {
    body: {
      status: isValid ? "ok" : "error",
      msg: errors[0] ?? null,
      errors,
      messages: errors,
      warnings: [],
    },
  };
}

function generated({ service }: Call, version: Version): Reply {
  return {
    body: {
      name: "Generated",
      main: true,
      content: generatedVcl(version),
      service_id: service.id,
      version: version.number,
    },
  };
}

function shownDictionary({ service }: Call, version: Version, name: string): object {
  const { id, isWriteOnly } = version.dictionaries.get(name) as { id: string; isWriteOnly: boolean };
  return {
    id,
    name,
    service_id: service.id,
    version: version.number,
    write_only: isWriteOnly,
    created_at: version.createdAt,
    updated_at: version.updatedAt,
    deleted_at: null,
  };
}

function dictionaries(call: Call, version: Version): Reply {
  return { body: [...version.dictionaries.keys()].map((name) => shownDictionary(call, version, name)) };
}

function createDictionary(call: Call, version: Version): Reply {
  const form = call.form();
  const name = form.get("name") ?? "";
  draft(version);
  if (!/^[a-z][a-z0-9_ ]{0,254}$/i.test(name))
    throw badRequest(
      `Name must start with alphabetical and contain only alphanumeric, underscore, and whitespace`,
    );
  if (version.dictionaries.has(name))
    throw new Refusal(409, "Duplicate record", `Duplicate dictionary: '${name}'`);
  if (version.dictionaries.size >= limits.dictionaries)
    throw badRequest(`Exceeding max number of dictionaries`);
  const id = newId();
  call.service.dictionaries.set(id, { id, items: new Map(), updatedAt: timeNow() });
  version.dictionaries.set(name, { id, isWriteOnly: ["1", "true"].includes(form.get("write_only") ?? "") });
  return { body: shownDictionary(call, version, name) };
}

function describeDictionary(call: Call, version: Version, name: string): Reply {
  if (!version.dictionaries.has(name)) throw notFound(`Couldn't find dictionary '${name}'`);
  return { body: shownDictionary(call, version, name) };
}

function deleteDictionary(_call: Call, version: Version, name: string): Reply {
  if (!draft(version).dictionaries.delete(name)) throw notFound(`Couldn't find dictionary '${name}'`);
  return { body: { status: "ok" } };
}

function dictionaryInfo(call: Call, version: Version, id: string): Reply {
  if (![...version.dictionaries.values()].some((each) => each.id === id))
    throw notFound(`Couldn't find dictionary '${id}'`);
  return { body: info(dictionaryOf(call, id)) };
}

function dictionaryOf({ service }: Call, id: string): Dictionary {
  const dictionary = service.dictionaries.get(id);
  if (dictionary === undefined) throw notFound(`Couldn't find dictionary '${id}'`);
  return dictionary;
}

function shownSnippet({ id }: Service, version: Version, snippet: Snippet): object {
  return {
    ...snippet,
    service_id: id,
    version: String(version.number),
    created_at: version.createdAt,
    updated_at: version.updatedAt,
    deleted_at: null,
  };
}

function snippetOf({ snippets }: Version, name: string): Snippet {
  const snippet = snippets.get(name);
  if (snippet === undefined) throw notFound(`Couldn't find snippet '${name}'`);
  return snippet;
}

function createSnippet(call: Call, version: Version): Reply {
  const form = call.form();
  draft(version);
  const snippet: Snippet = {
    id: newId(),
    name: form.get("name") ?? "",
    type: form.get("type") ?? "",
    content: form.get("content") ?? "",
    priority: form.get("priority") ?? "100",
    dynamic: form.get("dynamic") ?? "0",
  };
  if (snippet.name === "") throw badRequest("Name can't be blank");
  if (version.snippets.has(snippet.name))
    throw new Refusal(409, "Duplicate record", `Duplicate snippet: '${snippet.name}'`);
  checkSnippet(snippet);
  version.snippets.set(snippet.name, snippet);
  return { body: shownSnippet(call.service, version, snippet) };
}

function updateSnippet(call: Call, version: Version, name: string): Reply {
  draft(version);
  const snippet = snippetOf(version, name);
  const form = call.form();
  const {
    type = snippet.type,
    content = snippet.content,
    priority = snippet.priority,
  } = Object.fromEntries(form);
  const changed = { ...snippet, type, content, priority };
  checkSnippet(changed);
  version.snippets.set(name, changed);
  return { body: shownSnippet(call.service, version, changed) };
}

function checkSnippet({ type, content, priority, dynamic }: Snippet): void {
  if (!snippetTypes.includes(type)) throw badRequest(`Type '${type}' is not a snippet type`);
  if (!/^\d+$/.test(priority)) throw badRequest("Priority is not a number");
  if (dynamic !== "0" && dynamic !== "1") throw badRequest("Dynamic is 0 or 1");
  if (content === "") throw badRequest("Content can't be blank");
  if (Buffer.byteLength(content) > limits.vclBytes) throw badRequest("Content is too long");
}

function createVcl(call: Call, version: Version): Reply {
  const form = call.form();
  draft(version);
  const vcl = {
    name: form.get("name") ?? "",
    content: form.get("content") ?? "",
    main: ["1", "true"].includes(form.get("main") ?? ""),
  };
  if (vcl.name === "" || version.vcls.has(vcl.name)) throw badRequest("Name is blank or taken");
  if (Buffer.byteLength(vcl.content) > limits.vclBytes) throw badRequest("Content is too long");
  version.vcls.set(vcl.name, vcl);
  return { body: { ...vcl, service_id: call.service.id, version: version.number } };
}

function listItems(call: Call, id: string): Reply {
  const dictionary = dictionaryOf(call, id);
  const { service, query } = call;
  const perPage = wholeNumber(query.get("per_page") ?? "100", 100);
  const page = wholeNumber(query.get("page") ?? "1", 1_000_000);
  const all = [...dictionary.items];
  if (query.get("direction") === "descend") all.reverse();
  const pages = Math.max(1, Math.ceil(all.length / perPage));
  const link = (to: number, rel: string): string =>
    `<https://api.fastly.com/service/${service.id}/dictionary/${id}/items?page=${to}&per_page=${perPage}>; rel="${rel}"`;
  const links = [...(page < pages ? [link(page + 1, "next")] : []), link(pages, "last")];
  const shown = all
    .slice((page - 1) * perPage, page * perPage)
    .map((each) => shownItem(service.id, dictionary, each));
  return { body: shown, headers: { Link: links.join(", ") } };
}

function wholeNumber(text: string, most: number): number {
  if (!/^[1-9]\d{0,6}$/.test(text) || Number(text) > most) throw badRequest(`'${text}' is no such number`);
  return Number(text);
}

function patchItems(call: Call, id: string): Reply {
  const dictionary = dictionaryOf(call, id);
  const body = call.json() as { items?: unknown };
  try {
    bulk(dictionary, body?.items, call.poison, call.maxItems);
  } catch (error) {
    // Of a bulk write every fault is the request's.
    throw error instanceof Refusal ? badRequest(error.detail) : error;
  }
  return { body: { status: "ok" } };
}

function createItem(call: Call, id: string): Reply {
  const dictionary = dictionaryOf(call, id);
  const { item_key = "", item_value = "" } = Object.fromEntries(call.form());
  one(dictionary, { op: "create", item_key, item_value }, call.maxItems);
  return describeItem(call, id, item_key);
}

function describeItem(call: Call, id: string, key: string): Reply {
  const dictionary = dictionaryOf(call, id);
  const item = dictionary.items.get(key);
  if (item === undefined) throw notFound(`Couldn't find dictionary item '${key}'`);
  return { body: shownItem(call.service.id, dictionary, [key, item]) };
}

function changeItem(call: Call, id: string, key: string, op: "upsert" | "update" | "delete"): Reply {
  const dictionary = dictionaryOf(call, id);
  const item_value = op === "delete" ? "" : (call.form().get("item_value") ?? "");
  one(dictionary, { op, item_key: key, item_value }, call.maxItems);
  return op === "delete" ? { body: { status: "ok" } } : describeItem(call, id, key);
}

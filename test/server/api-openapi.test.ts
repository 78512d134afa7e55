import { readFile } from "node:fs/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { openapiDocument } from "../../packages/tidegate-server/src/api/openapi/document.js";
import { routeFacts } from "../../packages/tidegate-server/src/api/openapi/route-facts.js";
import { routes } from "../../packages/tidegate-server/src/api/routes.js";
import { version } from "../../packages/tidegate-server/src/version.js";
import { type Admin, startAdmin } from "./api-serving.js";
import { startEdgesAdmin } from "./edges-admin.js";
import { startWhole } from "./live-rig.js";

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly "x-role"?: string;
  readonly security: readonly Record<string, readonly string[]>[];
  readonly parameters: readonly {
    readonly name: string;
    readonly in: "path" | "query" | "header";
    readonly required: boolean;
    readonly description: string;
    readonly schema: object;
    readonly example?: string;
  }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Record<string, { readonly schema: object; readonly example: unknown }>;
  };
  readonly responses: Record<
    string,
    { readonly description: string; readonly content: Record<string, { readonly schema: object }> }
  >;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: {
    readonly schemas: Record<string, object>;
    readonly securitySchemes: Record<string, object>;
  };
}

const document = JSON.parse(JSON.stringify(openapiDocument(routes, version()))) as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    row: `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`,
    operation,
  })),
);

/** Everything below, with where it stands. */
function* below(value: unknown, at = "#"): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [at, value as Record<string, unknown>];
  for (const [name, inner] of Object.entries(value))
    yield* below(inner, `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
}

const refs = [...below(document)].flatMap(([at, { $ref }]) =>
  typeof $ref === "string" ? [{ at, $ref }] : [],
);

describe("the document", () => {
  it("is published as it is", async () => {
    const file = new URL("../../packages/tidegate-server/openapi.json", import.meta.url);
    expect(JSON.parse(await readFile(file, "utf8")), "run npm run generate").toEqual(document);
  });

  it("is served, to whoever may look", async () => {
    const admin = await startAdmin();
    onTestFinished(() => admin.close());
    const { status, headers, json } = await admin.ask("GET", "/v1/openapi.json");
    expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(json).toEqual(document);
  });

  it("has every row of the table with its role, and nothing else", () => {
    const told = operations.map(({ row, operation }) => [row, operation["x-role"] ?? "open"]);
    const there = routes.map(({ method, path, role, isOpen }) => [
      `${method} ${path}`,
      isOpen === true ? "open" : role,
    ]);
    expect(told.sort()).toEqual(there.sort());
    expect(Object.keys(routeFacts).sort()).toEqual(there.map(([row]) => row).sort());
  });

  it("is OpenAPI 3.1: names are unique, references lead somewhere, and nothing is left over", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.info).toMatchObject({ title: expect.any(String), version: version() });
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]+$/);
    const names = Object.keys(document.components.schemas);
    for (const { at, $ref } of refs)
      expect(names, at).toContain($ref.replace(/^#\/components\/schemas\//, ""));
    const used = new Set(refs.map(({ $ref }) => $ref.split("/").at(-1)));
    expect(names.filter((name) => !used.has(name))).toEqual([]);
    for (const [at, value] of below(document)) {
      expect(Object.keys(value), at).not.toContain("$schema");
      expect(Object.keys(value), at).not.toContain("$id");
      expect(Object.keys(value), at).not.toContain("$defs");
    }
  });

  it("has schemas that are JSON Schema: known types, required fields that are there", () => {
    const types = ["object", "array", "string", "number", "integer", "boolean", "null"];
    for (const [at, schema] of below(document.components.schemas)) {
      if (at.endsWith("/properties")) continue;
      const { type, required, properties } = schema;
      if (typeof type === "string") expect(types, at).toContain(type);
      if (Array.isArray(required) && properties !== undefined)
        expect(Object.keys(properties as object), at).toEqual(expect.arrayContaining(required));
    }
  });

  it("keeps what is sent strict, and lets answers grow", () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      const isSent = /Body$|^PolicyText$/.test(name);
      const strict = [...below(schema)].filter(
        ([, { additionalProperties }]) => additionalProperties === false,
      );
      expect(strict.length > 0, name).toBe(isSent);
    }
  });
});

describe.each(operations)("$row", ({ row, path, operation }) => {
  it("says what it is, what it takes, and every answer by its type", () => {
    const { summary, parameters, responses, requestBody, security } = operation;
    expect(summary).toMatch(/^[A-Z].+[^.]$/);
    const inPath = parameters.filter((each) => each.in === "path");
    expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    for (const each of inPath) expect(each).toMatchObject({ required: true, example: expect.any(String) });
    const keys = parameters.map(({ name, in: place }) => `${place} ${name}`);
    expect(new Set(keys).size).toBe(keys.length);
    for (const { description, schema } of parameters) {
      expect(description).toMatch(/\w/);
      expect(schema).toMatchObject({ type: "string" });
    }
    for (const scheme of security.flatMap((each) => Object.keys(each)))
      expect(document.components.securitySchemes).toHaveProperty(scheme);
    if (requestBody !== undefined) expect(Object.keys(requestBody.content)).toEqual(["application/json"]);
    expect(Object.keys(responses).some((status) => /^20[01]$/.test(status))).toBe(true);
    for (const [status, { description, content }] of Object.entries(responses)) {
      expect(status).toMatch(/^[2-5]\d\d$/);
      if (content["application/problem+json"] !== undefined) expect(description).toMatch(/^TG_[A-Z_]+/);
      else expect(description).toMatch(/\w/);
      expect(Object.keys(content).length).toBeGreaterThan(0);
    }
  });

  it("takes the example it gives, and answers as it says", async () => {
    const { body, query, queryExample = {}, answers } = routeFacts[row] as (typeof routeFacts)[string];
    if (body !== undefined) expect(body.shape.safeParse(body.example).error).toBeUndefined();
    if (query !== undefined) expect(query.safeParse(queryExample).error).toBeUndefined();
    const admin = await startEdgesAdmin({ names: ["cdn"] });
    const sent = { ...exampleOf(path, operation), ...(await before[row]?.(admin)) };
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const url = ofTraffic.test(path) ? (await startWhole()).urls.admin : admin.url;
    const reply = await fetch(`${url}${sent.target}`, {
      method: row.split(" ")[0] as string,
      headers: sent.headers ?? {},
      signal: stop.signal,
      ...(sent.body !== undefined && { body: JSON.stringify(sent.body) }),
    });
    const type = (reply.headers.get("content-type") ?? "").split(";")[0] as string;
    const text = type === "text/event-stream" ? "" : await reply.text();
    const told = operation.responses[reply.status];
    expect(told?.content, `${reply.status} ${text}`).toHaveProperty([type]);
    expect(reply.status, text).toBeLessThan(300);
    const answer = answers.find(({ status }) => status === reply.status);
    if (type === "application/json") expect(answer?.shape?.safeParse(JSON.parse(text)).error).toBeUndefined();
  });
});

/** Only a server that meets traffic has it. */
const ofTraffic = /^\/v1\/(?:series|events)/;

interface Sent {
  readonly target: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** A request made of the document alone. */
function exampleOf(path: string, { parameters, requestBody }: Operation): Sent {
  const example = (name: string) => parameters.find((each) => each.name === name)?.example ?? "";
  const query = parameters
    .filter((each) => each.in === "query" && each.example !== undefined)
    .map(({ name, example = "" }): [string, string] => [name, example]);
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(example(name)));
  const body = requestBody?.content["application/json"]?.example;
  return {
    target: query.length === 0 ? target : `${target}?${new URLSearchParams(query)}`,
    ...(body !== undefined && { body }),
  };
}

const listed = async ({ ask }: Admin): Promise<Partial<Sent>> => {
  await ask("PUT", "/v1/lists/blocklist/203.0.113.7", { for: "1h" });
  return {};
};

/** What has to be there for an example to find it; what only a server can give takes the example's place. */
const before: Readonly<Record<string, (admin: Admin) => Promise<Partial<Sent>>>> = {
  "GET /v1/lists/:list": listed,
  "GET /v1/lists/:list/:address": listed,
  "DELETE /v1/lists/:list/:address": listed,
  "GET /v1/audit": listed,
  "POST /v1/audit/:id/undo": listed,
  "GET /v1/customers/:id": async ({ ask }) => {
    await ask("PUT", "/v1/customers/42/tier", { tier: "pro" });
    return {};
  },
  "GET /v1/offenders": async (admin) => {
    await (admin as Awaited<ReturnType<typeof startEdgesAdmin>>).hold({ key: "203.0.113.7" });
    return {};
  },
  "GET /v1/decisions/:id": async ({ gate }) => {
    let id = "";
    for (let i = 0; i < 5; i++)
      ({ id } = await gate.decide({
        ip: "203.0.113.7",
        method: "GET",
        host: "h",
        path: "/",
        header: () => undefined,
      }));
    return { target: `/v1/decisions/${id}` };
  },
  "POST /v1/login": async ({ ask }) => {
    const { json } = await ask("POST", "/v1/login-codes");
    return { body: { code: json.code } };
  },
  "GET /v1/tokens": async ({ ask }) => {
    const { json } = await ask("POST", "/v1/tokens", { name: "ann", role: "admin" });
    return { headers: { Authorization: `Bearer ${json.secret}` } };
  },
  "DELETE /v1/tokens/:id": async ({ ask }) => {
    const { json } = await ask("POST", "/v1/tokens", { name: "ann", role: "admin" });
    return { headers: { Authorization: `Bearer ${json.secret}` } };
  },
};

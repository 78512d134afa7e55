import { z } from "zod";
import { cookieName } from "../access/credentials.js";
import { problem } from "./answers.js";
import { namedShapes, nameOf } from "./named.js";
import { parametersOf } from "./parameters.js";
import { type DocumentedRoute, type RouteAnswer, type RouteFacts, routeFacts } from "./route-facts.js";
import { problemsOf } from "./route-problems.js";

type Json = Readonly<Record<string, unknown>>;

/** OpenAPI 3.1 of the admin API: every route of the table, with the shapes that are checked. */
export function openapiDocument(routes: readonly DocumentedRoute[], version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Tidegate admin API",
      version,
      description: "What people and their tools ask a Tidegate server. See docs/server/api.md.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "http://127.0.0.1:8088" }],
    paths,
    components: {
      schemas: schemas(),
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "A token, `tg_…` or `admin.token`." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: cookieName,
          description: "Writes send Tidegate-Csrf.",
        },
      },
    },
  };
}

function operationOf(route: DocumentedRoute): Json {
  const { method, path, role, isOpen } = route;
  const facts = routeFacts[`${method} ${path}`] ?? { summary: path, answers: [] };
  const { summary, body } = facts;
  return {
    operationId: operationId(route),
    tags: [path.split("/")[2] ?? "server"],
    summary,
    ...(isOpen !== true && { description: `Takes the role ${role ?? "admin"}.`, "x-role": role ?? "admin" }),
    security: isOpen === true ? [] : [{ token: [] }, { session: [] }],
    parameters: parametersOf(route, facts),
    ...(body && {
      requestBody: {
        required: !body.shape.safeParse({}).success,
        content: { "application/json": { schema: reference(body.shape), example: body.example } },
      },
    }),
    responses: { ...answersOf(facts), ...problemAnswers(route, facts) },
  };
}

/** `GET /v1/lists/:list` is `getListsByList`. */
function operationId({ method, path }: DocumentedRoute): string {
  const words = path
    .replace(/^\/v1/, "")
    .split(/[/.-]/)
    .filter(Boolean)
    .map((word) => (word.startsWith(":") ? `By${capital(word.slice(1))}` : capital(word)));
  return method.toLowerCase() + words.join("");
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function answersOf({ answers, givesTag }: RouteFacts): Json {
  return Object.fromEntries(
    answers.map((answer) => [
      String(answer.status),
      {
        description: answer.words,
        ...(givesTag && { headers: { ETag: { description: "Of this state.", schema: { type: "string" } } } }),
        content: contentOf(answer),
      },
    ]),
  );
}

function contentOf({ shape, types }: RouteAnswer): Json {
  const isJson = shape !== undefined || types === undefined;
  const schema = shape === undefined ? { type: "object" } : reference(shape);
  return {
    ...(isJson && { "application/json": { schema } }),
    ...Object.fromEntries((types ?? []).map((type) => [type, { schema: { type: "string" } }])),
  };
}

/** A status that is an answer too (503 of /ready) is told as that. */
function problemAnswers(route: DocumentedRoute, facts: RouteFacts): Json {
  const answered = facts.answers.map(({ status }) => status);
  return Object.fromEntries(
    [...problemsOf(route, facts)]
      .filter(([status]) => !answered.includes(status))
      .map(([status, codes]) => [
        String(status),
        {
          description: codes.join(", "),
          content: { "application/problem+json": { schema: reference(problem) } },
        },
      ]),
  );
}

function reference(shape: z.ZodType): Json {
  return { $ref: `#/components/schemas/${nameOf(shape)}` };
}

function schemas(): Json {
  const { schemas: all } = z.toJSONSchema(namedShapes, {
    io: "input",
    uri: (id) => `#/components/schemas/${id}`,
  });
  return Object.fromEntries(
    Object.entries(all)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, { $schema: _, $id: __, ...schema }]) => [
        name,
        /Body$|^PolicyText$/.test(name) ? schema : growing(schema),
      ]),
  );
}

/** Answers may have more fields one day; what is sent may not. */
function growing(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(growing);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name, value]) => name !== "additionalProperties" || value !== false)
      .map(([name, value]) => [name, growing(value)]),
  );
}

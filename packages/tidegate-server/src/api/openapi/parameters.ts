import { z } from "zod";
import type { DocumentedRoute, RouteFacts } from "./route-facts.js";

type Json = Readonly<Record<string, unknown>>;

const queryWords: Readonly<Record<string, string>> = {
  most: "At most so many.",
  before: "`next` of the page before.",
  after: "`next` of the page before.",
  ip: "Of the client at this address.",
  key: "Of the client with this digest.",
  within: "Only within this address or block.",
  seconds: "How far back.",
  who: "Only what they did.",
  what: "Only what was done so, or begins so: `blocklist.`",
  target: "Only what was done to this.",
  since: "Not older than this: milliseconds since the epoch, or ISO 8601.",
  until: "Not newer than this.",
  format: "`ndjson` and `csv` have all that match, not one page.",
};

/** Path, query and headers of a route. */
export function parametersOf({ method, path }: DocumentedRoute, facts: RouteFacts): Json[] {
  const { params = {}, query, queryExample = {}, takesTag } = facts;
  return [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => {
      const { words = "", example, choices } = params[name] ?? {};
      return {
        name,
        in: "path",
        required: true,
        description: words,
        schema: { type: "string", ...(choices && { enum: choices }) },
        ...(example !== undefined && { example }),
      };
    }),
    ...Object.entries(query?.shape ?? {}).map(([name, shape]) => {
      const { $schema: _, ...schema } = z.toJSONSchema(shape as z.ZodType, { io: "input" });
      return {
        name,
        in: "query",
        required: !(shape as z.ZodType).safeParse(undefined).success,
        description: queryWords[name] ?? "",
        schema,
        ...(queryExample[name] !== undefined && { example: queryExample[name] }),
      };
    }),
    ...(method === "GET" ? [] : [header("Tidegate-Who", "Who acts, for the audit, where no token says so.")]),
    ...(takesTag
      ? [
          header("If-Match", "Only if it still has this ETag, else 412."),
          header("If-None-Match", "`*`: only if it is not there, else 412."),
        ]
      : []),
  ];
}

function header(name: string, description: string): Json {
  return { name, in: "header", required: false, description, schema: { type: "string" } };
}

import { z } from "zod";
import { fileShape } from "./settings-shape.js";

type Schema = { [key: string]: unknown };

/**
 * JSON Schema of a configuration, for editors. Draft 7: what yaml-language-server, and with it most editors, reads in
 * full; of later drafts it knows parts.
 */
export function configSchema(): object {
  const schema = z.toJSONSchema(fileShape, { target: "draft-7", io: "input" }) as Schema;
  const { policy, ...settings } = schema.properties as Record<string, Schema>;
  return {
    ...schema,
    title: "tidegate.yaml",
    description: "Configuration of the Tidegate server.",
    properties: { ...mapped(settings, fromEnvironment), policy: withoutFiller(policy as Schema) },
  };
}

function mapped(schemas: Record<string, Schema>, change: (schema: Schema) => unknown): Schema {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, change(schema)]));
}

const simple = ["integer", "number", "boolean", "string"];

/** Outside of the policy anything simple may be `${NAME}`. */
function fromEnvironment(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(fromEnvironment);
  if (typeof schema !== "object" || schema === null) return schema;
  const { type, description, default: usual, ...rest } = withoutFiller(schema as Schema);
  const inner = mapped(rest as Record<string, Schema>, fromEnvironment);
  const about = {
    ...(description !== undefined && { description }),
    ...(usual !== undefined && { default: usual }),
  };
  const takesAnyText = type === "string" && rest.pattern === undefined && rest.enum === undefined;
  if (rest.const !== undefined || takesAnyText || !simple.includes(String(type)))
    return { ...about, ...(type !== undefined && { type }), ...inner };
  return {
    ...about,
    anyOf: [
      { type, ...inner },
      { type: "string", pattern: "^\\$\\{[^}]+\\}$" },
    ],
  };
}

/** A section left out has its defaults one by one: an empty map says nothing. */
function withoutFiller(schema: Schema): Schema {
  const { default: usual, ...rest } = schema;
  const isFiller = typeof usual === "object" && usual !== null && !Array.isArray(usual);
  return isFiller ? rest : schema;
}

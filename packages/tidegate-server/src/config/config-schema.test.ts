import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { configSchema } from "./config-schema.js";

interface Schema {
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema | readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Setting {
  readonly path: string;
  readonly usual: unknown;
  readonly description: string | undefined;
}

/** Every setting that has a place of its own, as the reference page names it. */
function settingsOf(schema: Schema, path: string): Setting[] {
  const forms = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((form) =>
    settingsOf(form, pathOfForm(form, path)),
  );
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const at = path === "" ? name : `${path}.${name}`;
    return [{ path: at, usual: inner.default, description: inner.description }, ...settingsOf(inner, at)];
  });
  const { items, additionalProperties: named } = schema;
  const listed = items !== undefined && !Array.isArray(items) ? settingsOf(items as Schema, `${path}[]`) : [];
  const inMap = typeof named === "object" ? settingsOf(named, `${path}.<name>`) : [];
  return [...own, ...forms, ...listed, ...inMap];
}

/** Edges of one kind have their own settings, and defaults. */
function pathOfForm({ properties }: Schema, path: string): string {
  return path === "edges.<name>" ? `edges.<${properties?.kind?.const}>` : path;
}

const schema = configSchema() as Schema & Readonly<Record<string, unknown>>;
const settings = [...new Map(settingsOf(schema, "").map((one) => [shared(one.path), one])).entries()].map(
  ([path, one]) => ({ ...one, path }),
);

/** Limits and matches may stand in several places, and are explained once. */
function shared(path: string): string {
  return path
    .replace(/^policy\.(?:rules\[\]\.limits|tiers\.<name>)(?:\[\])?\./, "<limit>.")
    .replace(/^policy\.rules\[\]\.(?:login\.)?(?:only|except)(?:\[\])?\./, "<match>.");
}

describe("the JSON Schema", () => {
  it("is of the draft editors read, and plain data", () => {
    expect(schema.$schema).toBe("http://json-schema.org/draft-07/schema#");
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
    expect(JSON.stringify(schema)).not.toContain("$ref");
  });

  it("is published as it is", async () => {
    const published = await readFile(new URL("../../tidegate.schema.json", import.meta.url), "utf8");
    expect(JSON.parse(published), "run npm run generate").toEqual(schema);
  });

  it("explains every section", () => {
    for (const [name, { description }] of Object.entries(schema.properties ?? {}))
      expect(description, name).toBeTruthy();
  });

  it("takes the environment where a number stands, and never in a policy", () => {
    const { policy, ...others } = schema.properties ?? {};
    expect(JSON.stringify(others.workers)).toContain("\\\\$\\\\{");
    expect(JSON.stringify(others.drain)).toContain("\\\\$\\\\{");
    expect(JSON.stringify(policy)).not.toContain("\\\\$\\\\{");
  });
});

describe("docs/server/config.md", async () => {
  const page = await readFile(new URL("../../../../docs/server/config.md", import.meta.url), "utf8");
  const rows = new Map(
    [...page.matchAll(/^\| `([^`]+)` \| (.*?) \| (.*) \|$/gm)].map(([, path, usual, words]) => [
      path,
      { usual, words },
    ]),
  );

  it.each(settings)("has $path with its default and what it means", ({ path, usual, description }) => {
    const row = rows.get(path);
    expect(row, path).toBeDefined();
    if (usual !== undefined)
      expect(row?.usual).toBe(
        `\`${typeof usual === "string" ? usual : JSON.stringify(usual).replaceAll('"', "").replaceAll(",", ", ")}\``,
      );
    if (description !== undefined) expect(row?.words).toBe(description);
  });

  it("has no setting that is not there", () => {
    const known = new Set(settings.map(({ path }) => path));
    expect([...rows.keys()].filter((path) => !known.has(path as string))).toEqual([]);
  });
});

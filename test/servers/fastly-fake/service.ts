import { createHash, randomBytes } from "node:crypto";
import { lintText } from "falco-js";

/** What Fastly's documentation says of dictionaries, their items and VCL; how many dictionaries it does not say. */
export const limits = {
  items: 1_000,
  key: 256,
  value: 8_000,
  ops: 1_000,
  dictionaries: 100,
  vclBytes: 1_000_000,
};

export interface Item {
  value: string;
  readonly createdAt: string;
  updatedAt: string;
}

/** Items belong to the service, not to a version. */
export interface Dictionary {
  readonly id: string;
  readonly items: Map<string, Item>;
  updatedAt: string;
}

export interface Snippet {
  readonly id: string;
  readonly name: string;
  type: string;
  content: string;
  priority: string;
  readonly dynamic: string;
}

export interface Version {
  readonly number: number;
  isActive: boolean;
  isLocked: boolean;
  comment: string;
  readonly createdAt: string;
  updatedAt: string;
  /** Name to what is known of it here. */
  readonly dictionaries: Map<string, { readonly id: string; readonly isWriteOnly: boolean }>;
  readonly snippets: Map<string, Snippet>;
  readonly vcls: Map<string, { name: string; content: string; main: boolean }>;
}

export interface Service {
  readonly id: string;
  readonly name: string;
  readonly versions: Map<number, Version>;
  readonly dictionaries: Map<string, Dictionary>;
}

/** An answer that says no. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly msg: string,
    readonly detail: string,
  ) {
    super(`${status} ${msg}: ${detail}`);
  }
}

export const badRequest = (detail: string): Refusal => new Refusal(400, "Bad request", detail);
export const notFound = (detail: string): Refusal => new Refusal(404, "Record not found", detail);

export const newId = (): string => createHash("sha256").update(randomBytes(16)).digest("hex").slice(0, 22);
export const timeNow = (): string => new Date().toISOString().replace(/\.\d+Z$/, "Z");

/** One version, active. */
export function newService(id: string): Service {
  const first = newVersion(1);
  first.isActive = true;
  first.isLocked = true;
  return { id, name: `service ${id}`, versions: new Map([[1, first]]), dictionaries: new Map() };
}

function newVersion(number: number): Version {
  const at = timeNow();
  const maps = { dictionaries: new Map(), snippets: new Map(), vcls: new Map() };
  return { number, isActive: false, isLocked: false, comment: "", createdAt: at, updatedAt: at, ...maps };
}

export function cloneVersion(service: Service, from: Version): Version {
  const clone = newVersion(Math.max(...service.versions.keys()) + 1);
  for (const [name, dictionary] of from.dictionaries) clone.dictionaries.set(name, dictionary);
  for (const [name, snippet] of from.snippets) clone.snippets.set(name, { ...snippet });
  for (const [name, vcl] of from.vcls) clone.vcls.set(name, { ...vcl });
  clone.comment = from.comment;
  service.versions.set(clone.number, clone);
  return clone;
}

/** Only a draft can be changed. */
export function draft(version: Version): Version {
  if (version.isActive || version.isLocked)
    throw new Refusal(422, "Version is locked", `Version ${version.number} is locked and can not be changed`);
  version.updatedAt = timeNow();
  return version;
}

export async function activate(service: Service, version: Version): Promise<void> {
  const { isValid, errors } = await validate(version);
  if (!isValid) throw badRequest(errors.join("; "));
  for (const each of service.versions.values()) each.isActive = false;
  version.isActive = true;
  version.isLocked = true;
  version.updatedAt = timeNow();
}

/** The VCL of a version, as Fastly puts it together, in the hands of a real linter. */
export async function validate(version: Version): Promise<{ isValid: boolean; errors: string[] }> {
  const { Errors, LintErrors, ParseErrors } = await lintText(generatedVcl(version), {
    autoAddIncludes: false,
  });
  const lint = Object.values(LintErrors).flat();
  const serious = lint.filter(({ Severity }) => Severity === "Error").map(({ Message }) => Message);
  const parse = Object.values(ParseErrors).map((error) => JSON.stringify(error));
  return { isValid: Errors === 0 && parse.length === 0, errors: [...serious, ...parse] };
}

const subroutines = [
  ["recv", "lookup"],
  ["hash", "hash"],
  ["hit", "deliver"],
  ["miss", "fetch"],
  ["pass", "pass"],
  ["fetch", "deliver"],
  ["error", "deliver"],
  ["deliver", "deliver"],
  ["log", "deliver"],
] as const;

export const snippetTypes = ["init", "none", ...subroutines.map(([name]) => name)];

export function generatedVcl({ dictionaries, snippets }: Version): string {
  const ordered = [...snippets.values()].sort((a, b) => Number(a.priority) - Number(b.priority));
  const texts = (type: string): string =>
    ordered.flatMap((snippet) => (snippet.type === type ? [snippet.content] : [])).join("\n");
  return [
    ...[...dictionaries.keys()].map((name) => `table ${name.replaceAll(" ", "_")} { }`),
    texts("init"),
    ...subroutines.map(
      ([name, state]) => `sub vcl_${name} {\n#FASTLY ${name}\n${texts(name)}\nreturn(${state});\n}`,
    ),
  ].join("\n");
}

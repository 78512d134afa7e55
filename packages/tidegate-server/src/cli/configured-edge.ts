import { resolve } from "node:path";
import { loadConfig } from "../config/load-config.js";
import type { EdgeSettings, Settings } from "../settings.js";
import { usageError } from "./exit.js";
import type { Io } from "./io.js";

/** An edge of one kind, as a file has it, and the settings around it. */
export interface ConfiguredEdge<Kind extends EdgeSettings["kind"]> {
  readonly name: string;
  readonly edge: Extract<EdgeSettings, { kind: Kind }>;
  readonly settings: Settings;
}

export interface ConfiguredEdgeOptions {
  readonly config: string;
  readonly name: string | undefined;
  readonly io: Pick<Io, "cwd" | "env">;
  /** What is made of it holds no token: variables for them need not be set. */
  readonly canLackTokens?: boolean;
}

/** The edge of this name, or the only one of its kind. */
export function configuredEdge<Kind extends EdgeSettings["kind"]>(
  kind: Kind,
  { config, name, io, canLackTokens = false }: ConfiguredEdgeOptions,
): ConfiguredEdge<Kind> {
  const { cwd, env } = io;
  const { settings } = loadConfig({ file: resolve(cwd, config), env: { ...env }, cwd, canLackTokens });
  const ofKind = Object.entries(settings.edges).filter(
    (each): each is [string, Extract<EdgeSettings, { kind: Kind }>] => each[1].kind === kind,
  );
  const found = ofKind.filter(([each]) => name === undefined || each === name);
  const [first] = found;
  if (first === undefined)
    throw usageError(
      name === undefined
        ? `The file has no edge of kind ${kind}.`
        : `The file has no edge ${JSON.stringify(name.slice(0, 64))} of kind ${kind}.`,
      ofKind.length === 0
        ? `Write one under edges: { cdn: { kind: ${kind}, … } }.`
        : `It has ${ofKind.map(([each]) => each).join(", ")}.`,
    );
  if (found.length > 1)
    throw usageError(
      `The file has several edges of kind ${kind}.`,
      `Name one: ${found.map(([each]) => each).join(", ")}.`,
    );
  return { name: first[0], edge: first[1], settings };
}

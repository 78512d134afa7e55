import { Secret } from "../secret.js";
import type { Settings } from "../settings.js";
import { type Path, pathText } from "./path.js";

/** Where two settings differ, by the paths a file has them under. What they are is not said: they may be secrets. */
export function changedSettings(one: Settings, other: Settings): string[] {
  return changes(one, other, []).map(pathText);
}

function changes(one: unknown, other: unknown, path: Path): Path[] {
  if (one instanceof Secret && other instanceof Secret) return one.equals(other.reveal()) ? [] : [path];
  if (!isMap(one) || !isMap(other)) return Object.is(one, other) ? [] : [path];
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  const below = keys.flatMap((key) => changes(one[key], other[key], [...path, writtenAs(key)]));
  return below.length > 0 && isOneThing(one, other, path) ? [path] : below;
}

/** A list, an address, two kinds of something: their parts alone say nothing. */
function isOneThing(one: Map, other: Map, path: Path): boolean {
  if (Array.isArray(one) || Array.isArray(other) || one.kind !== other.kind) return true;
  return path.length === 2 && path[0] === "listen";
}

type Map = Readonly<Record<string, unknown>>;

function isMap(value: unknown): value is Map {
  return typeof value === "object" && value !== null;
}

const otherNames: Readonly<Record<string, string>> = { dataDir: "data", isCluster: "cluster" };

/** Durations have their unit in the value there. */
function writtenAs(key: string): string {
  return otherNames[key] ?? key.replace(/Ms$/, "");
}

import { corruptError } from "../data-errors.js";

/** What was written to this key as JSON. Anyone may write to Redis, so it may be something else. */
export function readKept<T extends object>(key: string, text: unknown): T {
  try {
    const value: unknown = JSON.parse(String(text));
    if (typeof value === "object" && value !== null) return value as T;
  } catch (error) {
    throw corruptError(`The Redis key ${key}`, error);
  }
  throw corruptError(`The Redis key ${key}`, "it holds no record");
}

import { readFileSync } from "node:fs";
import {
  backoff,
  concurrency,
  earrrl,
  fixedWindow,
  type Policy,
  type Subject,
  slidingCounter,
  slidingLog,
  tokenBucket,
} from "tidegate";

/** What JSON can not say, by the name of the function that makes it. */
const makers: Record<string, (options: never) => unknown> = {
  backoff,
  concurrency,
  earrrl,
  fixedWindow,
  slidingCounter,
  slidingLog,
  tokenBucket,
  query: (text: string) => (subject: Subject) => queryOf(subject).includes(text),
};

export function readPolicy(file: URL): Policy {
  return made(JSON.parse(readFileSync(file, "utf8"))) as Policy;
}

/** A list of limits made by one function stands in the list around it. */
function made(value: unknown): unknown {
  if (Array.isArray(value)) return value.flatMap((one) => made(one));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const [[name, options] = []] = entries;
  const maker = entries.length === 1 && name !== undefined ? makers[name] : undefined;
  if (maker) return maker(options as never);
  return Object.fromEntries(entries.map(([key, inner]) => [key, made(inner)]));
}

function queryOf({ path }: Subject): string {
  const query = path.slice(path.indexOf("?") + 1);
  try {
    return decodeURIComponent(query);
  } catch {
    return query;
  }
}

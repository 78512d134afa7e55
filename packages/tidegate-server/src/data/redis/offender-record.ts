import { canonicalBlock } from "tidegate/http";
import { isEdgeKey } from "../../edge.js";
import type { Offender, OffenderFacts } from "../../offenders.js";
import { soundOffender } from "../offender-merge.js";

/** What of an offender is written as JSON, for the scripts need not read it. */
interface Facts {
  readonly edges: readonly string[];
  readonly about: OffenderFacts;
  readonly share?: number;
}

/** The name of one offender: a key never holds a line break. */
export function offenderId({ key, rule }: Pick<Offender, "key" | "rule">): string {
  return `${key}\n${rule}`;
}

export function factsText({ edges, about, share }: Offender): string {
  return JSON.stringify({ edges, about, ...(share !== undefined && { share }) } satisfies Facts);
}

/** Reads a record back. Anyone may write to Redis, so it may be something else: then undefined. */
export function readOffender(id: string, record: string): Offender | undefined {
  const keyEnd = id.indexOf("\n");
  const numbersEnd = record.indexOf("\n");
  if (keyEnd < 0 || numbersEnd < 0) return undefined;
  const key = id.slice(0, keyEnd);
  const numbers = record.slice(0, numbersEnd).split(" ").map(Number);
  const [until, crossedAt, score, leaked] = numbers;
  const facts = readFacts(record.slice(numbersEnd + 1));
  if (facts === undefined || numbers.length !== 6 || !numbers.every(Number.isFinite)) return undefined;
  if (!isEdgeKey(key) || isTooWide(key)) return undefined;
  return soundOffender({
    key,
    rule: id.slice(keyEnd + 1),
    crossedAt: crossedAt as number,
    until: until as number,
    score: score as number,
    leaked: leaked as number,
    ...facts,
  });
}

/** No rule holds so many at once: whoever wrote it, it is none of ours. */
function isTooWide(key: string): boolean {
  const [address = "", prefix] = key.split("/", 2);
  return prefix !== undefined && Number(prefix) < (address.includes(":") ? 32 : 16);
}

/** The same, by a clock that is so far ahead. */
export function laterBy(ms: number, offender: Offender): Offender {
  return { ...offender, until: offender.until + ms, crossedAt: offender.crossedAt + ms };
}

function readFacts(text: string): Facts | undefined {
  try {
    const { edges, about, share } = JSON.parse(text);
    if (!Array.isArray(edges) || !edges.every((edge) => typeof edge === "string")) return undefined;
    return { edges, about: readAbout(about), ...(Number.isFinite(share) && { share }) };
  } catch {
    return undefined;
  }
}

const aboutNames = ["ip", "host", "method", "path", "userAgent"] as const;

function readAbout(about: unknown): OffenderFacts {
  const told = (typeof about === "object" && about !== null ? about : {}) as Record<string, unknown>;
  const known = aboutNames.flatMap((name) => {
    const text = told[name];
    if (typeof text !== "string" || (name === "ip" && canonicalBlock(text) !== text)) return [];
    return [[name, text.slice(0, 200)] as const];
  });
  return Object.fromEntries(known);
}

import type { Cleared, Subject } from "tidegate";
import type { RefusedRequest } from "../refusal.js";
import type { AdminParts } from "./handler.js";
import { filledIn } from "./remembered.js";

/** Each asks the store. */
const mostRequests = 50;

/** Forgets a client as it was given, and as each of these requests came from it; a rule that knows it by one of them is not told as unknown. */
export async function clearAll(
  { gate }: Pick<AdminParts, "gate">,
  given: Partial<Subject> | undefined,
  requests: readonly RefusedRequest[],
): Promise<Cleared & { readonly remembered: number }> {
  const subjects = distinct(given ?? {}, requests);
  const all: Cleared[] = given === undefined ? [] : [await gate.clear(given)];
  for (const subject of subjects) all.push(await gate.clear(subject));
  return { ...together(all), remembered: subjects.length };
}

function distinct(given: Partial<Subject>, requests: readonly RefusedRequest[]): Partial<Subject>[] {
  const found = new Map<string, Partial<Subject>>();
  for (const { about } of requests) {
    // Others may be counted under the same names: those are forgotten only where they are meant.
    const { user: _, customer: __, account: ___, ...facts } = about;
    const subject = filledIn(given, facts);
    const { ip, method, host, path, header } = subject;
    found.set(JSON.stringify([ip, method, host, path, header?.("user-agent")]), subject);
    if (found.size === mostRequests) break;
  }
  return [...found.values()];
}

/** Each key once; a part of one only under a rule of which no whole one was known. */
function together(all: readonly Cleared[]): Cleared {
  const cleared = new Map(
    all.flatMap((each) => each.cleared).map((each) => [JSON.stringify([each.rule, each.key]), each]),
  );
  const wholly = new Set(
    [...cleared.values()].filter(({ missing }) => missing === undefined).map(({ rule }) => rule),
  );
  const kept = [...cleared.values()].filter(
    ({ rule, missing }) => missing === undefined || !wholly.has(rule),
  );
  const known = new Set(kept.map(({ rule }) => rule));
  const unknown = new Set(all.flatMap((each) => each.unknown).filter((rule) => !known.has(rule)));
  return { cleared: kept, unknown: [...unknown] };
}

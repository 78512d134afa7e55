import type { ControlDesk } from "../control-desk.js";
import type { Offender } from "../offenders.js";
import { type ApiProblem, notFound } from "./api-problem.js";
import type { HeldClient, RefusedAt } from "./types.js";

/** Offenders as people are told of them: with the names of the edges they go to, and how they stand there. */
export async function heldClients(desk: ControlDesk, offenders: readonly Offender[]): Promise<HeldClient[]> {
  const standings = await desk.standings(offenders);
  return offenders.map(({ key, rule, crossedAt, until, score, leaked, edges, about }, i) => {
    const standing = standings[i] ?? [];
    return {
      key,
      rule,
      since: crossedAt,
      until,
      score,
      leaked,
      edges: edges.length === 0 ? standing.map(({ edge }) => edge) : edges,
      standing,
      about,
    };
  });
}

/** Which edges refuse these clients now. */
export function refusedAt(held: readonly HeldClient[]): RefusedAt[] {
  return held.flatMap(({ key, rule, until, standing }) =>
    standing.filter(({ state }) => state === "held").map(({ edge }) => ({ edge, rule, key, until })),
  );
}

export async function noSuchEdge(desk: ControlDesk | undefined, name?: string): Promise<ApiProblem> {
  const names = ((await desk?.edges()) ?? []).map(({ edge }) => edge);
  return names.length === 0
    ? notFound(
        "No edge is configured here.",
        "Write one under edges in tidegate.yaml, and start the server again.",
      )
    : notFound(
        name === undefined
          ? "There is no such edge."
          : `There is no edge ${JSON.stringify(name.slice(0, 64))}.`,
        names.length === 1 ? `There is ${names[0]}.` : `There are ${names.join(", ")}.`,
      );
}

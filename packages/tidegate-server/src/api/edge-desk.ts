import type { ControlDesk } from "../control-desk.js";
import type { Offender } from "../offenders.js";
import { type ApiProblem, notFound } from "./api-problem.js";
import type { HeldClient } from "./types.js";

/** Offenders as people are told of them: with the names of the edges they go to. */
export async function heldClients(desk: ControlDesk, offenders: readonly Offender[]): Promise<HeldClient[]> {
  const all = offenders.some(({ edges }) => edges.length === 0)
    ? (await desk.edges()).map(({ edge }) => edge)
    : [];
  return offenders.map(({ key, rule, crossedAt, until, score, leaked, edges, about }) => ({
    key,
    rule,
    since: crossedAt,
    until,
    score,
    leaked,
    edges: edges.length === 0 ? all : edges,
    about,
  }));
}

export async function noSuchEdge(desk: ControlDesk | undefined): Promise<ApiProblem> {
  const names = ((await desk?.edges()) ?? []).map(({ edge }) => edge);
  return names.length === 0
    ? notFound(
        "No edge is configured here.",
        "Write one under edges in tidegate.yaml, and start the server again.",
      )
    : notFound("There is no such edge.", `There are ${names.join(", ")}.`);
}

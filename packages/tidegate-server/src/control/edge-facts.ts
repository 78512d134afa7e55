import type { Data, SetMode } from "../data.js";
import type { Offender } from "../offenders.js";

/** What is wished of one edge, and by whom, read from the data. */
export interface EdgeFacts {
  readonly offenders: readonly Offender[];
  readonly cleared: ReadonlySet<string>;
  readonly set: SetMode | undefined;
}

export type LoopData = Pick<Data, "offenders" | "edgeBook" | "leases">;

export async function readEdgeFacts(
  { offenders, edgeBook }: Pick<LoopData, "offenders" | "edgeBook">,
  edge: string,
  now: number,
): Promise<EdgeFacts> {
  const [held, clears, modes] = await Promise.all([offenders.now(), edgeBook.clears(), edgeBook.modes()]);
  return {
    offenders: held,
    cleared: new Set(clears.filter(({ until }) => until > now).map(({ key }) => key)),
    set: modes.get(edge),
  };
}

/** Every key this edge may have to answer for. */
export function keysAskedFor(
  facts: EdgeFacts,
  known: Iterable<string>,
  knows: (key: string) => boolean,
): Set<string> {
  const asked = new Set<string>();
  for (const { key } of facts.offenders) if (knows(key)) asked.add(key);
  for (const key of facts.cleared) if (knows(key)) asked.add(key);
  for (const key of known) asked.add(key);
  return asked;
}

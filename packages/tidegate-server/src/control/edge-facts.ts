import type { Data, SetMode } from "../data.js";
import type { Offender } from "../offenders.js";
import { clearedBy } from "./cleared-by.js";

/** What is wished of one edge, and by whom, read from the data. */
export interface EdgeFacts {
  readonly offenders: readonly Offender[];
  readonly cleared: ReadonlySet<string>;
  /** Under its key or another one. */
  readonly isCleared: (offender: Offender) => boolean;
  readonly set: SetMode | undefined;
}

export type LoopData = Pick<Data, "offenders" | "edgeBook" | "leases">;

export async function readEdgeFacts(
  { offenders, edgeBook }: Pick<LoopData, "offenders" | "edgeBook">,
  edge: string,
  now: number,
): Promise<EdgeFacts> {
  const [held, clears, modes] = await Promise.all([offenders.now(), edgeBook.clears(), edgeBook.modes()]);
  const inHoldOff = clears.filter(({ until }) => until > now);
  const clearOf = clearedBy(inHoldOff);
  return {
    offenders: held,
    cleared: new Set(inHoldOff.map(({ key }) => key)),
    isCleared: (offender) => clearOf(offender) !== undefined,
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

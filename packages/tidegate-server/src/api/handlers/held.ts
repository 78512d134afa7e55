import type { Hold } from "../../hold.js";
import type { Offender } from "../../offenders.js";
import { heldClients } from "../edge-desk.js";
import type { Handler } from "../handler.js";
import { mostQuery, parseAs } from "../shapes.js";
import type { HeldAnswer } from "../types.js";

/** Put together of whom the rules hold here and who goes to the edges: often the same ones. */
export const held: Handler<HeldAnswer> = async ({ desk, holds }, { query }) => {
  const { most = 100 } = parseAs(mostQuery, query, "query");
  const [here, offenders] = await Promise.all([holds(), desk?.offenders() ?? []]);
  const all = together(here, offenders);
  const page = all.sort((one, other) => other.until - one.until).slice(0, most);
  const atEdges = page.flatMap(({ offender }) => offender ?? []);
  const told = new Map(
    (desk ? await heldClients(desk, atEdges) : []).map((each) => [nameOf(each), each.edges] as const),
  );
  return {
    body: {
      held: page.map(({ offender: _, ...each }) => ({ ...each, edges: told.get(nameOf(each)) ?? [] })),
      count: all.length,
    },
  };
};

interface Found extends Hold {
  readonly isHere: boolean;
  readonly offender?: Offender;
}

function together(here: readonly Hold[], offenders: readonly Offender[]): Found[] {
  const found = new Map<string, Found>(here.map((hold) => [nameOf(hold), { ...hold, isHere: true }]));
  for (const offender of offenders) {
    const { rule, key, crossedAt, until, about } = offender;
    const hold = found.get(nameOf(offender)) ?? { rule, key, since: crossedAt, until, about, isHere: false };
    found.set(nameOf(offender), { ...hold, until: Math.max(hold.until, until), offender });
  }
  return [...found.values()];
}

function nameOf({ rule, key }: { readonly rule: string; readonly key: string }): string {
  return `${rule}\n${key}`;
}

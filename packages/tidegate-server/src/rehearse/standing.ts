import type { CustomerRecord, Gate, Policy } from "tidegate";
import type { KeptRequest } from "../kept-request.js";

/** Lists and customers as they are now, which no record of traffic has. */
export interface Standing {
  /** The policy with the live lists in it, and the limits customers have of their own. */
  under(policy: Policy): Policy;
  tierOf(customer: string): string | undefined;
}

/** So many customers are asked about at once. */
const atOnce = 50;

export async function standingOf(
  gate: Pick<Gate, "safelist" | "blocklist" | "customers">,
  requests: readonly KeptRequest[],
): Promise<Standing> {
  const [safelist, blocklist] = await Promise.all([gate.safelist.entries(), gate.blocklist.entries()]);
  const records = await recordsOf(gate, requests);
  const own: Record<string, string[]> = {};
  const tiers = new Map<string, string>();
  for (const [customer, { tier, limits }] of records) {
    if (limits !== undefined && limits.size > 0) {
      const name = `own-${tiers.size}`;
      own[name] = [...limits].map(([seconds, limit]) => `${limit} per ${seconds}s`);
      tiers.set(customer, name);
    } else if (tier !== undefined) tiers.set(customer, tier);
  }
  return {
    under: (policy) => ({
      ...policy,
      safelist: [...(policy.safelist ?? []), ...safelist.map(({ address }) => address)],
      blocklist: [...(policy.blocklist ?? []), ...blocklist.map(({ address }) => address)],
      ...(policy.tiers !== undefined && {
        tiers: { ...policy.tiers, ...(own as Policy["tiers"]) },
        // The first would be the default one anyway; said, so that none added here can be.
        ...(policy.defaultTier === undefined && firstTier(policy)),
      }),
    }),
    tierOf: (customer) => tiers.get(customer),
  };
}

function firstTier({ tiers = {} }: Policy): Pick<Policy, "defaultTier"> {
  const [first] = Object.keys(tiers);
  return first === undefined ? {} : { defaultTier: first };
}

async function recordsOf(
  { customers }: Pick<Gate, "customers">,
  requests: readonly KeptRequest[],
): Promise<Map<string, CustomerRecord>> {
  const seen = new Set<string>();
  for (const { customer } of requests) if (customer !== undefined && customer !== "") seen.add(customer);
  const ids = [...seen];
  const found = new Map<string, CustomerRecord>();
  for (let i = 0; i < ids.length; i += atOnce)
    await Promise.all(
      ids.slice(i, i + atOnce).map(async (id) => {
        const record = await customers.get(id);
        if (record !== undefined) found.set(id, record);
      }),
    );
  return found;
}

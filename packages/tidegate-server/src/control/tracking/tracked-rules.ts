import { type Check, type Duration, earrrl, type Limit, type RateText, type Store } from "tidegate";
import { isDigestKey, isEdgeKey } from "../../edge.js";
import type { Offender } from "../../offenders.js";
import type { TrackSettings } from "../../settings.js";

/** Counts of the tracker stand under these names in the store. */
export const trackedRules = {
  standard: "edge/standard",
  broad: "edge/broad",
  address: "edge/address",
} as const;

const byDigest: readonly string[] = [trackedRules.standard, trackedRules.broad];
const byAddress: readonly string[] = [trackedRules.address];

export interface TrackedLimit {
  readonly limit: Limit;
  readonly perSecond: number;
}

export function trackedLimit(rate: string, { halfLifeMs }: Pick<TrackSettings, "halfLifeMs">): TrackedLimit {
  const limit = earrrl({ rate: rate as RateText, halfLife: halfLifeMs as Duration });
  return { limit, perSecond: limit.args[0] as number };
}

/** In one call of the store. */
const mostChecks = 200;
/** What is dropped is all of a key, so any limit stands for those it was counted by. */
const anyLimit = earrrl({ rate: 1, halfLife: 30_000 });

/** Drops what the tracker counted of these offenders, and its holds: a client that was cleared begins afresh. */
export async function forgetTracked(
  store: Store,
  offenders: readonly Pick<Offender, "key">[],
): Promise<void> {
  const keys = [...new Set(offenders.map(({ key }) => key).filter(isEdgeKey))];
  const checks = keys.flatMap((key) =>
    (isDigestKey(key) ? byDigest : byAddress).map((rule): Check => ({ rule, key, limit: anyLimit })),
  );
  for (let i = 0; i < checks.length; i += mostChecks) await store.forget(checks.slice(i, i + mostChecks));
}

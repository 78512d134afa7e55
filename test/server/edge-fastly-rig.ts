import { onTestFinished } from "vitest";
import { type FastlyEdge, fastlyEdge } from "../../packages/tidegate-server/src/edges/fastly/fastly-edge.js";
import { Secret } from "../../packages/tidegate-server/src/secret.js";
import type { FastlyEdgeSettings } from "../../packages/tidegate-server/src/settings.js";
import { type FastlyFake, type FastlyFakeOptions, startFastlyFake } from "../servers/fastly-fake/index.js";

export function settingsFor(
  fake: FastlyFake,
  more: Partial<FastlyEdgeSettings> = {},
): FastlyEdgeSettings & { name: string } {
  return {
    kind: "fastly",
    name: "cdn",
    service: fake.service.id,
    token: new Secret(fake.token),
    prefix: "tidegate",
    shards: 1,
    maxItems: 1_000,
    api: fake.url,
    ...more,
  };
}

export interface FastlyRig {
  readonly fake: FastlyFake;
  readonly edge: FastlyEdge;
  /** What the edge and the fake take for now. */
  readonly time: { now: number };
  /** Bulk writes so far. */
  writes(): number;
}

/** A fake with its dictionaries, and an edge to it, on a clock that stands still. */
export async function fastlyRig(
  more: Partial<FastlyEdgeSettings> = {},
  options: Omit<FastlyFakeOptions, "clock"> = {},
): Promise<FastlyRig> {
  const time = { now: Math.floor(Date.now() / 1_000) * 1_000 };
  const clock = (): number => time.now;
  const fake = await startFastlyFake({ ...options, clock });
  onTestFinished(() => fake.close());
  const settings = settingsFor(fake, more);
  fake.create(...Array.from({ length: settings.shards }, (_, shard) => `tidegate_${shard}`), "tidegate_conf");
  const edge = fastlyEdge(settings, clock);
  onTestFinished(() => edge.close());
  const writes = (): number => fake.calls.filter(({ method }) => method === "PATCH").length;
  return { fake, edge, time, writes };
}

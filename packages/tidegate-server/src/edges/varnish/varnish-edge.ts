import { randomBytes } from "node:crypto";
import {
  type Edge,
  type EdgeMode,
  type EdgeState,
  edgeModes,
  isEdgeKey,
  type RefusedKey,
} from "../../edge.js";
import type { VarnishEdgeSettings } from "../../settings.js";
import { forEach } from "./for-each.js";
import { type OrderOutcome, varnishOrders } from "./varnish-orders.js";

/** What is trusted is asked for again, so many keys at each look, in turn: what Varnish threw away shows. */
const sampleSize = 50;

/**
 * Varnish, whose cache is the table. It can not list: what this adapter put there itself is trusted as long as the marker stands and nobody else
 * wrote, all else is asked for key by key.
 */
export function varnishEdge(options: Omit<VarnishEdgeSettings, "kind"> & { readonly name: string }): Edge {
  const { name, maxEntries } = options;
  const orders = varnishOrders(options);
  const self = randomBytes(16).toString("hex");
  const trusted = new Map<string, number>();
  let epoch: string | undefined;
  let isWriter = false;
  let sampled = 0;
  let known = { said: orders.takes, shape: shapeOf(orders.takes) };

  function takes(key: string): boolean {
    if (known.said !== orders.takes) known = { said: orders.takes, shape: shapeOf(orders.takes) };
    return isEdgeKey(key) && known.shape.test(key);
  }

  /** Forgets what it trusts if the table was lost, or somebody else wrote since. */
  async function look(signal: AbortSignal): Promise<{ mode: EdgeMode | undefined; isLost: boolean }> {
    const [marker, writer, mode] = await Promise.all(
      (["marker", "writer", "mode"] as const).map((each) => orders.get(each, signal)),
    );
    isWriter = writer === self;
    if (marker === undefined || marker !== epoch || !isWriter) trusted.clear();
    if (marker === undefined) {
      const fresh = randomBytes(16).toString("hex");
      await orders.set("marker", fresh, signal);
      epoch = fresh;
    } else epoch = marker;
    return { mode: edgeModes.find((each) => each === mode), isLost: marker === undefined };
  }

  /** Answers how many of them are somebody else's, and how many were not as trusted. */
  async function probe(
    keys: Iterable<string>,
    signal: AbortSignal,
  ): Promise<{ foreign: number; lost: number }> {
    let [foreign, lost] = [0, 0];
    await forEach(keys, async (key) => {
      const value = await orders.get(key, signal);
      const until = value !== undefined && /^\d+$/.test(value) ? Number(value) * 1_000 : undefined;
      if (until === undefined && value !== undefined) foreign++;
      if (until !== trusted.get(key)) lost++;
      if (until === undefined) trusted.delete(key);
      else trusted.set(key, until);
    });
    return { foreign, lost };
  }

  async function probeAll(asked: readonly string[], signal: AbortSignal): Promise<number> {
    const believed = asked.filter((key) => trusted.has(key));
    const others = asked.filter((key) => !trusted.has(key));
    const start = believed.length === 0 ? 0 : sampled % believed.length;
    const sample = [...believed.slice(start), ...believed.slice(0, start)].slice(0, sampleSize);
    sampled = start + sample.length;
    const seen = await probe(sample, signal);
    // One that is not as believed casts doubt on all.
    const doubtful = seen.lost === 0 ? [] : believed.filter((key) => !sample.includes(key));
    return seen.foreign + (await probe([...others, ...doubtful], signal)).foreign;
  }

  /** The marker is gone, and most likely all with it: then a few tell for all. */
  async function probeLost(asked: readonly string[], signal: AbortSignal): Promise<number> {
    const step = Math.max(1, Math.floor(asked.length / sampleSize));
    const sample = new Set(asked.filter((_, i) => i % step === 0));
    const { foreign } = await probe(sample, signal);
    if (foreign === 0 && trusted.size === 0) return 0;
    const others = asked.filter((key) => !sample.has(key));
    return foreign + (await probe(others, signal)).foreign;
  }

  async function beWriter(signal: AbortSignal): Promise<void> {
    if (isWriter) return;
    await orders.set("writer", self, signal);
    trusted.clear();
    isWriter = true;
  }

  return {
    name,
    abilities: { takes, maxEntries, maxBatch: 500, isListable: false, delayMs: 0 },

    async current(asked, signal): Promise<EdgeState> {
      signal.throwIfAborted();
      const { mode, isLost } = await look(signal);
      const now = Date.now();
      for (const [key, until] of trusted) if (until <= now) trusted.delete(key);
      const answerable = [...new Set(asked)].filter(takes);
      const foreign = await (isLost ? probeLost : probeAll)(answerable, signal);
      const entries = new Map<string, number>();
      for (const key of answerable) {
        const until = trusted.get(key);
        if (until !== undefined && until > now) entries.set(key, until);
      }
      return { entries, foreign, epoch: epoch as string, ...(mode && { mode }) };
    },

    async apply({ remove, put }, signal) {
      signal.throwIfAborted();
      await beWriter(signal);
      await forEach(remove.filter(takes), async (key) => {
        trusted.delete(key);
        await orders.remove(key, signal);
      });
      const refused: RefusedKey[] = [];
      await forEach(put, async ({ key, until }) => {
        trusted.delete(key);
        const seconds = Math.ceil(until / 1_000);
        const outcome = takes(key) ? await orders.put(key, Math.max(0, seconds), signal) : "unknown";
        if (outcome === "done") trusted.set(key, seconds * 1_000);
        else refused.push({ key, why: reasons[outcome] });
      });
      return { refused, left: [] };
    },

    async setMode(mode, signal) {
      signal.throwIfAborted();
      await orders.set("mode", mode, signal);
    },

    async close() {
      orders.close();
    },
  };
}

const reasons: Readonly<Record<Exclude<OrderOutcome, "done">, string>> = {
  kept: "somebody put an entry without an end there",
  unknown: "the VCL looks up no such keys",
};

/** Keys the VCL looks up, by what it says of itself: IPv4, and IPv6 by block or whole, and digests of one form. */
function shapeOf(said = "sha256 64"): RegExp {
  const [form, prefix] = said.split(" ");
  const digest = form === "sha1" ? "[0-9a-f]{40}" : "[0-9a-f]{64}";
  return prefix === "128"
    ? new RegExp(`^(?:${digest}|[^/]*[.:][^/]*)$`)
    : new RegExp(`^(?:${digest}|[\\d.]+|.*::/64)$`);
}

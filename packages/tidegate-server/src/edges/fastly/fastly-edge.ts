import { createHash } from "node:crypto";
import type { Clock } from "tidegate";
import {
  type Edge,
  type EdgeChanges,
  type EdgeEntry,
  EdgeError,
  type EdgeMode,
  type EdgeOutcome,
  type EdgeState,
  edgeModes,
  isEdgeKey,
  type RefusedKey,
} from "../../edge.js";
import type { FastlyEdgeSettings } from "../../settings.js";
import { canaryWatch } from "./canary-watch.js";
import { fastlyClient } from "./fastly-client.js";
import { forEach } from "./for-each.js";
import { hasEnded, isOurs, mostOps, planShard, type ShardWish } from "./plan-shard.js";
import { confName, isLookedUp, shardNames, shardOf } from "./shards.js";
import { fastlyTables } from "./tables.js";
import { writeBudget } from "./write-budget.js";
import { writeItems } from "./write-items.js";

export interface FastlyEdgeOptions extends FastlyEdgeSettings {
  readonly name: string;
}

export interface FastlyEdge extends Edge {
  /** From the last write measured until the service told it. Undefined until then, and without a canary. */
  propagationMs(): number | undefined;
}

/** An apply begins no more writes after this: whoever asked for it does not wait much longer. */
const longestMs = 1_500;
/** The least between two tries. */
const restMs = 100;

/** Dictionaries of a Fastly service, written in bulk and within the token's hourly budget. */
export function fastlyEdge(options: FastlyEdgeOptions, clock: Clock = Date.now): FastlyEdge {
  const { name, prefix, shards, maxItems } = options;
  // One write to each dictionary, and the canary's.
  const budget = writeBudget({ burst: shards + (options.canary === undefined ? 0 : 1), clock });
  const client = fastlyClient({ ...options, budget });
  const names = shardNames(prefix, shards);
  const conf = confName(prefix);
  const tables = fastlyTables({ client, names: [...names, conf], clock });
  const canary = options.canary === undefined ? undefined : canaryWatch(options.canary, clock);

  return {
    name,
    abilities: {
      takes: isLookedUp,
      maxEntries: shards * maxItems,
      maxBatch: shards * mostOps,
      isListable: true,
      delayMs: 30_000,
    },
    propagationMs: () => canary?.propagationMs(),

    async current(_asked, signal): Promise<EdgeState> {
      await tables.read(tables.names, signal);
      const now = clock();
      const entries = new Map<string, number>();
      let foreign = 0;
      for (const [shard, table] of names.entries())
        for (const [key, value] of tables.items(table)) {
          if (!isOurs(key, value)) foreign++;
          // Elsewhere the VCL would not find it: left from another number of shards.
          else if (shardOf(key, shards) === shard && !hasEnded(value, now))
            entries.set(key, Number(value) * 1_000);
        }
      const mode = edgeModes.find((each) => each === tables.items(conf).get("mode"));
      const epoch = createHash("sha256").update(tables.ids().join()).digest("hex").slice(0, 16);
      return { entries, foreign, epoch, ...(mode && { mode }) };
    },

    async apply(changes, signal): Promise<EdgeOutcome> {
      signal.throwIfAborted();
      const { wishes, refused } = byShard(changes, shards);
      await tables.ensure(
        wishes.map(({ shard }) => names[shard] as string),
        signal,
      );
      const removed = new Set(changes.remove);
      const left: string[] = [];
      const lateAt = performance.now() + longestMs;
      const isLate = (): boolean => performance.now() > lateAt;
      let writes = 0;

      async function tell({ shard, wish }: OfShard): Promise<void> {
        const table = names[shard] as string;
        const items = tables.items(table);
        const plan = planShard(wish, { items, shard, shards, maxItems, name: table }, clock());
        refused.push(...plan.refused);
        if (plan.ops.length === 0) return;
        const written = await tables.writing(table, (id) =>
          writeItems({ client, budget, now: clock, isLate }, { id, items, ...plan }, signal),
        );
        writes += written.writes;
        refused.push(...written.refused);
        const asked = new Set([...wish.remove, ...wish.put.map(({ key }) => key)]);
        left.push(...written.left.map(({ item_key }) => item_key).filter((key) => asked.has(key)));
      }

      await forEach(wishes, tell);
      if (writes > 0 && budget.nextAt("entry") <= clock()) await sendCanary(signal);
      if (left.length === 0) return { refused, left };
      const kind = left.some((key) => removed.has(key)) ? "removal" : "entry";
      return { refused, left, resumeAt: Math.max(budget.nextAt(kind), clock() + restMs) };
    },

    async setMode(mode: EdgeMode, signal): Promise<void> {
      signal.throwIfAborted();
      await tables.ensure([conf], signal);
      if (tables.items(conf).get("mode") === mode) return;
      await setConf("mode", mode, signal);
    },

    async close() {
      canary?.close();
    },
  };

  async function setConf(key: string, value: string, signal: AbortSignal): Promise<void> {
    const items = [{ op: "upsert", item_key: key, item_value: value }];
    await tables.writing(conf, async (id) => {
      const answer = await client.write("PATCH", `/dictionary/${id}/items`, { items }, signal);
      if (answer.status >= 300) throw notWritten(name, key, client.detail(answer), answer.status);
      tables.items(conf).set(key, value);
    });
  }

  /** Only measures: that it fails changes nothing. */
  async function sendCanary(signal: AbortSignal): Promise<void> {
    const sent = canary?.next();
    if (sent === undefined) return;
    try {
      await tables.ensure([conf], signal);
      await setConf("canary", String(sent), signal);
      canary?.watch(sent);
    } catch {
      signal.throwIfAborted();
    }
  }
}

interface OfShard {
  readonly shard: number;
  readonly wish: ShardWish;
}

/** Each key once, by dictionary: first where somebody is removed, then by who is worst. */
function byShard({ remove, put }: EdgeChanges, shards: number): { wishes: OfShard[]; refused: RefusedKey[] } {
  const refused: RefusedKey[] = [];
  const wishes = new Map<number, { remove: string[]; put: Map<string, EdgeEntry> }>();
  const wishOf = (key: string): { remove: string[]; put: Map<string, EdgeEntry> } => {
    const shard = shardOf(key, shards);
    const wish = wishes.get(shard) ?? { remove: [], put: new Map<string, EdgeEntry>() };
    wishes.set(shard, wish);
    return wish;
  };
  for (const key of remove) if (isEdgeKey(key)) wishOf(key).remove.push(key);
  for (const entry of put)
    if (isLookedUp(entry.key)) wishOf(entry.key).put.set(entry.key, entry);
    else refused.push({ key: entry.key, why: "the VCL looks up no such key" });
  return {
    wishes: [...wishes].map(([shard, wish]) => ({
      shard,
      wish: { remove: wish.remove, put: [...wish.put.values()] },
    })),
    refused,
  };
}

function notWritten(edge: string, key: string, detail: string, status: number): EdgeError {
  if (status === 429)
    return new EdgeError(
      "TG_EDGE_BUDGET",
      edge,
      `Fastly takes no more writes this hour: \`${key}\` is not set.`,
      "It is tried again. Give the edge a token of its own: other users of the same one spend its writes.",
      true,
    );
  return new EdgeError(
    "TG_EDGE_SETUP",
    edge,
    `Fastly does not take \`${key}\` (${detail}).`,
    "Run `tidegate edge setup fastly`, first with --dry-run to see what it would do.",
    false,
  );
}

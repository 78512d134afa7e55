import { type EdgeEntry, isEdgeKey, type RefusedKey } from "../../edge.js";
import type { Items } from "./dictionaries.js";
import { shardOf } from "./shards.js";

/** One operation of a bulk write. Only these two: neither fails for what is there already. */
export type ItemOp =
  | { readonly op: "upsert"; readonly item_key: string; readonly item_value: string }
  | { readonly op: "delete"; readonly item_key: string };

export interface ShardPlan {
  /** In their order: removals, then entries, worst first, then what has ended. */
  readonly ops: readonly ItemOp[];
  /** How many of them, from the first, were asked for as removals. */
  readonly removals: number;
  readonly refused: readonly RefusedKey[];
}

export interface ShardWish {
  readonly remove: readonly string[];
  readonly put: readonly EdgeEntry[];
}

export interface ShardPlace {
  readonly items: Items;
  readonly shard: number;
  readonly shards: number;
  readonly maxItems: number;
  /** Its name, for people. */
  readonly name: string;
}

/** What has to be written so that the wish holds, and never more items than the dictionary takes. */
export function planShard({ remove, put }: ShardWish, place: ShardPlace, now: number): ShardPlan {
  const { items, shard, shards, maxItems, name } = place;
  const wanted = new Set(put.map(({ key }) => key));
  const removals = remove.filter((key) => !wanted.has(key) && isOurs(key, items.get(key)));
  const gone = new Set(removals);
  const useless = [...items].flatMap(([key, value]) =>
    !wanted.has(key) &&
    !gone.has(key) &&
    isOurs(key, value) &&
    (hasEnded(value, now) || shardOf(key, shards) !== shard)
      ? [key]
      : [],
  );
  let room = maxItems - items.size + removals.length;
  const makingRoom: ItemOp[] = [];
  const upserts: ItemOp[] = [];
  const refused: RefusedKey[] = [];
  for (const { key, until } of put) {
    const value = String(Math.min(latest, Math.ceil(until / 1_000)));
    const there = items.get(key);
    if (there === value) continue;
    if (there !== undefined && !isOurs(key, there)) {
      refused.push({ key, why: "somebody else's entry stands there" });
      continue;
    }
    if (there === undefined) {
      const ended = room < 1 ? useless.pop() : undefined;
      if (ended !== undefined) makingRoom.push({ op: "delete", item_key: ended });
      else if (room < 1) {
        refused.push({ key, why: `its dictionary ${name} is full (${maxItems} items)` });
        continue;
      } else room--;
    }
    upserts.push({ op: "upsert", item_key: key, item_value: value });
  }
  const deletes = [...removals.map(deletion), ...makingRoom];
  const ops = [...deletes, ...upserts];
  // What has ended goes with a write that is made anyway.
  const spare = ops.length === 0 ? 0 : Math.max(0, mostOps - (ops.length % mostOps || mostOps));
  return { ops: [...ops, ...useless.slice(0, spare).map(deletion)], removals: removals.length, refused };
}

/** So many operations Fastly takes in one write. */
export const mostOps = 1_000;

/** Of twelve digits, which is all the VCL reads. */
const latest = 999_999_999_999;

/** An item of ours is an edge key with an end in digits. */
export function isOurs(key: string, value: string | undefined): boolean {
  return value !== undefined && /^\d{1,12}$/.test(value) && isEdgeKey(key);
}

export function hasEnded(value: string, now: number): boolean {
  return Number(value) * 1_000 <= now;
}

function deletion(key: string): ItemOp {
  return { op: "delete", item_key: key };
}

import type { RefusedKey } from "../../edge.js";
import type { Items } from "./dictionaries.js";
import { type FastlyClient, notSetUp } from "./fastly-client.js";
import { type ItemOp, mostOps } from "./plan-shard.js";
import type { WriteBudget, WriteKind } from "./write-budget.js";

export interface WriteMeans {
  readonly client: FastlyClient;
  readonly budget: WriteBudget;
  readonly now: () => number;
  /** Asked before each write but the first: it is too late to begin one. */
  readonly isLate: () => boolean;
}

export interface WriteOrder {
  readonly id: string;
  /** Told what was written. */
  readonly items: Items;
  readonly ops: readonly ItemOp[];
  /** Of the ops, from the first, so many are removals. */
  readonly removals: number;
}

export interface Written {
  readonly writes: number;
  readonly refused: readonly RefusedKey[];
  /** Not written for want of budget or time. */
  readonly left: readonly ItemOp[];
}

/** Finding what Fastly refuses among a thousand takes about twenty writes; no apply spends more than two such searches. */
const mostSearches = 40;

/** Writes to one dictionary, within the budget. A batch that is refused is halved until those who spoil it are found. */
export async function writeItems(
  { client, budget, now, isLate }: WriteMeans,
  { id, items, ops, removals }: WriteOrder,
  signal: AbortSignal,
): Promise<Written> {
  const refused: RefusedKey[] = [];
  const left: ItemOp[] = [];
  let begun = 0;
  let writes = 0;
  let searches = 0;

  for (let at = 0; at < ops.length; at += mostOps)
    await write(ops.slice(at, at + mostOps), at < removals ? "removal" : "entry");
  return { writes, refused, left };

  async function write(batch: readonly ItemOp[], kind: WriteKind): Promise<void> {
    const isEnough = left.length > 0 || searches > mostSearches || (begun > 0 && isLate());
    if (isEnough || budget.nextAt(kind) > now()) {
      left.push(...batch);
      return;
    }
    begun++;
    const answer = await client.write("PATCH", `/dictionary/${id}/items`, { items: batch }, signal, kind);
    if (answer.status === 429) {
      left.push(...batch);
      return;
    }
    if (answer.status < 300) {
      writes++;
      for (const each of batch) note(each);
      return;
    }
    if (answer.status === 404 && batch.every(({ op }) => op === "upsert"))
      throw notSetUp(client.edge, `a dictionary is gone (${client.detail(answer)}).`);
    searches++;
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) {
      // A removal that is refused had nothing to remove.
      if (only.op === "delete") items.delete(only.item_key);
      else refused.push({ key: only.item_key, why: `Fastly refuses it: ${client.detail(answer)}` });
      return;
    }
    // From here on the reserve helps: half a search finds nobody.
    const half = batch.length >> 1;
    await write(batch.slice(0, half), "order");
    await write(batch.slice(half), "order");
  }

  function note(each: ItemOp): void {
    if (each.op === "delete") items.delete(each.item_key);
    else items.set(each.item_key, each.item_value);
  }
}

import { createHash } from "node:crypto";
import { badRequest, type Dictionary, type Item, limits, notFound, timeNow } from "./service.js";

/** An item as the API shows it. */
export function shownItem(
  serviceId: string,
  { id }: Dictionary,
  [key, item]: readonly [string, Item],
): object {
  return {
    dictionary_id: id,
    service_id: serviceId,
    item_key: key,
    item_value: item.value,
    created_at: item.createdAt,
    updated_at: item.updatedAt,
    deleted_at: null,
  };
}

/** What changes whenever an item does. */
export function info({ items, updatedAt }: Dictionary): object {
  const text = JSON.stringify([...items].map(([key, { value }]) => [key, value]).sort());
  return {
    item_count: items.size,
    last_updated: updatedAt.replace("T", " ").replace("Z", ""),
    digest: createHash("sha256").update(text).digest("hex"),
  };
}

export interface Op {
  op?: unknown;
  item_key?: unknown;
  item_value?: unknown;
}

/** All of them, or none: the first that is wrong says so. */
export function bulk(dictionary: Dictionary, ops: unknown, poison: ReadonlySet<string>, most: number): void {
  if (!Array.isArray(ops)) throw badRequest("items is not a list");
  if (ops.length > limits.ops)
    throw badRequest(`You can't have more than ${limits.ops} items in one batch operation`);
  const trial: Dictionary = { ...dictionary, items: new Map(dictionary.items) };
  for (const each of ops as Op[]) {
    if (typeof each.item_key === "string" && poison.has(each.item_key))
      throw badRequest(`Item '${each.item_key}' is bad`);
    one(trial, each, most);
  }
  dictionary.items.clear();
  for (const [key, item] of trial.items) dictionary.items.set(key, item);
  dictionary.updatedAt = timeNow();
}

export function one(
  dictionary: Dictionary,
  { op, item_key: key, item_value: value }: Op,
  most: number,
): void {
  const { items } = dictionary;
  if (typeof key !== "string" || key === "") throw badRequest("item_key can not be blank");
  if ([...key].length > limits.key) throw badRequest(`item_key is longer than ${limits.key} characters`);
  const there = items.get(key);
  if (op === "delete") {
    if (there === undefined) throw notFound(`Couldn't find dictionary item '${key}'`);
    items.delete(key);
    dictionary.updatedAt = timeNow();
    return;
  }
  if (op !== "create" && op !== "update" && op !== "upsert")
    throw badRequest(`'${String(op)}' is no operation`);
  if (typeof value !== "string") throw badRequest("item_value can not be blank");
  if ([...value].length > limits.value)
    throw badRequest(`item_value is longer than ${limits.value} characters`);
  if (op === "create" && there !== undefined) throw badRequest(`Duplicate dictionary_item: '${key}'`);
  if (op === "update" && there === undefined) throw notFound(`Couldn't find dictionary item '${key}'`);
  if (there === undefined && items.size >= most) throw badRequest(`Exceeding max dictionary items (${most})`);
  const at = timeNow();
  items.set(key, { value, createdAt: there?.createdAt ?? at, updatedAt: at });
  dictionary.updatedAt = at;
}

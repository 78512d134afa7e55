import type { ClearedKey } from "../data.js";
import { isAddressKey } from "../edge.js";
import type { Offender } from "../offenders.js";
import { overlapTest } from "./address-overlap.js";
import { clientBlock } from "./client-block.js";

/** What people cleared that keeps an offender from the edges. */
export type ClearedBy = (offender: Pick<Offender, "key" | "about">) => ClearedKey | undefined;

/** By its key; and where a client was cleared by its address, by whatever key that client is held, or would be refused. */
export function clearedBy(clears: readonly ClearedKey[]): ClearedBy {
  const byKey = new Map(clears.map((each) => [each.key, each]));
  const clients = clears
    .filter(({ key, isClient }) => isClient && isAddressKey(key))
    .map((clear) => ({ clear, block: clientBlock(clear.key) }));
  if (clients.length === 0) return ({ key }) => byKey.get(key);
  const byBlock = new Map(clients.map(({ clear, block }) => [block, clear]));
  const tests = clients.map(({ clear, block }) => ({ clear, overlaps: overlapTest([block]) }));
  const wide = tests.filter((_, i) => clients[i]?.block.includes("/") && !clients[i]?.block.endsWith("/64"));

  function byAddress(address: string): ClearedKey | undefined {
    const own = byBlock.get(clientBlock(address));
    if (own !== undefined) return own;
    const others = address.includes("/") ? tests : wide;
    return others.find(({ overlaps }) => overlaps(address))?.clear;
  }

  return ({ key, about: { ip } }) =>
    byKey.get(key) ??
    (ip === undefined ? undefined : byAddress(ip)) ??
    (isAddressKey(key) ? byAddress(key) : undefined);
}

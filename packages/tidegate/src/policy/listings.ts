import type { ListEntry, ListName } from "../directory.js";
import type { Client } from "./client.js";
import type { Address } from "./identity/address.js";
import { hasEnded } from "./lists/address-set.js";
import type { Mirror } from "./lists/mirror.js";
import type { CompiledPolicy } from "./policy.js";

/** The first list that names a client, and its entry; or none. True as long as neither list nor policy changes, nor the entry ends. */
export interface Listing {
  readonly policy: CompiledPolicy | undefined;
  readonly version: number;
  readonly list: ListName | undefined;
  readonly entry: ListEntry | undefined;
}

/** Which list names a client, safelist before blocklist, the policy's own and the directory's. Remembered with the client. */
export function listingOf(
  client: Client,
  policy: CompiledPolicy,
  mirror: Mirror,
  at: number,
): Listing | undefined {
  const { address, listing: known } = client;
  if (address === undefined) return undefined;
  if (known !== undefined && known.policy === policy && known.version === mirror.version) {
    if (known.entry === undefined || !hasEnded(known.entry, at)) return known;
  }
  const found = look(address, policy, mirror, at);
  client.listing = found;
  return found;
}

function look(address: Address, policy: CompiledPolicy, mirror: Mirror, at: number): Listing {
  const { version } = mirror;
  for (const list of ["safelist", "blocklist"] as const) {
    const entry = policy[list].find(address, at) ?? mirror.find(list, address, at);
    if (entry !== undefined) return { policy, version, list, entry };
  }
  if (unlisted.policy !== policy || unlisted.version !== version)
    unlisted = { policy, version, list: undefined, entry: undefined };
  return unlisted;
}

/** Most clients are on no list: they share one listing, which is then in the processor's cache. */
let unlisted: Listing = { policy: undefined, version: -1, list: undefined, entry: undefined };

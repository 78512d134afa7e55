import { type Address, wordMask } from "../identity/address.js";

/** Another in every process, so that nobody can easily prepare addresses whose hashes collide. */
const seed = Math.floor(Math.random() * 2 ** 32);

/** A small integer of the bits within the prefix. Blocks that one word tells apart are never confused: all of IPv4, and IPv6 to /32. */
export function blockHash({ a, b, c, d }: Address, prefix: number): number {
  const first = a & wordMask(prefix);
  if (prefix <= 32) return first;
  let hash = mixed(seed ^ first);
  hash = mixed(hash ^ (b & wordMask(prefix - 32)));
  if (prefix <= 64) return hash;
  hash = mixed(hash ^ (c & wordMask(prefix - 64)));
  return mixed(hash ^ (d & wordMask(prefix - 96)));
}

/** Every bit of the word changes about half of the answer's; no two words have the same. */
function mixed(word: number): number {
  let hash = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

import { createHash } from "node:crypto";
import { isDigestKey, isEdgeKey } from "../../edge.js";

/** How many dictionaries entries can be spread over. */
export const shardCounts: readonly number[] = [1, 2, 4, 8, 16];

/** Dictionaries of entries, in order of their shards. */
export function shardNames(prefix: string, shards: number): string[] {
  return Array.from({ length: shards }, (_, shard) => `${prefix}_${shard}`);
}

/** The dictionary of `mode` and `canary`. */
export function confName(prefix: string): string {
  return `${prefix}_conf`;
}

/** By the first hex digit: of a digest itself, of an address's SHA-256. The VCL does the same. */
export function shardOf(key: string, shards: number): number {
  const digest = isDigestKey(key) ? key : createHash("sha256").update(key).digest("hex");
  return Math.floor((Number.parseInt(digest.charAt(0), 16) * shards) / 16);
}

/** The first digits of a shard's keys, as a class of a regular expression: `[4-7]`. */
export function shardDigits(shard: number, shards: number): string {
  const width = 16 / shards;
  const digits = "0123456789abcdef".slice(shard * width, (shard + 1) * width);
  return `[${digits}]`;
}

/** What the VCL looks up: digests, addresses, and the networks /24 of IPv4, /64 and /48 of IPv6. */
export function isLookedUp(key: string): boolean {
  return isEdgeKey(key) && (!key.includes("/") || /^(?:[\d.]+\/24|[\da-f:]+::\/(?:64|48))$/.test(key));
}

/** As dictionaries and VCL subroutines may be called. */
export function isPrefix(prefix: string): boolean {
  return /^[a-z][a-z0-9_]{0,63}$/i.test(prefix);
}

import type { BusyKey } from "tidegate";
import { peerTest } from "tidegate/http";
import type { Hold } from "../hold.js";
import type { Offender } from "../offenders.js";
import type { ClientFilter, RefusalFacts, RefusedClient } from "../refusal.js";

/** A client that came lately, as far as this server knows. */
export interface SeenClient {
  /** As clients are counted: an address, or of IPv6 its block. */
  readonly client: string;
  /** One of its addresses, where one is known. */
  readonly ip?: string;
  /** Lately, and they fade. Of one that is not among the busiest only those that were refused are known. */
  readonly requests: number;
  /** Of these. */
  readonly refused: number;
  /** When it was last refused, as long as that is remembered. */
  readonly refusedAt?: number;
  /** Held by a rule or for the edges, until then. */
  readonly heldUntil?: number;
  /** As the client wrote it. */
  readonly userAgent?: string;
  /** The request it was last refused for, as long as that is remembered. */
  readonly about?: RefusalFacts;
}

/** Clients seen lately, those with the most requests first. */
export type SeenClients = (filter: ClientFilter) => Promise<SeenClient[]>;

export interface SeenClientsOptions {
  readonly busiest: (most: number) => Promise<readonly BusyKey[]>;
  readonly refused: (filter: ClientFilter) => Promise<readonly RefusedClient[]>;
  readonly offenders: () => Promise<readonly Offender[]>;
  readonly holds: () => Promise<readonly Hold[]>;
  /** Under what an address is counted. */
  readonly clientOf: (ip: string) => string;
  /** Whether an address or block has one in common with these. */
  readonly overlap: (written: readonly string[]) => (address: string) => boolean;
}

/** As many as are kept by name. */
const mostBusy = 1_000;

/** Puts together who is busiest, who was refused and who is held: nobody else is known by name. */
export function seenClients(options: SeenClientsOptions): SeenClients {
  const { busiest, refused, offenders, holds, clientOf, overlap } = options;
  return async (filter) => {
    const [busy, remembered, atEdges, here] = await Promise.all([
      busiest(mostBusy),
      refused(filter),
      // Who is held is worth less than an answer.
      offenders().catch(() => []),
      holds().catch(() => []),
    ]);
    const { within, key } = filter;
    const held = [...atEdges, ...here.filter((hold) => isOfAddress(hold, clientOf))];
    const isWithin = within === undefined ? () => true : withinTest(within, overlap(within));
    const found = new Map<string, SeenClient>();
    const add = (client: string, more: Partial<SeenClient>): void => {
      found.set(client, { client, requests: 0, refused: 0, ...found.get(client), ...more });
    };
    for (const { ip, refused: times, at, about } of [...remembered].sort((one, other) => one.at - other.at)) {
      const client = clientOf(ip);
      const { userAgent } = about;
      const before = found.get(client)?.refused ?? 0;
      add(client, {
        ip,
        requests: before + times,
        refused: before + times,
        refusedAt: at,
        about,
        ...(userAgent !== undefined && { userAgent }),
      });
    }
    for (const { key: own, about, until } of held) {
      const address = about.ip ?? own;
      if (!/[.:]/.test(address) || !isWithin(address) || (key !== undefined && own !== key)) continue;
      const client = clientOf(address);
      const { ip, heldUntil = 0, userAgent = about.userAgent } = found.get(client) ?? {};
      add(client, {
        heldUntil: Math.max(until, heldUntil),
        ...((ip ?? about.ip) !== undefined && { ip: (ip ?? about.ip) as string }),
        ...(userAgent !== undefined && { userAgent }),
      });
    }
    for (const { key: client, count, refused: times } of busy) {
      const known = found.get(client);
      if (known === undefined && (key !== undefined || !isAddress(client) || !isWithin(client))) continue;
      // Both fade: what is remembered does not, and would soon be more than all its requests.
      add(client, { requests: Math.round(count), refused: Math.round(times) });
    }
    return [...found.values()].sort(
      (one, other) => other.requests - one.requests || other.refused - one.refused,
    );
  };
}

/** A customer who is held may come from many addresses, none of which is. */
function isOfAddress({ key, about: { ip } }: Hold, clientOf: (ip: string) => string): boolean {
  return ip !== undefined && (key.includes(ip) || key.includes(clientOf(ip)) || digest.test(key));
}

const digest = /^[0-9a-f]{40,64}$/;

/** Clients without an address have another name. */
function isAddress(key: string): boolean {
  return /^[\da-f.:/]+$/i.test(key) && /[.:]/.test(key);
}

/** Single addresses, which a paste has many of, are looked up; only blocks are gone through. */
function withinTest(
  within: readonly string[],
  overlaps: (address: string) => boolean,
): (address: string) => boolean {
  const single = new Set(within.filter((each) => !each.includes("/")));
  const isInBlock = peerTest(within.filter((each) => each.includes("/")));
  return (address) => single.has(address) || (address.includes("/") ? overlaps(address) : isInBlock(address));
}

import { ConfigError, type ListName } from "tidegate";
import { canonicalBlock, type PeerTest, peerTest } from "tidegate/http";
import { ApiProblem } from "./api-problem.js";

const isLoopback = peerTest(["loopback"]);

/** Whom no slip is to shut out. */
export interface Guarded {
  /** Where the caller calls from. */
  readonly peer: string | undefined;
  readonly isProxy: (address: string) => boolean;
}

/** Stops what is most likely a slip: shutting out oneself, this machine or a proxy, or naming a good part of the Internet. */
export function guardList(list: ListName, address: string, guarded: Guarded): void {
  const why = slipOf(list, address, guarded);
  if (why === undefined) return;
  throw new ApiProblem({
    status: 409,
    code: "TG_GUARD",
    detail: `${why} Nothing was changed.`,
    help: 'If it is meant, send {"force": true}.',
  });
}

/** What is most likely a slip, in words. */
export function slipOf(list: ListName, address: string, { peer, isProxy }: Guarded): string | undefined {
  const covers = coverage(address);
  // What is no address, or everyone, is the gate's to refuse, and no force helps.
  if (covers === undefined) return undefined;
  if (isWide(address)) return `${address} names a good part of the Internet.`;
  if (list === "safelist") return undefined;
  if (covers(peer)) return `${address} names the address you are calling from.`;
  if (covers("127.0.0.1") || covers("::1") || isLoopback(address))
    return `${address} names this machine itself.`;
  return isProxy(address) ? `${address} names a proxy you trust.` : undefined;
}

function coverage(address: string): PeerTest | undefined {
  // Words such as "loopback" name peers, and no list knows them.
  if (!/[.:]/.test(address)) return undefined;
  try {
    return peerTest([address]);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Larger than what any one operator has. */
function isWide(address: string): boolean {
  const canonical = canonicalBlock(address) ?? "";
  const prefix = /\/(\d+)$/.exec(canonical)?.[1];
  return prefix !== undefined && Number(prefix) < (canonical.includes(":") ? 16 : 8);
}

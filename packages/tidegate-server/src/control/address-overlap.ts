import { canonicalBlock, peerTest } from "tidegate/http";

/** Whether an address or block has an address in common with those it was made for. What is neither has none. */
export type OverlapTest = (address: string) => boolean;

/** Names that stand for blocks, as `trustedProxies` takes them; here by the first address of each. */
const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0", "::1"],
  linklocal: ["169.254.0.0", "fe80::"],
  uniquelocal: ["10.0.0.0", "172.16.0.0", "192.168.0.0", "fc00::"],
};

/** Addresses, blocks and names, written as `trustedProxies`. */
export function overlapTest(written: readonly string[]): OverlapTest {
  const covers = peerTest(written);
  const firsts = written.flatMap((text) => {
    if (text === "private") return Object.values(named).flat();
    return named[text] ?? [firstOf(canonicalBlock(text) ?? text)];
  });
  return (address) => {
    if (covers(firstOf(address))) return true;
    if (!address.includes("/") || canonicalBlock(address) === undefined) return false;
    // Two blocks are apart, or the larger holds the first address of the smaller. The largest holds all.
    return address.endsWith("/0") ? firsts.length > 0 : firsts.some(peerTest([address]));
  };
}

function firstOf(block: string): string {
  return block.split("/", 1)[0] as string;
}

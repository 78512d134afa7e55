import { expect, it } from "vitest";
import type { ClearedKey } from "../data.js";
import { clearedBy } from "./cleared-by.js";

const digest = "a".repeat(64);
const clear = (key: string, isClient = true): ClearedKey => ({
  key,
  until: 1,
  at: 0,
  who: "ann",
  ...(isClient && { isClient }),
});

it.each([
  // A client by its address: whatever it is held by.
  [clear("203.0.113.7"), digest, "203.0.113.7", true],
  [clear("203.0.113.7"), "203.0.113.7", undefined, true],
  [clear("203.0.113.7"), digest, "203.0.113.8", false],
  // A block that would refuse it.
  [clear("203.0.113.7"), "203.0.113.0/24", "203.0.113.8", true],
  [clear("203.0.113.7"), "203.0.114.0/24", "203.0.114.8", false],
  // Of IPv6 the /64 is one client.
  [clear("2001:db8:1:2::7"), digest, "2001:db8:1:2::9", true],
  [clear("2001:db8:1:2::7"), "2001:db8:1:2::/64", undefined, true],
  [clear("2001:db8:1:2::7"), "2001:db8:1::/48", undefined, true],
  [clear("2001:db8:1:2::7"), digest, "2001:db8:1:3::9", false],
  [clear("2001:db8:1:2::/64"), digest, "2001:db8:1:2::9", true],
  // A whole block that was meant.
  [clear("203.0.113.0/24"), digest, "203.0.113.8", true],
  [clear("203.0.113.0/24"), digest, "203.0.114.8", false],
  // A key alone.
  [clear("203.0.113.0/24", false), digest, "203.0.113.8", false],
  [clear("203.0.113.0/24", false), "203.0.113.0/24", "203.0.113.8", true],
  [clear(digest, false), digest, undefined, true],
  [clear("203.0.113.7"), digest, undefined, false],
  [clear("203.0.113.7"), digest, "nonsense", false],
] as const)("%j: %s of %s: %s", (cleared, key, ip, expected) => {
  const about = ip === undefined ? {} : { ip };
  expect(clearedBy([cleared])({ key, about }) !== undefined).toBe(expected);
});

import { createGate, memoryDirectory, memoryStore } from "tidegate";
import { afterEach, expect, it } from "vitest";
import { openSafelisted } from "./safelisted.js";

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

async function open(safelist: readonly string[] = []) {
  const directory = memoryDirectory();
  const gate = createGate({ store: memoryStore(), directory, safelist, rules: [] });
  endings.push(() => gate.close());
  await gate.ready;
  let now = Date.now();
  const safelisted = openSafelisted({ gate, directory, clock: () => now });
  endings.push(() => safelisted.close());
  return { gate, directory, has: safelisted.has, pass: (ms: number) => (now += ms) };
}

it("a block is spared for one of its addresses, by the list people change as by the policy's own", async () => {
  const { gate, has } = await open(["198.51.100.9"]);
  for (const block of ["203.0.113.0/24", "2001:db8:1:2::/64"]) expect(has(block)).toBe(false);
  expect(has("198.51.100.0/24")).toBe(true);
  await gate.safelist.add("203.0.113.9");
  await gate.safelist.add("2001:db8:1:2::77");
  for (const block of ["203.0.113.0/24", "203.0.113.9", "2001:db8:1:2::/64", "2001:db8:1::/48"])
    expect(has(block)).toBe(true);
  for (const other of ["203.0.113.8", "203.0.114.0/24", "2001:db8:1:3::/64"]) expect(has(other)).toBe(false);
  await gate.safelist.add("10.0.0.0/8");
  expect(has("10.1.2.0/24")).toBe(true);
  await gate.safelist.remove("203.0.113.9");
  expect(has("203.0.113.0/24")).toBe(false);
});

it("an entry that somebody else wrote counts, and one that has ended does not", async () => {
  const { directory, has, pass } = await open();
  await directory.put("safelist", { address: "203.0.113.9", until: Date.now() + 60_000 });
  await directory.put("blocklist", { address: "198.51.100.9" });
  expect([has("203.0.113.0/24"), has("198.51.100.0/24")]).toEqual([true, false]);
  pass(61_000);
  await expect.poll(() => has("203.0.113.0/24"), { timeout: 10_000 }).toBe(false);
});

import { createGate, type Gate, type Policy } from "tidegate";
import { expect, it, onTestFinished } from "vitest";
import { currentHolds } from "./current-holds.js";

const rule = { name: "a", by: "ip", limits: ["1 per hour"], hold: { after: 1, for: ["10m"] } } as const;

function opened(options: Parameters<typeof currentHolds>[1] = {}, policy: Policy = { rules: [rule] }) {
  const gate = createGate({ ...policy, onWarning: () => {} });
  const holds = currentHolds(gate, options);
  onTestFinished(async () => {
    holds.close();
    await gate.close();
  });
  return { gate, holds };
}

async function flood(gate: Gate, ip: string): Promise<void> {
  const header = (name: string): string | undefined => (name === "user-agent" ? "flooder/1" : undefined);
  for (let i = 0; i < 4; i++) await gate.decide({ ip, method: "GET", host: "h", path: "/p?secret", header });
}

it("who is held is told with rule, client, end and facts that are no secret", async () => {
  const { gate, holds } = opened();
  expect(holds.now()).toEqual([]);
  await flood(gate, "203.0.113.7");
  expect(holds.now()).toEqual([
    {
      rule: "a",
      key: "203.0.113.7",
      since: expect.any(Number),
      until: expect.any(Number),
      about: { ip: "203.0.113.7", host: "h", method: "GET", path: "/p", userAgent: "flooder/1" },
    },
  ]);
});

it("who is cleared, whose hold ended, who is safe, and whose rule does not hold any more, is held no longer", async () => {
  let now = Date.now();
  const { gate, holds } = opened({ clock: () => now });
  await flood(gate, "203.0.113.7");
  await flood(gate, "203.0.113.8");
  holds.release((await gate.clear({ ip: "203.0.113.7" })).cleared);
  expect(holds.now().map(({ key }) => key)).toEqual(["203.0.113.8"]);
  await gate.safelist.add("203.0.113.8");
  expect(holds.now()).toEqual([]);
  await gate.safelist.remove("203.0.113.8");
  gate.update({ rules: [{ ...rule, mode: "shadow" }] });
  expect(holds.now()).toEqual([]);
  gate.update({ rules: [rule] });
  expect(holds.now()).toHaveLength(1);
  now += 700_000;
  expect(holds.now()).toEqual([]);
});

it("a rule in shadow holds nobody", async () => {
  const { gate, holds } = opened({}, { rules: [{ ...rule, mode: "shadow" }] });
  await flood(gate, "203.0.113.7");
  expect(holds.now()).toEqual([]);
});

it("a hold that began before this gate is learned when its client comes again", async () => {
  const { gate } = opened();
  await flood(gate, "203.0.113.7");
  const later = currentHolds(gate);
  onTestFinished(() => later.close());
  expect(later.now()).toEqual([]);
  await flood(gate, "203.0.113.7");
  expect(later.now()).toMatchObject([{ rule: "a", key: "203.0.113.7" }]);
});

it("no more are kept than there is room for: the longest", async () => {
  const { gate, holds } = opened({ most: 3 });
  for (let i = 1; i <= 20; i++) await flood(gate, `203.0.113.${i}`);
  expect(holds.now()).toHaveLength(3);
});

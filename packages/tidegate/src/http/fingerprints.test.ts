import { createGate, type Subject } from "tidegate";
import { expect, it } from "vitest";
import { fingerprintsOf } from "./index.js";

const agent = "sqlmap/1.4#stable (http://sqlmap.org) caf\xe9";

function subject(ip: string, userAgent?: string): Subject {
  const header = (name: string) => (name === "user-agent" ? userAgent : undefined);
  return { ip, method: "POST", host: "Shop.example:443", path: "/login?a=1", header };
}

it.each(["sha256", "seed"] as const)("a client has the names a gate counts it under (%s)", async (form) => {
  const gate = createGate({
    identity: { fingerprint: form },
    rules: (["standard", "broad"] as const).map((by) => ({
      name: by,
      by,
      limits: "0 per 1h",
      hold: { for: "1m" },
    })),
  });
  const held = new Map<string, string>();
  gate.on("held", ({ rule, key }) => held.set(rule, key));
  for (const ip of [
    "203.0.113.7",
    "::ffff:203.0.113.8",
    "2001:DB8::0:1",
    "[2001:db8::2]:443",
    "no address",
  ]) {
    held.clear();
    await gate.decide(subject(ip, agent), { rule: "standard" });
    await gate.decide(subject(ip, agent), { rule: "broad" });
    const { standard, broad } = fingerprintsOf(subject(ip, agent), form);
    expect(Object.fromEntries(held)).toEqual({ standard, broad });
  }
  await gate.close();
});

it("an address is told in its one spelling", () => {
  expect(fingerprintsOf(subject("::ffff:203.0.113.7"), "sha256").address).toBe("203.0.113.7");
  expect(fingerprintsOf(subject("2001:DB8:0::1"), "sha256").address).toBe("2001:db8::1");
  expect(fingerprintsOf(subject("nobody"), "sha256").address).toBe("unknown");
});

it("only known tools have a broad one", () => {
  expect(fingerprintsOf(subject("203.0.113.7", agent), "sha256").broad).toMatch(/^[0-9a-f]{64}$/);
  expect(fingerprintsOf(subject("203.0.113.7", "Mozilla/5.0"), "sha256").broad).toBeUndefined();
  expect(fingerprintsOf(subject("203.0.113.7"), "sha256").broad).toBeUndefined();
});

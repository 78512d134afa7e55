import { describe, expect, it } from "vitest";
import { concurrency } from "./index.js";
import { client, openGate, perIp } from "./testing/open-gate.js";
import { subjectOf } from "./testing/subject.js";

describe("counting by outcome", () => {
  const login = {
    name: "login",
    only: { method: "POST", path: "/login" },
    by: ["ip", "account"],
    limits: ["5 per 1m"],
    count: "failures",
  } as const;
  const attempt = subjectOf("203.0.113.7", { method: "POST", path: "/login", account: "bob" });

  it("only failures count; a success gives its reservation back", async () => {
    const { gate } = openGate({ rules: [login] });
    for (let i = 0; i < 20; i++) await (await gate.decide(attempt)).finish({ status: 200 });
    for (let i = 0; i < 5; i++) await (await gate.decide(attempt)).finish({ status: 401 });
    expect((await gate.decide(attempt)).allowed).toBe(false);
  });

  it("a thousand parallel guesses do not slip through", async () => {
    const { gate } = openGate({ rules: [login] });
    const decisions = await Promise.all(Array.from({ length: 1000 }, () => gate.decide(attempt)));
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(5);
  });

  it("finish counts once, and no answer counts", async () => {
    const { gate } = openGate({ rules: [login] });
    const first = await gate.decide(attempt);
    await first.finish({ status: 200 });
    await first.finish({ status: 200 });
    expect((await gate.explain(attempt)).rules[0]?.verdicts[0]?.remaining).toBe(5);
    await (await gate.decide(attempt)).finish();
    expect((await gate.explain(attempt)).rules[0]?.verdicts[0]?.remaining).toBe(4);
  });

  it("successes and functions of the outcome count likewise; one that throws counts", async () => {
    const { gate } = openGate({
      rules: [
        { name: "signups", by: "ip", limits: ["9 per minute"], count: "successes" },
        { name: "teapots", by: "ip", limits: ["9 per minute"], count: ({ status }) => status === 418 },
        {
          name: "broken",
          by: "ip",
          limits: ["9 per minute"],
          count: () => {
            throw new Error("no");
          },
        },
      ],
    });
    await (await gate.decide(client)).finish({ status: 418 });
    const { rules } = await gate.explain(client);
    expect(rules.map(({ verdicts }) => verdicts[0]?.remaining)).toEqual([9, 8, 8]);
  });

  it("a success may clear what was counted under its key, and nothing else", async () => {
    const { gate } = openGate({
      rules: [
        { ...login, clearOnSuccess: true },
        { name: "by-ip", by: "ip", limits: ["100 per hour"] },
      ],
    });
    for (let i = 0; i < 4; i++) await (await gate.decide(attempt)).finish({ status: 401 });
    await (await gate.decide(attempt)).finish({ status: 302 });
    const { rules } = await gate.explain(attempt);
    expect(rules.map(({ verdicts }) => verdicts[0]?.remaining)).toEqual([5, 95]);
  });

  it("a lease is released when the request ends", async () => {
    const { gate } = openGate({
      rules: [{ name: "at once", by: "ip", limits: [concurrency({ limit: 1, leaseFor: "1m" })] }],
    });
    const first = await gate.decide(client);
    expect((await gate.decide(client)).allowed).toBe(false);
    await first.finish({ status: 500 });
    expect((await gate.decide(client)).allowed).toBe(true);
  });

  it("where nobody will call finish such rules are refused", () => {
    expect(() => openGate({ rules: [login], canFinish: false })).toThrow("TG_RULE_FINISH");
    expect(() => openGate({ rules: [perIp], canFinish: false })).not.toThrow();
  });
});

import { describe, expect, it } from "vitest";
import { concurrency, createGate, type Gate, type GateOptions, memoryStore, slidingLog } from "./index.js";
import { subjectOf } from "./testing/subject.js";
import { virtualClock } from "./testing/virtual-clock.js";

const client = subjectOf("203.0.113.7", { user: "42" });

function open(options: Partial<GateOptions> & Pick<GateOptions, "rules">): Gate {
  const clock = virtualClock(1_700_000_040_000);
  return createGate({ store: memoryStore({ clock }), onWarning: () => {}, ...options });
}

const rules: GateOptions["rules"] = [
  { name: "req/ip", by: "ip", limits: ["3 per 1m"] },
  { name: "sms", by: "user", limits: [slidingLog({ limit: 10, window: "1d" })] },
];

describe("a caller may ask one rule alone", () => {
  it("only that rule judges and is charged", async () => {
    const gate = open({ rules });
    for (let i = 0; i < 5; i++) {
      const { verdicts, allowed } = await gate.decide(client, { rule: "sms" });
      expect(allowed).toBe(true);
      expect(verdicts.map(({ rule, remaining }) => [rule, remaining])).toEqual([["sms", 9 - i]]);
    }
    const whole = await gate.decide(client);
    expect(whole.verdicts.map(({ rule, remaining }) => [rule, remaining])).toEqual([
      ["req/ip", 2],
      ["sms", 4],
    ]);
  });

  it("its only and except hold as ever", async () => {
    const gate = open({ rules: [{ name: "login", only: "/login", by: "ip", limits: "1 per 1m" }] });
    expect(await gate.decide(client, { rule: "login" })).toMatchObject({ allowed: true, reason: "no-rule" });
    const login = subjectOf("203.0.113.7", { path: "/login" });
    expect((await gate.decide(login, { rule: "login" })).allowed).toBe(true);
    expect((await gate.decide(login, { rule: "login" })).allowed).toBe(false);
  });

  it("mode and lists come before it", async () => {
    const blocked = open({ rules, blocklist: ["203.0.113.7"] });
    expect(await blocked.decide(client, { rule: "sms" })).toMatchObject({ reason: "blocklist" });
    const off = open({ rules, mode: "off" });
    expect(await off.decide(client, { rule: "sms" })).toMatchObject({ allowed: true, reason: "off" });
    const ruleOff = open({ rules: [{ name: "sms", by: "ip", limits: "1 per 1m", mode: "off" }] });
    expect(await ruleOff.decide(client, { rule: "sms" })).toMatchObject({ allowed: true, reason: "off" });
  });

  it("a rule that is not there is an error, not a pass", async () => {
    const gate = open({ rules });
    await expect(gate.decide(client, { rule: "smss" })).rejects.toMatchObject({ code: "TG_RULE_UNKNOWN" });
    await expect(gate.decide(client, { rule: "constructor" })).rejects.toMatchObject({
      code: "TG_RULE_UNKNOWN",
    });
  });
});

describe("a caller may say what a request weighs", () => {
  it("its cost stands for every rule's own", async () => {
    const gate = open({ rules: [{ name: "money", by: "user", limits: "100 per 1d", cost: 7 }] });
    const decision = await gate.decide(client, { cost: 60 });
    expect(decision.verdict).toMatchObject({ cost: 60, remaining: 40 });
    expect(await gate.decide(client, { cost: 60 })).toMatchObject({ allowed: false, reason: "over-limit" });
    expect((await gate.decide(client)).verdict).toMatchObject({ cost: 7, remaining: 33 });
  });

  it("what a limit can not charge weighs 1 there, so that nobody passes by an odd weight", async () => {
    const gate = open({
      rules: [
        { name: "list", by: "ip", limits: [slidingLog({ limit: 5, window: "1m", encoding: "list" })] },
        { name: "sum", by: "ip", limits: "100 per 1m" },
      ],
    });
    const { verdicts } = await gate.decide(client, { cost: 2.5, id: "a" });
    expect(verdicts.map(({ cost }) => cost)).toEqual([1, 2.5]);
  });

  it("what is no cost is an error", async () => {
    const gate = open({ rules });
    for (const cost of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "5" as unknown as number])
      await expect(gate.decide(client, { cost })).rejects.toThrow("is not a cost");
  });
});

describe("a caller may name a charge", () => {
  it("the same id again is charged once by a log, and every time by a window", async () => {
    const gate = open({
      rules: [
        { name: "log", by: "user", limits: [slidingLog({ limit: 10, window: "1d" })] },
        { name: "window", by: "user", limits: "10 per 1d" },
      ],
    });
    const remaining = async (id: string) =>
      (await gate.decide(client, { id })).verdicts.map((verdict) => verdict.remaining);
    expect(await remaining("a")).toEqual([9, 9]);
    expect(await remaining("a")).toEqual([9, 8]);
    expect(await remaining("b")).toEqual([8, 7]);
  });

  it("a lease is held under it: asked again it is renewed, finished it is free", async () => {
    const gate = open({
      rules: [{ name: "calls", by: "user", limits: [concurrency({ limit: 1, leaseFor: "1m" })] }],
    });
    const first = await gate.decide(client, { id: "job-1" });
    expect(first.allowed).toBe(true);
    expect((await gate.decide(client, { id: "job-1" })).allowed).toBe(true);
    expect((await gate.decide(client, { id: "job-2" })).allowed).toBe(false);
    await first.finish({ status: 200 });
    expect((await gate.decide(client, { id: "job-2" })).allowed).toBe(true);
  });

  it("an id that is none is an error", async () => {
    await expect(open({ rules }).decide(client, { id: "" })).rejects.toThrow("can not name a charge");
  });
});

describe("a subject of which facts are missing", () => {
  const everywhere: GateOptions["rules"] = [
    { name: "req/ip", by: "ip", limits: ["2 per 1m"] },
    { name: "form", only: "POST /login", by: "standard", limits: ["1 per 1m"] },
    { name: "key", by: "apiKey", limits: ["1 per 1m"] },
  ];

  it("is judged by those that are there, as a GET of /", async () => {
    const gate = open({ rules: everywhere });
    const bare = { ip: "203.0.113.7" } as never;
    const odd = { ip: "203.0.113.7", host: undefined, path: undefined, header: undefined } as never;
    const decisions = [await gate.decide(bare), await gate.decide(odd), await gate.decide(bare)];
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, false]);
    expect(decisions.map(({ verdicts }) => verdicts.map(({ rule }) => rule))).toEqual([
      ["req/ip"],
      ["req/ip"],
      ["req/ip"],
    ]);
  });

  it("and what is no request at all is an error that says what to give", async () => {
    const gate = open({ rules: everywhere });
    for (const none of [null, undefined, "203.0.113.7", 7])
      await expect(gate.decide(none as never)).rejects.toThrow(/is not a request\. Give \{ ip, method/);
  });
});

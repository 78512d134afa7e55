import { AggregatorRegistry, Registry, register } from "prom-client";
import { createGate, type Gate } from "tidegate";
import { afterEach, describe, expect, it } from "vitest";
import { type MeterOptions, openMeters } from "./open-meters.js";

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Family {
  readonly help: string;
  readonly type: string;
  readonly samples: Sample[];
}

/** The text format 0.0.4, as Prometheus reads it: throws on whatever it would not take. */
function parse(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  if (!text.endsWith("\n")) throw new Error("the last line must end");
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const help = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line);
    const type = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|summary|untyped)$/.exec(line);
    if (help) {
      if (families.has(help[1] as string)) throw new Error(`twice: ${line}`);
      families.set(help[1] as string, { help: help[2] as string, type: "", samples: [] });
    } else if (type) {
      const family = families.get(type[1] as string);
      if (family?.type !== "" || family.samples.length > 0) throw new Error(`out of place: ${line}`);
      families.set(type[1] as string, { ...family, type: type[2] as string });
    } else {
      const sample = parseSample(line);
      const family =
        families.get(sample.name) ?? families.get(sample.name.replace(/_(bucket|sum|count)$/, ""));
      if (!family || family.type === "") throw new Error(`without TYPE: ${line}`);
      const identity = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (seen.has(identity)) throw new Error(`twice: ${line}`);
      seen.add(identity);
      family.samples.push(sample);
    }
  }
  return families;
}

function parseSample(line: string): Sample {
  const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0];
  if (name === undefined) throw new Error(`no name: ${line}`);
  let rest = line.slice(name.length);
  const labels: Record<string, string> = {};
  if (rest.startsWith("{")) {
    rest = rest.slice(1);
    while (!rest.startsWith("}")) {
      const label = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)",?/.exec(rest);
      if (!label) throw new Error(`bad label: ${line}`);
      labels[label[1] as string] = (label[2] as string).replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c));
      rest = rest.slice(label[0].length);
    }
    rest = rest.slice(1);
  }
  const value = /^ (-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?)|[+-]Inf|Nan|NaN)$/i.exec(rest)?.[1];
  if (value === undefined) throw new Error(`bad value: ${line}`);
  return { name, labels, value: Number(value.replace("Inf", "Infinity")) };
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function metered(gate: Gate, options: Partial<MeterOptions> = {}) {
  const registry = new Registry();
  const meters = openMeters({ gate, registry, offenders: 3, ...options });
  closing.push(
    () => meters.close(),
    () => gate.close(),
  );
  return {
    registry,
    scrape: async () => parse(await registry.metrics()),
    async value(name: string, labels: Record<string, string> = {}): Promise<number | undefined> {
      const { samples } = parse(await registry.metrics()).get(name) ?? { samples: [] };
      return samples.find((sample) => JSON.stringify(sample.labels) === JSON.stringify(labels))?.value;
    },
  };
}

const request = (ip = "203.0.113.7", path = "/") => ({
  ip,
  method: "GET",
  host: "example.com",
  path,
  header: () => undefined,
});
const gateOf = (rules: Parameters<typeof createGate>[0]["rules"], more: object = {}) =>
  createGate({ rules, onWarning: () => {}, ...more });

describe("metrics", () => {
  it("count decisions by rule and outcome, and by reason", async () => {
    const gate = gateOf(
      [
        { name: "req/ip", by: "ip", limits: ["2 per hour"], hold: { after: 2, for: ["1m"] } },
        { name: "quiet", by: "ip", limits: ["1 per day"], mode: "shadow" },
      ],
      { safelist: ["10.0.0.0/8"], blocklist: ["198.51.100.1"] },
    );
    const { value, scrape } = metered(gate);
    expect(await value("tidegate_decisions_total", { rule: "req/ip", outcome: "refused" })).toBe(0);
    for (let i = 0; i < 6; i++) await gate.decide(request());
    await gate.decide(request("10.0.0.1"));
    await gate.decide(request("198.51.100.1"));
    expect(await value("tidegate_decisions_total", { rule: "req/ip", outcome: "allowed" })).toBe(2);
    expect(await value("tidegate_decisions_total", { rule: "req/ip", outcome: "refused" })).toBe(4);
    expect(await value("tidegate_decisions_total", { rule: "quiet", outcome: "shadow" })).toBeGreaterThan(0);
    expect(await value("tidegate_holds_total", { rule: "req/ip" })).toBe(1);
    expect(await value("tidegate_decisions_by_reason_total", { reason: "safelist" })).toBe(1);
    expect(await value("tidegate_requests_total", { outcome: "refused" })).toBe(5);
    expect(await value("tidegate_safelist_entries")).toBe(1);
    expect(await value("tidegate_store_up")).toBe(1);
    expect(await value("tidegate_degraded")).toBe(0);
    const reasons = (await scrape()).get("tidegate_decisions_by_reason_total")?.samples ?? [];
    expect(reasons.reduce((sum, each) => sum + each.value, 0)).toBe(8);
  });

  it("say when the store is out of reach", async () => {
    const gate = gateOf([{ name: "r", by: "ip", limits: ["1 per hour"] }], {
      store: {
        decide: () => {
          throw new Error("gone");
        },
      },
      breaker: { failures: 1, pauseMs: 60_000 },
    });
    const { value } = metered(gate);
    await gate.decide(request());
    expect(await value("tidegate_store_up")).toBe(0);
    expect(await value("tidegate_degraded")).toBe(1);
    expect(await value("tidegate_without_store_total")).toBe(1);
  });

  it("forget the rules of an earlier policy, and a total never falls", async () => {
    const gate = gateOf([{ name: "old", by: "ip", limits: ["9 per hour"] }]);
    const { value, scrape } = metered(gate);
    await gate.decide(request());
    expect(await value("tidegate_decisions_total", { rule: "old", outcome: "allowed" })).toBe(1);
    gate.update({ rules: [{ name: "new", by: "ip", limits: ["9 per hour"] }] });
    await gate.decide(request());
    const rules = (await scrape()).get("tidegate_decisions_total")?.samples.map(({ labels }) => labels.rule);
    expect(new Set(rules)).toEqual(new Set(["new"]));
    gate.update({ rules: [{ name: "old", by: "ip", limits: ["9 per hour"] }] });
    expect(await value("tidegate_decisions_total", { rule: "old", outcome: "allowed" })).toBe(1);
  });

  it("escape the odd names a rule may have", async () => {
    const name = 'a"b\\c{}=,\\n';
    const gate = gateOf([
      { name, by: "ip", limits: ["9 per hour"] },
      { name: "__proto__", by: "ip", limits: ["8 per hour"] },
    ]);
    const { value } = metered(gate);
    await gate.decide(request());
    expect(await value("tidegate_decisions_total", { rule: name, outcome: "allowed" })).toBe(1);
  });

  it("name so many clients and no more, by address only", async () => {
    const gate = gateOf([{ name: "r", by: "ip", limits: ["1 per hour"] }]);
    const { scrape } = metered(gate);
    for (let i = 0; i < 500; i++) await gate.decide(request(`203.0.113.${i % 250}`));
    for (let i = 0; i < 9; i++) await gate.decide(request("2001:db8::1"));
    for (let i = 0; i < 9; i++) await gate.decide(request('"} 1\nevil'));
    const named = async () =>
      (await scrape()).get("tidegate_top_client_requests")?.samples.map(({ labels }) => labels.client);
    const first = await named();
    expect(first).toHaveLength(3);
    expect(first).toEqual(expect.arrayContaining(["2001:db8::/64", "unknown"]));
    for (const ip of ["192.0.2.1", "192.0.2.2", "192.0.2.3"])
      for (let i = 0; i < 20; i++) await gate.decide(request(ip));
    expect(new Set(await named())).toEqual(new Set(["192.0.2.1", "192.0.2.2", "192.0.2.3"]));
  });

  it("name nobody when told so", async () => {
    const { scrape } = metered(gateOf([{ name: "r", by: "ip", limits: ["1 per hour"] }]), { offenders: 0 });
    expect((await scrape()).has("tidegate_top_client_requests")).toBe(false);
  });

  it("tell what runs, and of the process", async () => {
    const { scrape } = metered(gateOf([{ name: "r", by: "ip", limits: ["1 per hour"] }]), {
      policyVersion: () => 7,
      version: "1.2.3",
    });
    const families = await scrape();
    expect(families.get("tidegate_build_info")?.samples[0]).toMatchObject({
      labels: { version: "1.2.3", node: process.version },
      value: 1,
    });
    expect(families.get("tidegate_policy_version")?.samples[0]?.value).toBe(7);
    for (const name of [
      "process_cpu_user_seconds_total",
      "process_resident_memory_bytes",
      "process_start_time_seconds",
      "nodejs_heap_size_used_bytes",
    ])
      expect(families.get(name)?.samples[0]?.value).toBeGreaterThan(0);
    for (const { help, type } of families.values()) {
      expect(help).not.toBe("");
      expect(type).not.toBe("");
    }
  });

  it("of several gates in one process stay apart, and the global registry stays empty", async () => {
    const one = metered(gateOf([{ name: "one", by: "ip", limits: ["1 per hour"] }]));
    const other = metered(gateOf([{ name: "other", by: "ip", limits: ["1 per hour"] }]));
    expect(
      await one.value("tidegate_decisions_total", { rule: "other", outcome: "allowed" }),
    ).toBeUndefined();
    expect(await other.value("tidegate_decisions_total", { rule: "other", outcome: "allowed" })).toBe(0);
    expect(register.getMetricsAsArray()).toEqual([]);
  });

  it("of several processes add up, and what is one for all stays one", async () => {
    const one = metered(
      gateOf([{ name: "r", by: "ip", limits: ["1 per hour"] }], { safelist: ["10.0.0.1"] }),
    );
    const other = metered(
      gateOf([{ name: "r", by: "ip", limits: ["1 per hour"] }], { safelist: ["10.0.0.1"] }),
    );
    const all = await Promise.all([one, other].map(({ registry }) => registry.getMetricsAsJSON()));
    const families = parse(await AggregatorRegistry.aggregate(all).metrics());
    expect(families.get("tidegate_store_up")?.samples[0]?.value).toBe(1);
    expect(families.get("tidegate_safelist_entries")?.samples[0]?.value).toBe(1);
    expect(families.get("tidegate_build_info")?.samples[0]?.value).toBe(1);
  });

  it("leave nothing behind when closed", () => {
    const gate = gateOf([{ name: "r", by: "ip", limits: ["1 per hour"] }]);
    const before = process.getActiveResourcesInfo().length;
    for (let i = 0; i < 20; i++) openMeters({ gate, registry: new Registry(), offenders: 3 }).close();
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before);
    closing.push(() => gate.close());
  });
});

import { setTimeout as sleep } from "node:timers/promises";
import { createGate, type Decision, type Gate, type GateOptions, type Subject } from "tidegate";
import { redisStore } from "tidegate/redis";
import { subjectOf } from "tidegate/testing";
import { onTestFinished } from "vitest";
import { uniquePrefix, until } from "./support.js";

/** Long enough for a busy machine, short enough to be waited for. */
export const deadlineMs = 150;
export const breaker = { failures: 3, pauseMs: 300 };

/** A gate on Redis with lists, a tier, and a rule that holds, and what it told of itself. */
export interface WatchedGate {
  readonly gate: Gate;
  readonly told: ("degraded" | "recovered")[];
}

export function gateOn(client: object, options: Partial<GateOptions> = {}): WatchedGate {
  const gate = createGate({
    store: redisStore({ client, prefix: uniquePrefix(), onWarning: () => {} } as Parameters<
      typeof redisStore
    >[0]),
    rules: [
      { name: "all", by: "ip", limits: ["1000000 per 1d"] },
      { name: "trap", only: "/trap", by: "ip", limits: ["1 per 1d"], hold: { for: "1h" } },
      { name: "api", only: "/api", by: "customer", limits: "tier" },
    ],
    tiers: { free: ["7 per 1d"], pro: ["1000000 per 1d"] },
    deadlineMs,
    breaker,
    onWarning: () => {},
    ...options,
  });
  const told: WatchedGate["told"] = [];
  gate.on("degraded", () => told.push("degraded"));
  gate.on("recovered", () => told.push("recovered"));
  onTestFinished(() => gate.close());
  return { gate, told };
}

/** Clients whose answers an outage must not change. */
export const clients = {
  anyone: subjectOf("203.0.113.1"),
  held: subjectOf("203.0.113.2", { path: "/trap" }),
  blocked: subjectOf("198.51.100.9"),
  safe: subjectOf("192.0.2.9", { path: "/trap" }),
  pro: subjectOf("203.0.113.3", { path: "/api", customer: "acme" }),
} satisfies Record<string, Subject>;

type Name = keyof typeof clients;

/** What is to be known of them before anything breaks. */
export async function settle(gate: Gate): Promise<void> {
  await gate.ready;
  await gate.blocklist.add("198.51.100.0/24");
  await gate.safelist.add("192.0.2.9");
  await gate.customers.setTier("acme", "pro");
  await until("the store to answer", async () => (await gate.decide(clients.anyone)).source === "store");
  for (let i = 0; i < 3; i++) await gate.decide(clients.held);
  await gate.decide(clients.pro);
}

/** How an answer differs from what this client must hear at any time; nothing if it does not. */
export function wrongIn(name: Name, { allowed, reason, verdicts }: Decision): string | undefined {
  const is = `${name}: ${allowed} ${reason} ${verdicts.map(({ name: level }) => level)}`;
  const isRight = {
    anyone: allowed && reason === "within-limits",
    held: !allowed && reason === "held",
    blocked: !allowed && reason === "blocklist",
    safe: allowed && reason === "safelist",
    pro: allowed && verdicts.some(({ tier }) => tier === "pro"),
  };
  return isRight[name] ? undefined : is;
}

export interface Answered {
  readonly name: Name;
  readonly wasDegraded: boolean;
  readonly ms: number;
  readonly decision?: Decision;
  readonly error?: unknown;
}

/** Requests that keep coming, one every few milliseconds, whether or not others are still waiting. */
export function keepComing(gate: Gate): { stop(): Promise<Answered[]> } {
  const names = Object.keys(clients) as Name[];
  const answers: Promise<Answered>[] = [];
  let isOn = true;

  async function request(name: Name): Promise<Answered> {
    const wasDegraded = gate.metrics().degraded;
    const began = performance.now();
    const noted = () => ({ name, wasDegraded, ms: performance.now() - began });
    try {
      const decision = await gate.decide(clients[name]);
      return { ...noted(), decision };
    } catch (error) {
      return { ...noted(), error };
    }
  }

  const running = (async () => {
    for (let i = 0; isOn; i++) {
      answers.push(request(names[i % names.length] as Name));
      await sleep(5);
    }
  })();

  return {
    async stop() {
      isOn = false;
      await running;
      return Promise.all(answers);
    },
  };
}

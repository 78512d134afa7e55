import { ConfigError, shown } from "../../errors.js";
import { callsExpected } from "./arrivals.js";
import type { Phase, Scenario } from "./scenario.js";

/** Calls of all clients together; more would only keep somebody waiting. */
const mostCalls = 1_000_000;

/** Throws a `ConfigError` for a scenario that can not be run. */
export function checkScenario({ seconds, clients, limits }: Scenario): void {
  within(seconds, "seconds", 1e-3, 1e8);
  if (clients.length === 0) throw wrong("clients", "there are none.", "Name at least one client.");
  if (limits.length === 0) throw wrong("limits", "there are none.", "Name at least one limit.");
  for (const [i, { count = 1, phases }] of clients.entries()) {
    whole(count, `clients[${i}].count`, 100_000);
    for (const [j, phase] of phases.entries()) checkPhase(phase, `clients[${i}].phases[${j}]`);
  }
  const calls = clients.reduce((sum, client) => sum + callsExpected(client), 0);
  if (calls > mostCalls)
    throw wrong(
      "clients",
      `they send about ${Math.round(calls)} calls.`,
      `Keep it below ${mostCalls}: fewer clients, lower rates, or a shorter time.`,
    );
}

function checkPhase(
  { from, to, rate, pattern = "steady", burst, burstSeconds = 0 }: Phase,
  path: string,
): void {
  within(from, `${path}.from`, 0, 1e8);
  within(to, `${path}.to`, 0, 1e8);
  within(rate, `${path}.rate`, 0, 1e6);
  within(burstSeconds, `${path}.burstSeconds`, 0, 1e8);
  if (to <= from) throw wrong(`${path}.to`, `${shown(to)} is not after its beginning.`, "Let it end later.");
  if (pattern === "burst-and-wait") whole(burst, `${path}.burst`, 100_000);
  else if (burst !== undefined)
    throw wrong(`${path}.burst`, "only burst-and-wait has bursts.", "Add pattern: burst-and-wait.");
}

function within(value: number, path: string, from: number, to: number): void {
  if (typeof value === "number" && value >= from && value <= to) return;
  throw wrong(path, `${shown(value)} can not be used.`, `Write a number from ${from} to ${to}.`);
}

function whole(value: unknown, path: string, to: number): void {
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= to) return;
  throw wrong(path, `${shown(value)} can not be used.`, `Write a whole number from 1 to ${to}.`);
}

function wrong(path: string, message: string, help: string): ConfigError {
  return new ConfigError("TG_SCENARIO", path, message, help);
}

import { parseDuration, type RateText } from "tidegate";
import {
  type ComparedLimit,
  callsPerSecond,
  type LimitSettings,
  limitOfText,
  type ReadyScenario,
  readyScenarios,
  type Scenario,
  withSettings,
} from "tidegate/simulate";
import { nearest } from "../config/nearest.js";
import { usageError } from "./exit.js";
import type { Io } from "./io.js";
import { readScenario } from "./scenario-file.js";
import type { SimulateFlags } from "./simulate.js";

/** The scenario a name or a file means, with the numbers of the flags. */
export function scenarioOf(name: string, flags: SimulateFlags, io: Pick<Io, "cwd">): Scenario {
  const settings = settingsOf(flags);
  const ready = Object.hasOwn(readyScenarios, name) ? readyScenarios[name as ReadyScenario] : undefined;
  if (ready === undefined && !/[./\\]/.test(name)) throw unknown(name);
  const scenario = ready ? ready(settings) : withFlags(readScenario(name, io), settings);
  if (flags.limit === undefined) return scenario;
  const own = { ...ownSettings(scenario), ...settings };
  return { ...scenario, limits: flags.limit.map((text) => ({ limit: limitOfText(text, own) })) };
}

function withFlags(scenario: Scenario, settings: LimitSettings): Scenario {
  const limits = scenario.limits.map(
    (each): ComparedLimit => ({ ...each, limit: withSettings(each.limit, settings) }),
  );
  return { ...scenario, limits };
}

/** What a limit named without numbers is to be compared with. */
function ownSettings({ limits }: Scenario): LimitSettings {
  for (const { limit } of limits)
    if ("earrrl" in limit) {
      const { rate, halfLife, overage } = limit.earrrl;
      return { rate: callsPerSecond(rate, "rate"), halfLife, ...(overage !== undefined && { overage }) };
    }
  return {};
}

function settingsOf({ halfLife, rate, overage }: SimulateFlags): LimitSettings {
  return {
    ...(halfLife !== undefined && { halfLife: parseDuration(halfLife as never, "--half-life") }),
    ...(rate !== undefined && { rate: rateOf(rate) }),
    ...(overage !== undefined && { overage: weightOf(overage) }),
  };
}

function rateOf(text: string): number {
  const rate = callsPerSecond(/^\d+(?:\.\d+)?$/.test(text) ? Number(text) : (text as RateText), "--rate");
  if (rate > 0 && rate <= 1e6) return rate;
  throw usageError(
    `--rate ${JSON.stringify(text.slice(0, 64))} can not be used.`,
    "Write calls per second, up to a million.",
  );
}

function weightOf(text: string): number {
  const weight = Number(text);
  if (/^\d*\.?\d+$/.test(text) && weight >= 0 && weight <= 1) return weight;
  throw usageError(
    `--overage ${JSON.stringify(text.slice(0, 64))} is not a weight.`,
    "Write a number from 0 to 1.",
  );
}

function unknown(name: string) {
  const names = Object.keys(readyScenarios);
  const near = nearest(name, names);
  return usageError(
    `There is no scenario ${JSON.stringify(name.slice(0, 64))}.`,
    `${near === undefined ? `There are ${names.join(", ")}.` : `Did you mean ${near}?`} Or name a file that ends in .yaml or .json.`,
  );
}

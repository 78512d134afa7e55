import { botnet } from "./botnet.js";
import { convergence } from "./convergence.js";
import { gaming } from "./gaming.js";
import type { LimitSettings } from "./limit-spec.js";
import { overage } from "./overage.js";
import { reform } from "./reform.js";
import type { Scenario } from "./scenario.js";

export type ReadyScenario = "convergence" | "reform" | "overage" | "gaming" | "botnet";

/** Scenarios by name. Traffic that is told by the limit ("67 % over") follows the rate. */
export const readyScenarios: Readonly<Record<ReadyScenario, (settings?: LimitSettings) => Scenario>> = {
  convergence,
  reform,
  overage,
  gaming,
  botnet,
};

export { checkScenario } from "./check-scenario.js";
export * from "./closed-forms.js";
export {
  callsPerSecond,
  type LimitSettings,
  type LimitSpec,
  limitOf,
  limitOfText,
  limitWords,
  withSettings,
} from "./limit-spec.js";
export { type ReadyScenario, readyScenarios } from "./ready-scenarios.js";
export {
  type Call,
  type ClientRun,
  type LimitRun,
  type Point,
  runScenario,
  type ScenarioRun,
  soFar,
} from "./run-scenario.js";
export type {
  ComparedLimit,
  Phase,
  Scenario,
  ScenarioMark,
  SimulatedClient,
  TrafficPattern,
} from "./scenario.js";

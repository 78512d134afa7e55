import type { RehearsalReport } from "tidegate/simulate";
import type { InputFacts } from "./input-facts.js";

/** A rehearsal of logs: the report, and what was read for it. */
export interface ReplayReport extends RehearsalReport {
  readonly input: InputFacts;
}

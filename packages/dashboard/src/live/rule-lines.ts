import type { Rates, RuleRates } from "./rates.ts";

export type Measure = keyof RuleRates;

/** A line of the plot by rule. */
export interface RuleLine {
  /** The rule's: what others wrote. */
  readonly name: string;
  /** A variable of the style. */
  readonly colour: string;
  /** So that lines are told apart without colours. */
  readonly dash: readonly number[];
  readonly values: readonly number[];
}

const colours = ["--plot-1", "--plot-4", "--plot-2", "--plot-3", "--plot-6", "--plot-5"];
const dashes: readonly (readonly number[])[] = [[], [8, 4]];

/** More lines nobody can tell apart. */
const most = colours.length * dashes.length;

/** In the order of the rules, so that none changes its colour when another becomes busier. */
export function ruleLines(points: readonly Rates[], rules: readonly string[], measure: Measure): RuleLine[] {
  return rules.slice(0, most).map((name, i) => ({
    name,
    colour: colours[i % colours.length] as string,
    dash: dashes[Math.floor(i / colours.length)] as readonly number[],
    values: points.map(({ byRule }) => byRule[name]?.[measure] ?? 0),
  }));
}

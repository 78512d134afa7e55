import type { RehearsalReport } from "../types.ts";

/** One line of the plot. */
export interface PlotLine {
  readonly name: string;
  /** A rule's name is what others wrote. */
  readonly isRule: boolean;
  readonly values: readonly number[];
  /** The colour's name in the style sheet. */
  readonly colour: string;
  /** So that lines are told apart without colours. */
  readonly dash: readonly number[];
}

const colours = ["--plot-1", "--plot-2", "--plot-3", "--plot-4", "--plot-5", "--plot-6"];
const dashes: readonly (readonly number[])[] = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

/** Requests, what is refused of them, and by which rule, the busiest first. A rule that refused nobody has no line. */
export function plotLines({ series }: Pick<RehearsalReport, "series">, against: string): PlotLine[] {
  const { requests, refused, refusedAgainst, refusedBy } = series;
  const rules = Object.entries(refusedBy)
    .map(([name, values]) => ({ name, values, total: values.reduce((sum, each) => sum + each, 0) }))
    .filter(({ total }) => total > 0)
    .sort((one, other) => other.total - one.total);
  return [
    { name: "Requests", isRule: false, values: requests, colour: "--quiet", dash: [] },
    { name: "Refused", isRule: false, values: refused, colour: "--bad", dash: [] },
    ...(refusedAgainst === undefined
      ? []
      : [
          {
            name: `Refused by ${against}`,
            isRule: false,
            values: refusedAgainst,
            colour: "--warn",
            dash: [6, 3],
          },
        ]),
    ...rules.map(({ name, values }, i) => ({
      name,
      isRule: true,
      values,
      colour: colours[i % colours.length] as string,
      dash: dashes[Math.floor(i / colours.length) % dashes.length] as readonly number[],
    })),
  ];
}

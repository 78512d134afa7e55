import type uPlot from "uplot";
import { LinePlot, type PlotLine } from "../parts/line-plot.tsx";

export interface CurvesProps {
  /** Seconds from the start. */
  readonly times: readonly number[];
  /** Always as many. */
  readonly curves: readonly PlotLine[];
}

/** Curves over seconds. What they say stands beside them as text. */
export function Curves({ times, curves }: CurvesProps) {
  return <LinePlot name="curves" height={240} at={times} lines={curves} look={look} />;
}

function look(axis: uPlot.Axis): Pick<uPlot.Options, "scales" | "axes"> {
  return {
    scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(0.1, most * 1.1)] } },
    axes: [axis, axis],
  };
}

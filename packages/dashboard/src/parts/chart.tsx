import { useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { LinePlot, type PlotLine } from "./line-plot.tsx";

export interface ChartProps {
  /** Milliseconds since the epoch. */
  readonly times: readonly number[];
  /** Always the same ones. */
  readonly lines: readonly PlotLine[];
}

/** Numbers by the time of day. */
export function Chart({ times, lines }: ChartProps) {
  const at = useMemo(() => times.map((ms) => ms / 1000), [times]);
  return <LinePlot name="chart" height={190} at={at} lines={lines} look={look} />;
}

/** Seconds from one time on the axis to the next: less than one can not be read. */
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400];

function look(axis: uPlot.Axis): Pick<uPlot.Options, "scales" | "axes" | "padding"> {
  return {
    padding: [null, 30, null, null],
    scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
    axes: [
      {
        ...axis,
        space: 80,
        incrs: [...steps],
        values: (_, splits, __, ___, every) => splits.map((at) => clock(at, every)),
      },
      { ...axis, size: 60, values: (_, splits) => splits.map(short) },
    ],
  };
}

/** "14:05", "14:05:30", of days "31/01": of what stands `every` so many seconds. */
function clock(seconds: number, every: number): string {
  const at = new Date(seconds * 1000);
  if (every >= 86_400) return at.toLocaleDateString("en-GB", { day: "2-digit", month: "2-digit" });
  return at.toLocaleTimeString("en-GB", { timeStyle: every >= 60 ? "short" : "medium" });
}

/** "12k", "1.5M": what fits beside an axis. */
function short(number: number): string {
  return number.toLocaleString("en", { notation: "compact", maximumFractionDigits: 1 });
}

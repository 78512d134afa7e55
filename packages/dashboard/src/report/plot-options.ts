import uPlot from "uplot";
import type { PlotLine } from "./plot-lines.ts";

export const plotHeight = 260;

export interface PlotOptions {
  readonly lines: readonly PlotLine[];
  /** Whether each is drawn. */
  readonly isShown: (line: number) => boolean;
  /** The point under the pointer, undefined when it is nowhere. */
  readonly onPoint: (point: number | undefined) => void;
}

/** A drag zooms in, a double click shows all again. */
export function plotOptions(element: HTMLElement, options: PlotOptions): uPlot.Options {
  const { lines, isShown, onPoint } = options;
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 } };
  return {
    width: element.clientWidth,
    height: plotHeight,
    legend: { show: false },
    cursor: { drag: { x: true, y: false, dist: 4 }, points: { size: 6 } },
    scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] } },
    // As the tables have it.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    axes: [
      { ...axis, space: 90, values: (_, splits, __, ___, every) => splits.map((at) => clock(at, every)) },
      { ...axis, size: 60, values: (_, splits) => splits.map((each) => short(each)) },
    ],
    series: [
      {},
      ...lines.map(({ name, colour: own, dash }, i) => ({
        label: name,
        stroke: colour(own),
        dash: [...dash],
        width: 1.5,
        show: isShown(i),
        points: { show: false },
      })),
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
  };
}

/** "12:05", of days "01-31": of what stands `every` so many seconds. */
function clock(seconds: number, every: number): string {
  const text = new Date(seconds * 1000).toISOString();
  if (every >= 86_400) return text.slice(5, 10);
  return text.slice(11, every >= 60 ? 16 : 19);
}

/** "12k", "1.5M": what fits beside an axis. */
function short(number: number): string {
  return number.toLocaleString("en", { notation: "compact", maximumFractionDigits: 1 });
}

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { Foreign } from "../parts/foreign.tsx";
import { Swatch } from "../parts/swatch.tsx";
import type { RehearsalReport } from "../types.ts";
import { count, span } from "../words.ts";
import { useAgainst } from "./against.ts";
import { Heading } from "./heading.tsx";
import { type PlotLine, plotLines } from "./plot-lines.ts";
import { plotHeight, plotOptions } from "./plot-options.ts";
import { instant } from "./words.ts";

/** Requests and refusals over time. A line is switched on and off beside it; the tables say the same in numbers. */
export function TrafficPlot({ report }: { report: RehearsalReport }) {
  const { series } = report;
  const against = useAgainst();
  const lines = useMemo(() => plotLines(report, against), [report, against]);
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const [point, setPoint] = useState<number>();
  const { box, plot } = usePlot(report, lines, hidden, setPoint);

  function toggle(line: number): void {
    const next = new Set(hidden);
    if (!next.delete(line)) next.add(line);
    setHidden(next);
    plot.current?.setSeries(line + 1, { show: !next.has(line) });
  }

  /** Around the middle of what is seen; a large factor shows all. */
  function zoom(factor: number): void {
    const first = (series.at[0] ?? 0) / 1000;
    const last = (series.at.at(-1) ?? 0) / 1000;
    const { min, max } = plot.current?.scales.x ?? {};
    const from = min ?? first;
    const half = (((max ?? last) - from) / 2) * factor;
    const middle = from + half / factor;
    plot.current?.setScale("x", {
      min: half < last - first ? Math.max(first, middle - half) : first,
      max: half < last - first ? Math.min(last, middle + half) : last,
    });
  }

  return (
    <>
      <Heading>Over time</Heading>
      <figure class="plot">
        <div
          class="chart"
          ref={box}
          role="img"
          aria-label={`Requests and refusals every ${span(series.everyMs)}`}
        />
        <figcaption>
          <p class="quiet">
            Requests within {span(series.everyMs)} each. Drag to zoom in, double-click to see all.
          </p>
          <div class="row unprinted">
            <button type="button" onClick={() => zoom(0.5)}>
              Zoom in
            </button>
            <button type="button" onClick={() => zoom(2)}>
              Zoom out
            </button>
            <button type="button" onClick={() => zoom(1e12)}>
              Show all
            </button>
          </div>
          <p class="point">{point === undefined ? " " : instant(series.at[point])}</p>
          <ul class="lines" aria-label="Lines of the plot">
            {lines.map((line, i) => (
              <li key={`${line.isRule} ${line.name}`}>
                <label class="inline">
                  <input type="checkbox" checked={!hidden.has(i)} onChange={() => toggle(i)} />
                  <Swatch colour={line.colour} dash={line.dash} />
                  {line.isRule ? <Foreign text={line.name} most={64} /> : line.name}
                  <span class="number">{point === undefined ? "" : count(line.values[point] ?? 0)}</span>
                </label>
              </li>
            ))}
          </ul>
        </figcaption>
      </figure>
    </>
  );
}

/** The plot as long as it is on the page, drawn again when the colours change. */
function usePlot(
  { series }: RehearsalReport,
  lines: readonly PlotLine[],
  hidden: ReadonlySet<number>,
  onPoint: (point: number | undefined) => void,
) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const hiddenNow = useRef(hidden);
  hiddenNow.current = hidden;

  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const data: uPlot.AlignedData = [
      series.at.map((at) => at / 1000),
      ...lines.map(({ values }) => [...values]),
    ];
    const isShown = (line: number): boolean => !hiddenNow.current.has(line);
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new uPlot(plotOptions(element, { lines, isShown, onPoint }), data, element);
    };
    draw();
    const media = [matchMedia("(prefers-color-scheme: dark)"), matchMedia("print")];
    for (const each of media) each.addEventListener("change", draw);
    const sizes = new ResizeObserver(() => {
      if (plot.current?.width !== element.clientWidth)
        plot.current?.setSize({ width: element.clientWidth, height: plotHeight });
    });
    sizes.observe(element);
    return () => {
      for (const each of media) each.removeEventListener("change", draw);
      sizes.disconnect();
      plot.current?.destroy();
    };
  }, [series, lines]);
  return { box, plot };
}

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Rates } from "../live/rates.ts";

const lines = [
  { name: "allowed", colour: "--good", dash: [] },
  { name: "refused", colour: "--bad", dash: [6, 3] },
  { name: "shadow", colour: "--warn", dash: [2, 3] },
] as const;

/** Requests per second over time. The same numbers stand beside it as text. */
export function Chart({ points }: { points: readonly Rates[] }) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const shown = useRef(points);
  shown.current = points;

  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new uPlot(options(element), dataOf(shown.current), element);
    };
    draw();
    scheme.addEventListener("change", draw);
    const sizes = new ResizeObserver(() => {
      if (plot.current?.width !== element.clientWidth)
        plot.current?.setSize({ width: element.clientWidth, height });
    });
    sizes.observe(element);
    return () => {
      scheme.removeEventListener("change", draw);
      sizes.disconnect();
      plot.current?.destroy();
    };
  }, []);

  useEffect(() => plot.current?.setData(dataOf(points)), [points]);
  return <div class="chart" ref={box} aria-hidden="true" />;
}

const height = 190;

function dataOf(points: readonly Rates[]): uPlot.AlignedData {
  return [points.map(({ at }) => at / 1000), ...lines.map(({ name }) => points.map((point) => point[name]))];
}

function options(element: HTMLElement): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 } };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
    axes: [axis, axis],
    series: [
      {},
      ...lines.map(({ name, colour: own, dash }) => ({
        label: name,
        stroke: colour(own),
        dash: [...dash],
        width: 2,
        points: { show: false },
      })),
    ],
  };
}

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

/** One line, in the order it is drawn. */
export interface ChartLine {
  readonly name: string;
  /** A variable of the style. */
  readonly colour: string;
  readonly dash: readonly number[];
  /** Null: nothing is drawn there. */
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  /** Milliseconds since the epoch. */
  readonly times: readonly number[];
  /** Always the same ones, with a value for each time. */
  readonly lines: readonly ChartLine[];
}

/** Numbers over time. The same stand beside it as text. */
export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const shown = useRef(props);
  shown.current = props;

  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new uPlot(options(element, shown.current), dataOf(shown.current), element);
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

  useEffect(() => plot.current?.setData(dataOf(props)), [props.times, props.lines]);
  return <div class="chart" ref={box} aria-hidden="true" />;
}

const height = 190;

/** Seconds from one time on the axis to the next: less than one can not be read. */
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400];

function dataOf({ times, lines }: ChartProps): uPlot.AlignedData {
  return [times.map((at) => at / 1000), ...lines.map(({ values }) => [...values])];
}

function options(element: HTMLElement, { lines }: ChartProps): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 } };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    padding: [null, 30, null, null],
    cursor: { show: false },
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

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

/** One line, in the order it is drawn. */
export interface ChartLine {
  readonly name: string;
  /** A variable of the style. */
  readonly colour: string;
  readonly dash: readonly number[];
  readonly values: readonly number[];
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

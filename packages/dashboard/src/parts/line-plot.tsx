import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

/** One line, in the order it is drawn. */
export interface PlotLine {
  readonly name: string;
  /** A variable of the style. */
  readonly colour: string;
  readonly dash: readonly number[];
  /** Null: nothing is drawn there. */
  readonly values: readonly (number | null)[];
}

export interface LinePlotProps {
  /** Its class. */
  readonly name: string;
  readonly height: number;
  /** Seconds. */
  readonly at: readonly number[];
  /** Always as many, with a value for each time. */
  readonly lines: readonly PlotLine[];
  /** Scales, axes and padding; an axis in the page's colours is handed over. */
  readonly look: (axis: uPlot.Axis) => Pick<uPlot.Options, "scales" | "axes" | "padding">;
}

/** Lines over time, drawn anew when the window or its colours change. The same stand beside it as text. */
export function LinePlot(props: LinePlotProps) {
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
      const { clientWidth: width } = element;
      if (plot.current?.width !== width) plot.current?.setSize({ width, height: shown.current.height });
    });
    sizes.observe(element);
    return () => {
      scheme.removeEventListener("change", draw);
      sizes.disconnect();
      plot.current?.destroy();
    };
  }, []);

  useEffect(() => plot.current?.setData(dataOf(props)), [props.at, props.lines]);
  return <div class={props.name} ref={box} aria-hidden="true" />;
}

function dataOf({ at, lines }: LinePlotProps): uPlot.AlignedData {
  return [[...at], ...lines.map(({ values }) => [...values])];
}

function options(element: HTMLElement, { height, lines, look }: LinePlotProps): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    ...look({ stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 } }),
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

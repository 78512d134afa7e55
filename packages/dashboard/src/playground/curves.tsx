import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface Curve {
  readonly name: string;
  /** A variable of the style. */
  readonly colour: string;
  readonly dash: readonly number[];
  readonly values: readonly (number | null)[];
}

export interface CurvesProps {
  /** Seconds from the start. */
  readonly times: readonly number[];
  /** Always as many. */
  readonly curves: readonly Curve[];
}

const height = 240;

/** Curves over seconds. What they say stands beside them as text. */
export function Curves(props: CurvesProps) {
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

  useEffect(() => plot.current?.setData(dataOf(props)), [props.times, props.curves]);
  return <div class="curves" ref={box} aria-hidden="true" />;
}

function dataOf({ times, curves }: CurvesProps): uPlot.AlignedData {
  return [[...times], ...curves.map(({ values }) => [...values])];
}

function options(element: HTMLElement, { curves }: CurvesProps): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 } };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(0.1, most * 1.1)] } },
    axes: [axis, axis],
    series: [
      {},
      ...curves.map(({ name, colour: own, dash }) => ({
        label: name,
        stroke: colour(own),
        dash: [...dash],
        width: 2,
        points: { show: false },
      })),
    ],
  };
}

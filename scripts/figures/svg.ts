// A small writer of line plots: panels side by side, each with its axes, its lines and a legend.

export interface Axis {
  readonly label: string;
  readonly from: number;
  readonly to: number;
  readonly ticks: readonly number[];
  readonly scale?: "linear" | "log";
}

export interface Line {
  readonly label?: string;
  readonly color: "red" | "green" | "blue" | "grey";
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly isDashed?: boolean;
}

export interface Mark {
  readonly x: number;
  readonly y: number;
  readonly label: string;
  /** On which side of the point the label stands. */
  readonly side: "left" | "right";
}

export interface Panel {
  readonly title?: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Line[];
  readonly marks?: readonly Mark[];
}

const panelWidth = { 1: 640, 2: 380 } as const;
const height = 300;
const margin = { left: 62, right: 18, top: 84, bottom: 48 };

export function plot(
  title: string,
  description: string,
  panels: readonly [Panel] | readonly [Panel, Panel],
): string {
  const inner = panelWidth[panels.length];
  const step = inner + margin.left + margin.right;
  const width = step * panels.length;
  const total = height + margin.top + margin.bottom;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${total}" width="${width}" height="${total}" role="img" aria-label="${text(title)}">`,
    `<title>${text(title)}</title>`,
    `<desc>${text(description)}</desc>`,
    style,
    `<rect class="paper" width="${width}" height="${total}"/>`,
    `<text class="title" x="${margin.left}" y="26">${text(title)}</text>`,
    ...panels.flatMap((panel, i) => [
      `<g transform="translate(${i * step + margin.left} ${margin.top})">`,
      ...drawPanel(panel, inner),
      "</g>",
    ]),
    "</svg>",
  ].join("\n")}\n`;
}

/** Colours that differ in lightness too, for paper and for screens by night. */
const style = `<style>
.paper { fill: #ffffff } text { fill: #24292f; font: 12px system-ui, sans-serif } .title { font-size: 16px; font-weight: 600 }
.grid { stroke: #d8dee4; stroke-width: 1 } .frame { stroke: #57606a; stroke-width: 1 } polyline { fill: none; stroke-width: 1.6; stroke-linejoin: round }
.dashed { stroke-dasharray: 5 4; stroke-width: 1.2 } .dot { fill: #24292f }
.red { stroke: #c8321e } .green { stroke: #1a7f4b } .blue { stroke: #0b62c4 } .grey { stroke: #6e7781 }
@media (prefers-color-scheme: dark) {
.paper { fill: #0d1117 } text { fill: #e6edf3 } .grid { stroke: #30363d } .frame { stroke: #8b949e } .dot { fill: #e6edf3 }
.red { stroke: #ff8370 } .green { stroke: #4cc38a } .blue { stroke: #6cb2ff } .grey { stroke: #8b949e }
}
</style>`;

function drawPanel({ title, x, y, lines, marks = [] }: Panel, width: number): string[] {
  const right = (value: number) => place(value, x) * width;
  const down = (value: number) => height - place(value, y) * height;
  const at = (px: number, py: number) => `${px.toFixed(1)},${py.toFixed(1)}`;
  return [
    ...(title === undefined ? [] : [`<text x="0" y="-38" font-weight="600">${text(title)}</text>`]),
    ...y.ticks.flatMap((tick) => [
      `<line class="grid" x1="0" x2="${width}" y1="${down(tick).toFixed(1)}" y2="${down(tick).toFixed(1)}"/>`,
      `<text x="-8" y="${(down(tick) + 4).toFixed(1)}" text-anchor="end">${tick}</text>`,
    ]),
    ...x.ticks.flatMap((tick) => [
      `<line class="frame" x1="${right(tick).toFixed(1)}" x2="${right(tick).toFixed(1)}" y1="${height}" y2="${height + 5}"/>`,
      `<text x="${right(tick).toFixed(1)}" y="${height + 19}" text-anchor="middle">${tick}</text>`,
    ]),
    `<line class="frame" x1="0" x2="${width}" y1="${height}" y2="${height}"/>`,
    `<line class="frame" x1="0" x2="0" y1="0" y2="${height}"/>`,
    `<text x="${width / 2}" y="${height + 40}" text-anchor="middle">${text(x.label)}</text>`,
    `<text transform="translate(-46 ${height / 2}) rotate(-90)" text-anchor="middle">${text(y.label)}</text>`,
    `<clipPath id="panel"><rect width="${width}" height="${height}"/></clipPath>`,
    '<g clip-path="url(#panel)">',
    ...lines
      .filter(({ points }) => points.length > 0)
      .map(
        ({ color, points, isDashed }) =>
          `<polyline class="${color}${isDashed ? " dashed" : ""}" points="${points
            .map(([px, py]) => at(right(px), down(py)))
            .join(" ")}"/>`,
      ),
    "</g>",
    ...marks.flatMap((mark) => [
      `<circle class="dot" cx="${right(mark.x).toFixed(1)}" cy="${down(mark.y).toFixed(1)}" r="3"/>`,
      `<text x="${(right(mark.x) + (mark.side === "left" ? -8 : 8)).toFixed(1)}" y="${(down(mark.y) + 4).toFixed(1)}" text-anchor="${mark.side === "left" ? "end" : "start"}">${text(mark.label)}</text>`,
    ]),
    ...drawLegend(lines),
  ];
}

function drawLegend(lines: readonly Line[]): string[] {
  let left = 0;
  return lines.flatMap(({ label, color, isDashed }) => {
    if (label === undefined) return [];
    const from = left;
    left += 44 + label.length * 6.4;
    return [
      `<polyline class="${color}${isDashed ? " dashed" : ""}" points="${from.toFixed(1)},-18 ${(from + 22).toFixed(1)},-18"/>`,
      `<text x="${(from + 28).toFixed(1)}" y="-14">${text(label)}</text>`,
    ];
  });
}

/** Where a value lies on its axis, from 0 to 1. A logarithm of 0 is as far down as matters. */
function place(value: number, { from, to, scale }: Axis): number {
  if (scale === "log") return Math.log(Math.max(value, from * 1e-4) / from) / Math.log(to / from);
  return (value - from) / (to - from);
}

function text(plain: string): string {
  return plain.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

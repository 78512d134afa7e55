import type { Axis, Line, Panel } from "./plot.js";

export interface PanelSize {
  readonly width: number;
  readonly height: number;
}

/** Around a panel, beside what stands above it. */
export const margin = { left: 62, right: 18, bottom: 52 };
const legendRow = 18;
const titleRow = 16;
const mostTitleRows = 3;

/** What stands above a panel: its title and its legend. */
export function roomAbove({ title, lines }: Panel, { width }: PanelSize): number {
  const rows = title === undefined ? 0 : wrapped(title, width).length;
  return (rows === 0 ? 0 : 6 + rows * titleRow) + legendOf(lines, width).rows * legendRow + 10;
}

export function drawPanel(
  { title, x, y, lines, marks = [] }: Panel,
  { size: { width, height }, id }: { readonly size: PanelSize; readonly id: string },
): string[] {
  const right = (value: number) => (place(value, x) * width).toFixed(1);
  const down = (value: number) => (height - place(value, y) * height).toFixed(1);
  const legend = legendOf(lines, width);
  const name = title === undefined ? [] : wrapped(title, width);
  return [
    ...name.map((row, i) => {
      const up = legend.rows * legendRow + 12 + (name.length - 1 - i) * titleRow;
      return `<text class="name" x="0" y="${-up}">${escaped(row)}</text>`;
    }),
    ...y.ticks.flatMap((tick) => [
      `<line class="grid" x1="0" x2="${width}" y1="${down(tick)}" y2="${down(tick)}"/>`,
      `<text x="-8" y="${down(tick)}" dy="4" text-anchor="end">${tick}</text>`,
    ]),
    ...x.ticks.flatMap((tick) => [
      `<line class="frame" x1="${right(tick)}" x2="${right(tick)}" y1="${height}" y2="${height + 5}"/>`,
      `<text x="${right(tick)}" y="${height + 19}" text-anchor="middle">${tick}</text>`,
    ]),
    `<line class="frame" x1="0" x2="${width}" y1="${height}" y2="${height}"/>`,
    `<line class="frame" x1="0" x2="0" y1="0" y2="${height}"/>`,
    `<text x="${width / 2}" y="${height + 38}" text-anchor="middle">${escaped(x.label)}</text>`,
    `<text transform="translate(-48 ${height / 2}) rotate(-90)" text-anchor="middle">${escaped(y.label)}</text>`,
    `<clipPath id="${id}"><rect width="${width}" height="${height}"/></clipPath>`,
    `<g clip-path="url(#${id})">`,
    ...lines
      .filter(({ points }) => points.length > 0)
      .map((line) =>
        polyline(line, distinct(line.points.map(([px, py]) => `${right(px)},${down(py)}`)).join(" ")),
      ),
    "</g>",
    ...marks.flatMap(({ x: mx, y: my, label, side }) => [
      `<circle class="dot" cx="${right(mx)}" cy="${down(my)}" r="3"/>`,
      `<text x="${right(mx)}" y="${down(my)}" dx="${side === "left" ? -8 : 8}" dy="4" text-anchor="${side === "left" ? "end" : "start"}">${escaped(label)}</text>`,
    ]),
    ...legend.drawn,
  ];
}

/** In rows that fit above a panel; what is too long for a few of them is cut. */
function wrapped(title: string, width: number): string[] {
  const most = Math.floor(width / 7);
  const rows: string[] = [];
  for (const word of title.split(" ")) {
    const row = rows.at(-1);
    if (row !== undefined && row.length + 1 + word.length <= most) rows[rows.length - 1] = `${row} ${word}`;
    else rows.push(word);
  }
  return rows
    .slice(0, mostTitleRows)
    .map((row, i) =>
      row.length > most || (i === mostTitleRows - 1 && rows.length > mostTitleRows)
        ? `${row.slice(0, most - 1)}…`
        : row,
    );
}

/** Entries side by side, in as many rows as they need, the last just above the panel. */
function legendOf(
  lines: readonly Line[],
  width: number,
): { readonly rows: number; readonly drawn: string[] } {
  const entries: { line: Line; label: string; left: number; row: number }[] = [];
  let left = 0;
  let row = 0;
  for (const line of lines) {
    if (line.label === undefined) continue;
    const wide = 44 + line.label.length * 6.4;
    if (left > 0 && left + wide > width + 12) {
      left = 0;
      row++;
    }
    entries.push({ line, label: line.label, left, row });
    left += wide;
  }
  const rows = entries.length === 0 ? 0 : row + 1;
  const drawn = entries.flatMap((entry) => {
    const y = -(rows - entry.row) * legendRow + 6;
    return [
      polyline(entry.line, `${entry.left.toFixed(1)},${y} ${(entry.left + 22).toFixed(1)},${y}`),
      `<text x="${(entry.left + 28).toFixed(1)}" y="${y + 4}">${escaped(entry.label)}</text>`,
    ];
  });
  return { rows, drawn };
}

function polyline({ color, isDashed = false }: Line, points: string): string {
  return `<polyline class="${color}${isDashed ? " dashed" : ""}" points="${points}"/>`;
}

/** Without points that fall on the one before. */
function distinct(points: readonly string[]): string[] {
  return points.filter((point, i) => point !== points[i - 1]);
}

/** Where a value lies on its axis, from 0 to 1. A logarithm of 0 is as far down as matters. */
function place(value: number, { from, to, scale }: Axis): number {
  if (scale === "log") return Math.log(Math.max(value, from * 1e-4) / from) / Math.log(to / from);
  return (value - from) / (to - from);
}

/** Text of strangers, in an element or an attribute. What no XML may hold is shown as a question mark. */
export function escaped(plain: string): string {
  return (
    plain
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
      .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/gu, "?")
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;")
  );
}

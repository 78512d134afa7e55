import type { Panel, Plot } from "./plot.js";
import { drawPanel, escaped, margin, type PanelSize, roomAbove } from "./svg-panel.js";
import { svgStyle, type Theme } from "./svg-style.js";

export interface SvgOptions {
  /** Default `"auto"`: as whoever looks at it likes it. */
  readonly theme?: Theme;
}

const titleHeight = 40;
const onePanel: PanelSize = { width: 300, height: 260 };

/** One panel alone, for a page that has the title and the style (`svgStyle`) and puts panels side by side or below each other. */
export function svgOfPanel(panel: Panel, id: string): string {
  const width = margin.left + onePanel.width + margin.right;
  const above = roomAbove(panel, onePanel);
  const height = above + onePanel.height + margin.bottom;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(panel.title ?? "Plot")}">`,
    `<g transform="translate(${margin.left} ${above})">`,
    ...drawPanel(panel, { size: onePanel, id }),
    "</g>",
    "</svg>",
  ].join("\n");
}

/** A plot as an SVG of its own: no script, no other file, readable by day and by night. */
export function svgPlot({ title, about, panels }: Plot, { theme = "auto" }: SvgOptions = {}): string {
  const columns = panels.length <= 3 ? Math.max(1, panels.length) : panels.length === 4 ? 2 : 3;
  const inner: PanelSize = {
    width: [640, 380, 300][columns - 1] as number,
    height: panels.length <= 3 ? 300 : 220,
  };
  const rows = Array.from({ length: Math.ceil(panels.length / columns) }, (_, row) =>
    panels.slice(row * columns, (row + 1) * columns),
  );
  const step = margin.left + inner.width + margin.right;
  const width = step * columns;
  let top = titleHeight;
  const drawn = rows.flatMap((row, i) => {
    // In one row the axes stand on one line, however long the legends are.
    const axes = top + Math.max(...row.map((panel) => roomAbove(panel, inner)));
    top = axes + inner.height + margin.bottom;
    return row.flatMap((panel, column) => [
      `<g transform="translate(${column * step + margin.left} ${axes})">`,
      ...drawPanel(panel, { size: inner, id: `panel-${i * columns + column}` }),
      "</g>",
    ]);
  });
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" width="${width}" height="${top}" role="img" aria-label="${escaped(title)}">`,
    `<title>${escaped(title)}</title>`,
    `<desc>${escaped(about)}</desc>`,
    svgStyle(theme),
    `<rect class="paper" width="${width}" height="${top}"/>`,
    `<text class="title" x="${margin.left}" y="26">${escaped(title)}</text>`,
    ...drawn,
    "</svg>",
  ].join("\n")}\n`;
}

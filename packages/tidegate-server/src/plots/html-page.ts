import type { Plot } from "./plot.js";
import { escaped } from "./svg-panel.js";
import { svgOfPanel } from "./svg-plot.js";
import { svgStyle } from "./svg-style.js";

export interface PageTable {
  readonly title: string;
  readonly head: readonly string[];
  /** How many columns, from the left, are words; the others are numbers. Default 1. */
  readonly words?: number;
  readonly rows: readonly (readonly string[])[];
}

/** A plot and its numbers as one page that asks no other host, and prints. */
export function htmlPage(plot: Plot, tables: readonly PageTable[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>${escaped(plot.title)} · Tidegate</title>
<style>${style}</style>
${svgStyle("auto")}
</head>
<body>
<main>
<h1>${escaped(plot.title)}</h1>
<p>${escaped(plot.about)}</p>
<div class="panels">
${plot.panels.map((panel, i) => svgOfPanel(panel, `panel-${i}`)).join("\n")}
</div>
${tables.map(tableOf).join("\n")}
</main>
</body>
</html>
`;
}

function tableOf({ title, head, rows, words = 1 }: PageTable): string {
  const line = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell, i) => `<${tag}${i >= words ? ' class="number"' : ""}${tag === "th" ? ' scope="col"' : ""}>${escaped(cell)}</${tag}>`).join("")}</tr>`;
  return `<h2>${escaped(title)}</h2>
<div class="wide" tabindex="0" role="region" aria-label="${escaped(title)}"><table>
<thead>${line(head, "th")}</thead>
<tbody>
${rows.map((row) => line(row, "td")).join("\n")}
</tbody>
</table></div>`;
}

const style = `
body { margin: 0; background: #fff; color: #24292f; font: 16px/1.5 system-ui, sans-serif }
main { max-width: 90rem; margin: 0 auto; padding: 1rem }
.wide { overflow-x: auto }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1rem; align-items: end } svg { width: 100%; max-width: 38rem; height: auto }
table { border-collapse: collapse } th, td { padding: .3rem .7rem; border-bottom: 1px solid #d8dee4; text-align: left }
.number { text-align: right; font-variant-numeric: tabular-nums }
@media (prefers-color-scheme: dark) { body { background: #0d1117; color: #e6edf3 } th, td { border-color: #30363d } }
@media print { .wide { overflow: visible } }
`;

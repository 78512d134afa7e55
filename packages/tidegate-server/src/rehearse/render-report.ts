import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { TidegateError } from "tidegate";
import type { RehearsalReport } from "tidegate/simulate";
import { pageJson } from "./page-json.js";

/** Built of `packages/dashboard`. The same from `src/` and from `dist/`. */
const template = fileURLToPath(new URL("../../dist/report/report.html", import.meta.url));

/** Where the data goes, as it stands in the template. */
const place = '<script type="application/json" id="report">"the report"</script>';

/** More is slow to open, and too large to be sent around. */
const mostBytes = 2_000_000;

/** The report as one HTML file that needs nothing beside it, asks nobody, takes no text for more than text, and is never above 2 MB. */
export async function renderReport(report: RehearsalReport): Promise<string> {
  const page = await readFile(template, "utf8").catch((error) => {
    throw notBuilt(error);
  });
  const at = page.indexOf(place);
  if (at < 0) throw notBuilt(undefined);
  const json = pageJson(report, mostBytes - Buffer.byteLength(page));
  const data = place.replace('"the report"', () => json);
  return page.slice(0, at) + data + page.slice(at + place.length);
}

function notBuilt(cause: unknown): TidegateError {
  return new TidegateError(
    "TG_REPORT_TEMPLATE",
    "The template of the HTML report is not there.",
    "It comes with the package; from the sources `npm run build` makes it.",
    { cause },
  );
}

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { TidegateError } from "tidegate";
import type { RehearsalReport } from "tidegate/simulate";

/** Built of `packages/dashboard`. The same from `src/` and from `dist/`. */
const template = fileURLToPath(new URL("../../dist/report/report.html", import.meta.url));

/** Where the data goes, as it stands in the template. */
const place = '<script type="application/json" id="report">"the report"</script>';

/** The report as one HTML file that needs nothing beside it, asks nobody, and takes no text for more than text. */
export async function renderReport(report: RehearsalReport): Promise<string> {
  const page = await readFile(template, "utf8").catch((error) => {
    throw notBuilt(error);
  });
  const at = page.indexOf(place);
  if (at < 0) throw notBuilt(undefined);
  const data = place.replace('"the report"', () => safeJson(report));
  return page.slice(0, at) + data + page.slice(at + place.length);
}

/** No text in it can end the script it stands in, or begin a comment of the page's. */
function safeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

function notBuilt(cause: unknown): TidegateError {
  return new TidegateError(
    "TG_REPORT_TEMPLATE",
    "The template of the HTML report is not there.",
    "It comes with the package; from the sources `npm run build` makes it.",
    { cause },
  );
}

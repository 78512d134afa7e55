import type { Abuse } from "tidegate/simulate";
import type { Measured } from "./measure.js";

export interface MeasuredPreset {
  readonly preset: string;
  readonly against: readonly Abuse[];
  /** One for each seed. */
  readonly runs: readonly Measured[];
}

/** As docs/server/presets.md shows it: all seeds together. */
export function measuredTable(presets: readonly MeasuredPreset[]): string {
  const head = [
    "| preset | against | requests | ordinary clients refused | abusive clients found | precision | recall | hard ones found |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
  ];
  const rows = presets.map(({ preset, against, runs }) => {
    const sum = (of: (run: Measured) => number) => runs.reduce((total, run) => total + of(run), 0);
    const abusive = sum((run) => run.abusive);
    const hard = sum((run) => run.hard);
    const least = (of: (run: Measured) => number) => Math.min(...runs.map(of)).toFixed(2);
    return [
      `\`${preset}\``,
      against.join(", "),
      sum((run) => run.requests).toLocaleString("en"),
      `${sum((run) => run.wronged.length)} of ${sum((run) => run.ordinary).toLocaleString("en")}`,
      `${abusive - sum((run) => run.missed.length)} of ${abusive}`,
      least((run) => run.precision),
      least((run) => run.recall),
      hard === 0 ? "–" : `${sum((run) => run.hardFound)} of ${hard}`,
    ].join(" | ");
  });
  return [...head, ...rows.map((row) => `| ${row} |`)].join("\n");
}

const place = /(<!-- measured -->\n)[\s\S]*?(\n<!-- end -->)/;

export function tableIn(page: string): string | undefined {
  return place.exec(page)?.[0].split("\n").slice(1, -1).join("\n").trim();
}

export function withTable(page: string, table: string): string {
  return page.replace(place, (_, before, after) => `${before}\n${table}\n${after}`);
}

import type { RehearsalReport } from "tidegate/simulate";
import type { ReplayReport } from "./replay-report.js";

type PageReport = RehearsalReport & Partial<Pick<ReplayReport, "input">>;

/** What may be of any length; all else is bounded by the number of rules, of which a policy has 255 at most. */
type Lists = {
  readonly offenders: RehearsalReport["offenders"];
  readonly falsePositives: RehearsalReport["falsePositives"];
  readonly worst: NonNullable<RehearsalReport["change"]>["worst"];
  readonly files: ReplayReport["input"]["files"];
  readonly notes: readonly string[];
};

/** As they are called where not all are told. */
const names: Readonly<Record<keyof Lists, string>> = {
  offenders: "refused clients",
  falsePositives: "clients that may be refused wrongly",
  worst: "clients that the policies treat differently",
  files: "logs",
  notes: "notes",
};

/** For the note about what was left out. */
const noteBytes = 1024;

/**
 * A report as JSON to stand in a page, of so many bytes at most. Where there is more than fits, lists are cut at their end, the
 * longest first: the busiest clients stay, and a note tells how many do not.
 */
export function pageJson(report: PageReport, mostBytes: number): string {
  const whole = safeJson(report);
  if (Buffer.byteLength(whole) <= mostBytes) return whole;
  const { offenders, falsePositives, notes, change, input } = report;
  const lists: Lists = {
    offenders,
    falsePositives,
    worst: change?.worst ?? [],
    files: input?.files ?? [],
    notes,
  };
  const none: Lists = { offenders: [], falsePositives: [], worst: [], files: [], notes: [] };
  return safeJson(withLists(report, cut(lists, mostBytes - bytesOf(withLists(report, none)) - noteBytes)));
}

function withLists(
  report: PageReport,
  { offenders, falsePositives, worst, files, notes }: Lists,
): PageReport {
  const { change, input } = report;
  return {
    ...report,
    offenders,
    falsePositives,
    ...(change && { change: { ...change, worst } }),
    ...(input && { input: { ...input, files } }),
    notes,
  };
}

/** Each may have as much as any other; what short ones leave is for the long ones. */
function cut(lists: Lists, mostBytes: number): Lists {
  const kinds = Object.keys(names) as (keyof Lists)[];
  const sizes = kinds.map((kind) => ({ kind, rows: lists[kind].map(bytesOf) }));
  const bySize = sizes
    .map((each) => ({ ...each, bytes: each.rows.reduce((sum, bytes) => sum + bytes, 0) }))
    .sort((a, b) => a.bytes - b.bytes);
  let left = Math.max(0, mostBytes);
  const kept = { ...lists };
  const told: string[] = [];
  for (const [i, { kind, rows }] of bySize.entries()) {
    const { count, bytes } = fitting(rows, left / (bySize.length - i));
    left -= bytes;
    if (count === rows.length) continue;
    Object.assign(kept, { [kind]: lists[kind].slice(0, count) });
    told.push(`${count.toLocaleString("en")} of ${rows.length.toLocaleString("en")} ${names[kind]}`);
  }
  return { ...kept, notes: [`This page has room for ${told.join(", ")}: --json has all.`, ...kept.notes] };
}

/** How many of the first fit. */
function fitting(rows: readonly number[], most: number): { readonly count: number; readonly bytes: number } {
  let bytes = 0;
  for (const [count, each] of rows.entries()) {
    if (bytes + each > most) return { count, bytes };
    bytes += each;
  }
  return { count: rows.length, bytes };
}

/** With the comma behind it. */
function bytesOf(value: unknown): number {
  return Buffer.byteLength(safeJson(value)) + 1;
}

/** No text in it can end the script it stands in, or begin a comment of the page's. */
function safeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

import { printable, printableJson } from "../../printable.js";
import type { AuditLine } from "../types.js";

/** A form the audit can be taken away in. */
export interface AuditFormat {
  readonly type: string;
  /** What stands above the first entry. */
  readonly head: string;
  /** One entry, one line. */
  line(entry: AuditLine): string;
}

const columns = [
  "id",
  "at",
  "who",
  "what",
  "target",
  "why",
  "before",
  "after",
  "undoes",
  "undoneBy",
] as const;

export const auditFormats: Readonly<Record<"ndjson" | "csv", AuditFormat>> = {
  ndjson: {
    type: "application/x-ndjson",
    head: "",
    line: (entry) => `${printableJson(JSON.stringify(entry))}\n`,
  },
  csv: {
    type: "text/csv; charset=utf-8; header=present",
    head: `${columns.join(",")}\r\n`,
    line: (entry) => `${columns.map((column) => cell(textOf(entry, column))).join(",")}\r\n`,
  },
};

function textOf(entry: AuditLine, column: (typeof columns)[number]): string {
  const value = entry[column];
  if (value === undefined) return "";
  if (column === "at") return new Date(entry.at).toISOString();
  return column === "before" || column === "after" ? JSON.stringify(value) : String(value);
}

/** Spreadsheets take what begins so for a formula, whoever wrote it: an apostrophe makes it text. */
const formula = /^[\s\p{C}]*[=+\-@\uff1d\uff0b\uff0d\uff20|%]|^[\t\r\n]/u;

function cell(text: string): string {
  const shown = printable(text).replaceAll('"', '""');
  return `"${formula.test(text) ? "'" : ""}${shown}"`;
}

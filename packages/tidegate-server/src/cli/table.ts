import { printable } from "../printable.js";

export interface Column<Row> {
  readonly title: string;
  /** Undefined and empty are shown as a dash. */
  readonly of: (row: Row) => string | number | undefined;
  readonly isNumber?: boolean;
}

/** Rows under their titles, aligned. Whatever stands in a cell stays in its line. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map(({ of }) => cellOf(of(row))));
  const widths = columns.map(({ title }, i) =>
    Math.max(widthOf(title), ...cells.map((line) => widthOf(line[i] as string))),
  );
  const lines = [columns.map(({ title }) => title), ...cells].map((line) =>
    line
      .map((cell, i) => padded(cell, widths[i] as number, columns[i]?.isNumber === true))
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

/** `1 held client`, `2 held clients`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function cellOf(value: string | number | undefined): string {
  return value === undefined || value === "" ? "-" : printable(value);
}

function padded(cell: string, width: number, toTheRight: boolean): string {
  const gap = " ".repeat(Math.max(0, width - widthOf(cell)));
  return toTheRight ? gap + cell : cell + gap;
}

const wide =
  /\p{Extended_Pictographic}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += /\p{M}/u.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return width;
}

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

export interface Column<Row> {
  readonly title: string;
  /** By what it is sorted; numbers stand at the right. */
  readonly of: (row: Row) => number | string;
  readonly show: (row: Row) => ComponentChildren;
}

export interface SortedTableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The column it is sorted by at first, the largest on top. */
  readonly startsBy: string;
  readonly empty: string;
}

/** A table whose columns are sorted by a click on their heads: numbers the largest first, texts from the beginning. */
export function SortedTable<Row>(props: SortedTableProps<Row>) {
  const { label, columns, rows, keyOf, startsBy, empty } = props;
  const [by, setBy] = useState({ title: startsBy, isFalling: true });
  if (rows.length === 0) return <p class="quiet">{empty}</p>;
  const [first] = rows as [Row];
  const isNumber = (column: Column<Row>): boolean => typeof column.of(first) === "number";
  const column = columns.find(({ title }) => title === by.title) ?? (columns[0] as Column<Row>);
  const sorted = [...rows].sort((one, other) => {
    const order = compared(column.of(one), column.of(other));
    return by.isFalling ? -order : order;
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reached by keyboard
    <section class="sideways" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((each) => (
              <th
                key={each.title}
                scope="col"
                class={isNumber(each) ? "number" : undefined}
                aria-sort={each !== column ? undefined : by.isFalling ? "descending" : "ascending"}
              >
                <button
                  type="button"
                  class="sorts"
                  onClick={() =>
                    setBy({
                      title: each.title,
                      isFalling: each === column ? !by.isFalling : isNumber(each),
                    })
                  }
                >
                  {each.title}
                  <span aria-hidden="true">{each !== column ? "" : by.isFalling ? " ▾" : " ▴"}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((each, i) =>
                i === 0 ? (
                  <th key={each.title} scope="row">
                    {each.show(row)}
                  </th>
                ) : (
                  <td key={each.title} class={isNumber(each) ? "number" : "wraps"}>
                    {each.show(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function compared(one: number | string, other: number | string): number {
  return typeof one === "number" && typeof other === "number"
    ? one - other
    : String(one).localeCompare(String(other), "en", { numeric: true });
}

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

export interface TableProps {
  /** What it shows, for who can not see it. */
  readonly label: string;
  readonly head: readonly string[];
  /** Columns of numbers, from 0. */
  readonly numbers?: readonly number[];
  readonly empty: ComponentChildren;
  readonly children: readonly ComponentChildren[];
}

/** On a narrow screen each row stands by itself, every cell with the name of its column before it (style.css). */
export function Table({ label, head, numbers = [], empty, children }: TableProps) {
  if (children.length === 0) return <p class="quiet">{empty}</p>;
  const labels = Object.fromEntries(
    head.map((name, column) => [`--column-${column + 1}`, JSON.stringify(name)]),
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reached by keyboard
    <section class="sideways" aria-label={label} tabIndex={0}>
      <table style={labels}>
        <thead>
          <tr>
            {head.map((name, column) => (
              <th key={name} scope="col" class={numbers.includes(column) ? "number" : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Rows rows={children} />
        </tbody>
      </table>
    </section>
  );
}

const rowsAtFirst = 20;

/** A long table comes in several frames, so that nobody's key or click has to wait for all of it; a very long one in not too many. */
function Rows({ rows }: { rows: TableProps["children"] }) {
  const [shown, setShown] = useState(rowsAtFirst);
  useEffect(() => {
    if (shown < rows.length) setShown(shown + Math.max(rowsAtFirst, shown >> 1));
  }, [shown, rows.length]);
  return rows.slice(0, shown);
}

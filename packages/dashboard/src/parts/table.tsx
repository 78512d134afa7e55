import type { ComponentChildren } from "preact";

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
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

import type { PlotLine } from "./line-plot.tsx";
import { Swatch } from "./swatch.tsx";

/** What each line of a chart stands for. */
export function Legend({ lines }: { lines: readonly Pick<PlotLine, "name" | "colour" | "dash">[] }) {
  return (
    <ul class="legend" aria-label="Lines">
      {lines.map(({ name, colour, dash }) => (
        <li key={name}>
          <Swatch colour={colour} dash={dash} /> {name}
        </li>
      ))}
    </ul>
  );
}

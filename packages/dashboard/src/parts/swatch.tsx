/** As a line of a plot is drawn: its colour, a variable of the style, and its dashes. */
export function Swatch({ colour, dash }: { colour: string; dash: readonly number[] }) {
  return (
    <svg class={`swatch ${colour.slice(2)}`} width="24" height="8" aria-hidden="true">
      <line
        x1="0"
        y1="4"
        x2="24"
        y2="4"
        stroke="currentColor"
        stroke-width="2"
        stroke-dasharray={dash.join(" ")}
      />
    </svg>
  );
}

import { lineDiff } from "../line-diff.ts";
import { visible } from "../words.ts";

const signs = { same: " ", added: "+", removed: "−" } as const;

/** What the second text has that the first has not, and the other way round. */
export function Diff({ label, before, after }: { label: string; before: string; after: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reached by keyboard
    <section class="diff" tabIndex={0} aria-label={label}>
      {lineDiff(before, after).map(({ kind, text }, line) => (
        <div key={line} class={kind}>
          {signs[kind]} {visible(text)}
        </div>
      ))}
    </section>
  );
}

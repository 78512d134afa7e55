import { useMemo } from "preact/hooks";
import { lineMerge } from "../line-diff.ts";
import { Foreign } from "./foreign.tsx";

export interface OvertakenProps {
  readonly begun: { readonly id: number; readonly text: string };
  readonly newest: { readonly id: number; readonly text: string; readonly who: string };
  /** What was written on `begun`. */
  readonly text: string;
  readonly onMerge: (merged: string) => void;
  readonly onDrop: () => void;
}

/** Said to whoever writes on a version that is no more in force, with the ways on. */
export function Overtaken({ begun, newest, text, onMerge, onDrop }: OvertakenProps) {
  const merged = useMemo(() => lineMerge(begun.text, text, newest.text), [begun.text, text, newest.text]);
  return (
    <div class="note bad" role="alert">
      <p>
        Version {newest.id}, by <Foreign text={newest.who} />, came in force while you wrote on {begun.id}.
        Below stands what your text would change of version {newest.id}.
      </p>
      {merged === undefined && <p>Both of you changed the same lines: they can not be put together here.</p>}
      <p>
        {merged !== undefined && (
          <button type="button" onClick={() => onMerge(merged)}>
            Put my changes on top of theirs
          </button>
        )}{" "}
        <button type="button" onClick={onDrop}>
          Drop what I wrote
        </button>
      </p>
    </div>
  );
}

import { signal } from "@preact/signals";
import { ask, problemOf } from "../ask.ts";
import { hearMyself } from "../live/events.ts";
import { whyNot } from "../session.ts";
import type { AuditAnswer, ProblemAnswer, UndoAnswer } from "../types.ts";
import { visible } from "../words.ts";

interface Told {
  readonly words: string;
  /** The audit entry that would take it back. */
  readonly entry?: number | undefined;
}

const last = signal<Told | undefined>(undefined);
const failure = signal<ProblemAnswer | undefined>(undefined);

/** Says what was done. With `what` and `target` of its audit entry it can be undone from there. */
export async function told(words: string, done?: { what: string; target?: string }): Promise<void> {
  failure.value = undefined;
  last.value = { words };
  if (done === undefined || whyNot("operator") !== undefined) return;
  const query = new URLSearchParams({ most: "1", ...done });
  const [entry] = (await ask<AuditAnswer>("GET", `/v1/audit?${query}`)).entries;
  if (entry !== undefined && last.value?.words === words) last.value = { words, entry: entry.id };
}

/** Takes back what an audit entry tells of; by force also when it has changed again since. */
export async function undo(entry: number, force = false): Promise<void> {
  try {
    const { entry: own } = await ask<UndoAnswer>("POST", `/v1/audit/${entry}/undo`, force ? { force } : {});
    failure.value = undefined;
    last.value = { words: "Undone.", entry: own?.id };
  } catch (error) {
    failure.value = problemOf(error);
    last.value = { words: "Not undone.", entry };
  }
  for (const name of ["audit", "edges", "policy"] as const) hearMyself(name);
}

/** What was done last, at the bottom of the window until it is dismissed. */
export function ToldBar() {
  const done = last.value;
  const problem = failure.value;
  return (
    <div class="told" role="status">
      {done !== undefined && (
        <p>
          {visible(done.words)} {problem !== undefined && visible(problem.detail)}{" "}
          {done.entry !== undefined && problem === undefined && (
            <button type="button" onClick={() => void undo(done.entry as number)}>
              Undo
            </button>
          )}
          {done.entry !== undefined && isForcible(problem) && (
            <button type="button" onClick={() => void undo(done.entry as number, true)}>
              Undo anyway
            </button>
          )}{" "}
          <button
            type="button"
            onClick={() => {
              last.value = undefined;
              failure.value = undefined;
            }}
          >
            Dismiss
          </button>
        </p>
      )}
    </div>
  );
}

function isForcible(problem: ProblemAnswer | undefined): boolean {
  return problem?.code === "TG_UNDO_STALE" || problem?.code === "TG_GUARD";
}

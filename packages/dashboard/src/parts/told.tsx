import { effect, signal } from "@preact/signals";
import { ask, problemOf } from "../ask.ts";
import { hearMyself } from "../live/events.ts";
import { place } from "../place.ts";
import { session, whyNot } from "../session.ts";
import type { AuditAnswer, ProblemAnswer, UndoAnswer } from "../types.ts";
import { deed, valueWords } from "../value-words.ts";
import { visible } from "../words.ts";

interface Told {
  readonly words: string;
  /** The audit entry that would take it back. */
  readonly entry?: number | undefined;
  /** It was itself the taking back of something. */
  readonly isUndoing?: boolean;
}

type Entry = AuditAnswer["entries"][number];

const last = signal<Told | undefined>(undefined);
const failure = signal<string | undefined>(undefined);
const isForcible = signal(false);

function forget(): void {
  last.value = undefined;
  failure.value = undefined;
}

// What was done on one page is no news on another, and nothing to whoever signs in next.
effect(() => {
  void place.value;
  void session.value;
  forget();
});

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
    last.value = {
      words: `Undone.${own === undefined ? "" : ` ${wordsOf(own)}`}`,
      entry: own?.id,
      isUndoing: true,
    };
  } catch (error) {
    const problem = problemOf(error);
    isForcible.value = problem.code === "TG_UNDO_STALE" || problem.code === "TG_GUARD";
    failure.value = problem.code === "TG_UNDO_STALE" ? await staleWords(entry, problem) : problem.detail;
    last.value = { words: "Not undone.", entry };
  }
  for (const name of ["audit", "edges", "policy"] as const) hearMyself(name);
}

/** What a change did: "Taken off the blocklist: 203.0.113.7." */
function wordsOf({ what, target, before, after }: UndoAnswer["entry"] & object): string {
  const name = deed(what);
  const isListed = /^(?:blocklist|safelist)\./.test(what);
  const values = isListed ? "" : `${valueWords(what, before)} → ${valueWords(what, after)}`;
  const about = [target, values].filter(Boolean).join(", ");
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}${about === "" ? "" : `: ${about}`}.`;
}

/** How it is by now, for people. */
async function staleWords(id: number, { now, detail }: ProblemAnswer): Promise<string> {
  const query = new URLSearchParams({ most: "1", before: `${id + 1}` });
  const [entry] = await ask<AuditAnswer>("GET", `/v1/audit?${query}`).then(
    ({ entries }) => entries,
    (): Entry[] => [],
  );
  if (entry === undefined) return detail;
  const part =
    /^customer\.(tier|limits)$/.exec(entry.what)?.[1] ?? (entry.what === "edge.mode" ? "mode" : undefined);
  const standing = part === undefined ? now : (now as Record<string, unknown> | null)?.[part];
  const words =
    standing === null && part === undefined
      ? "it is not there now"
      : `it is now ${valueWords(entry.what, standing)}`;
  return `It has changed again since: ${words}. Nothing was changed.`;
}

/** What was done last, at the bottom of the window until it is dismissed or one goes elsewhere. */
export function ToldBar() {
  const done = last.value;
  const problem = failure.value;
  return (
    <div class="told" role="status">
      {done !== undefined && (
        <p>
          {visible(done.words)} {problem !== undefined && visible(problem)}{" "}
          {done.entry !== undefined && problem === undefined && (
            <button type="button" onClick={() => void undo(done.entry as number)}>
              {done.isUndoing ? "Redo" : "Undo"}
            </button>
          )}
          {done.entry !== undefined && problem !== undefined && isForcible.value && (
            <button type="button" onClick={() => void undo(done.entry as number, true)}>
              Undo anyway
            </button>
          )}{" "}
          <button type="button" onClick={forget}>
            Dismiss
          </button>
        </p>
      )}
    </div>
  );
}

import { useState } from "preact/hooks";
import { ask, problemOf } from "../ask.ts";
import { Report } from "../report/report.tsx";
import type { ProblemAnswer, RehearsalReport } from "../types.ts";
import { ProblemNote } from "./problem-note.tsx";

/** What came of a rehearsal, and of which text. */
export interface Rehearsed {
  readonly text: string;
  readonly report?: RehearsalReport;
  readonly problem?: ProblemAnswer;
}

/** A policy's text, played on the requests the server met lately. Nothing comes in force by it. */
export function useRehearsal(text: string): { rehearsed: Rehearsed | undefined; rehearse(): Promise<void> } {
  const [rehearsed, setRehearsed] = useState<Rehearsed>();
  return {
    rehearsed,
    async rehearse() {
      try {
        const report = await ask<RehearsalReport>("POST", "/v1/rehearse", { policy: text });
        setRehearsed({ text, report });
      } catch (error) {
        setRehearsed({ text, problem: problemOf(error) });
      }
    },
  };
}

/** The report, and whether it is still about what is written. */
export function RehearsalResult({ rehearsed, text }: { rehearsed: Rehearsed | undefined; text: string }) {
  if (rehearsed === undefined) return null;
  const { report, problem } = rehearsed;
  return (
    <section aria-labelledby="rehearsal">
      <h2 id="rehearsal">Rehearsal on recent traffic</h2>
      <p class="unseen" role="status">
        {report === undefined ? "" : "The rehearsal is done."}
      </p>
      <ProblemNote problem={problem} />
      {rehearsed.text !== text && (
        <p class="note">The policy was changed since: rehearse again to see what it would do now.</p>
      )}
      {report?.requests === 0 && (
        <p class="note">
          This server met no request since it began, so there is nothing to rehearse with. Send some through
          it, or rehearse on a log: <code>tidegate replay access.log --policy policy.yaml</code>.
        </p>
      )}
      {report !== undefined && report.requests > 0 && <Report report={report} level={3} />}
    </section>
  );
}

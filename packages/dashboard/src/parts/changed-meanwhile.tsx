import { useEffect, useState } from "preact/hooks";
import { ask, Problem } from "../ask.ts";
import type { AuditAnswer, ProblemAnswer } from "../types.ts";
import { deed, valueWords } from "../value-words.ts";
import { visible } from "../words.ts";
import { Foreign } from "./foreign.tsx";
import { ProblemNote } from "./problem-note.tsx";
import { Ago } from "./time.tsx";

export interface ChangedMeanwhileProps {
  readonly problem: ProblemAnswer | undefined;
  /** How the audit names what it is about. */
  readonly what: string;
  readonly target?: string;
  /** Where to look. Default: the page shows it. */
  readonly seen?: string;
}

type Entry = AuditAnswer["entries"][number];

/** A problem; of one who came second also who was first, with what, and when. */
export function ChangedMeanwhile({
  problem,
  what,
  target,
  seen = "What you see is how it is now.",
}: ChangedMeanwhileProps) {
  const isLate = problem?.code === "TG_CHANGED" || problem?.code === "TG_POLICY_CONFLICT";
  const [entry, setEntry] = useState<Entry>();
  useEffect(() => {
    let isWanted = true;
    setEntry(undefined);
    if (!isLate) return undefined;
    const query = new URLSearchParams({ most: "1", what, ...(target !== undefined && { target }) });
    ask<AuditAnswer>("GET", `/v1/audit?${query}`).then(
      ({ entries: [newest] }) => isWanted && setEntry(newest),
      (error) => {
        if (!(error instanceof Problem)) throw error;
      },
    );
    return () => {
      isWanted = false;
    };
  }, [problem]);
  return (
    <ProblemNote problem={problem}>
      {entry !== undefined && (
        <p>
          <Foreign text={entry.who} /> changed it <Ago at={entry.at} /> ({deed(entry.what)}):{" "}
          <Foreign text={valueWords(entry.what, entry.before)} /> →{" "}
          <Foreign text={valueWords(entry.what, entry.after)} />
          {entry.why !== undefined && `, ${visible(entry.why)}`}. {seen}
        </p>
      )}
    </ProblemNote>
  );
}

import { useState } from "preact/hooks";
import { useAnswer } from "../live/use-answer.ts";
import { MayNot } from "../parts/act.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { PolicyEditor } from "../parts/policy-editor.tsx";
import { PolicyHistory } from "../parts/policy-history.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { RuleModes } from "../parts/rule-modes.tsx";
import { Ago } from "../parts/time.tsx";
import type { PolicyAnswer } from "../types.ts";
import { sourceWords } from "../value-words.ts";
import { visible } from "../words.ts";

type Text = Pick<NonNullable<PolicyAnswer["version"]>, "id" | "text">;

export function Policy() {
  const { answer, etag, problem, refresh } = useAnswer<PolicyAnswer>("/v1/policy", ["policy", "audit"]);
  /** What the editor began with, so that a version of somebody else's does not replace what is being written. */
  const [begun, setBegun] = useState<Text>();
  /** The same for as long as one writes, whichever version that is on by now. */
  const [first, setFirst] = useState<number>();
  if (answer === undefined) return <ProblemNote problem={problem} />;
  const { status, version } = answer;
  const drop = (): void => {
    setBegun(undefined);
    setFirst(undefined);
  };
  const start = begun ?? (version === null ? undefined : { id: version.id, text: version.text });
  return (
    <>
      <ProblemNote problem={problem} />
      <p>
        Version <strong>{status.version}</strong>, by <Foreign text={status.who} /> <Ago at={status.at} /> (
        {sourceWords(status.source)}).
      </p>
      {status.problem !== undefined && <p class="note bad">{visible(status.problem)}</p>}
      {status.file !== undefined && status.file.state !== "in force" && (
        <p class="note">
          The file <Foreign text={status.file.path} /> is {status.file.state}.{" "}
          {visible(status.file.problem ?? "")}
        </p>
      )}
      {status.file?.needsRestart !== undefined && (
        <p class="note">
          Changed in the file <Foreign text={status.file.path} />, and in effect from the next start:{" "}
          {visible(status.file.needsRestart.join(", "))}.
        </p>
      )}
      <MayNot needs="admin" />
      <h2>Rules</h2>
      <RuleModes onDone={refresh} />
      <h2>Edit</h2>
      {start !== undefined && (
        <PolicyEditor
          key={first ?? start.id}
          begun={start}
          newest={version ?? { who: status.who, ...start }}
          onBegin={(on) => {
            setBegun(on);
            setFirst(first ?? on.id);
          }}
          onDrop={drop}
          onDone={async () => {
            drop();
            await refresh();
          }}
          onLate={refresh}
        />
      )}
      <h2>History</h2>
      <PolicyHistory newest={version} etag={etag} onDone={refresh} />
    </>
  );
}

import { useEffect, useState } from "preact/hooks";
import { ask, Problem, problemOf } from "../ask.ts";
import { hearMyself } from "../live/events.ts";
import { whyNot } from "../session.ts";
import type { PolicyVersionAnswer, ProblemAnswer, ValidateAnswer } from "../types.ts";
import { visible } from "../words.ts";
import { Act } from "./act.tsx";
import { ChangedMeanwhile } from "./changed-meanwhile.tsx";
import { Confirm } from "./confirm.tsx";
import { Diff } from "./diff.tsx";
import { Overtaken } from "./overtaken.tsx";
import { RehearsalResult, useRehearsal } from "./rehearsal.tsx";
import { told } from "./told.tsx";

export interface PolicyEditorProps {
  readonly begun: Text;
  /** What is in force by now. */
  readonly newest: Text & { readonly who: string };
  /** What one writes is meant for this version. */
  readonly onBegin: (on: Text) => void;
  readonly onDrop: () => void;
  readonly onDone: () => Promise<void>;
  /** Somebody else was faster. */
  readonly onLate: () => Promise<void>;
}

interface Text {
  readonly id: number;
  readonly text: string;
}

/** The policy as text. It is checked while one writes, and what changes is shown before it is applied. */
export function PolicyEditor({ begun, newest, onBegin, onDrop, onDone, onLate }: PolicyEditorProps) {
  const [text, setText] = useState(begun.text);
  const [why, setWhy] = useState("");
  const [failure, setFailure] = useState<ProblemAnswer>();
  const checked = useValidated(text);
  const isChanged = text !== newest.text;
  const isOvertaken = newest.id !== begun.id;
  const { rehearsed, rehearse } = useRehearsal(text);

  async function apply(): Promise<void> {
    try {
      const body = { text, after: newest.id, ...(why !== "" && { why }) };
      const { version } = await ask<PolicyVersionAnswer>("POST", "/v1/policy", body);
      setFailure(undefined);
      void told(`Version ${version.id} is in force.`, { what: "policy." });
      hearMyself("policy");
      await onDone();
    } catch (error) {
      setFailure(problemOf(error));
      await onLate();
    }
  }
  const whyUnusable =
    checked?.text !== text ? "It is being checked." : checked.ok ? undefined : "Correct the problems first.";
  const whyNotNow = isChanged ? whyUnusable : "Nothing is changed.";
  return (
    <div class="fields wide">
      <label>
        Policy, as YAML
        <textarea
          class="code"
          spellcheck={false}
          readOnly={whyNot("operator") !== undefined}
          aria-invalid={checked?.ok === false}
          aria-describedby="policy-problems"
          value={text}
          onInput={(event) => {
            if (text === begun.text) onBegin(begun);
            setText(event.currentTarget.value);
          }}
        />
      </label>
      <div id="policy-problems" aria-live="polite">
        {checked?.text === text && checked.ok && isChanged && <p class="good">It can be used.</p>}
        {checked?.text === text &&
          checked.problems.map(({ line, column, path, message, help }) => (
            <p key={`${line} ${column} ${path} ${message}`} class="note bad">
              {line !== undefined && `Line ${line}, column ${column}: `}
              <code>{visible(path)}</code> {visible(message)} {visible(help)}
            </p>
          ))}
      </div>
      <ChangedMeanwhile
        problem={failure}
        what="policy."
        seen="What yours would change of it now is shown below."
      />
      {isOvertaken && (
        <Overtaken
          begun={begun}
          newest={newest}
          text={text}
          onMerge={(merged) => {
            setText(merged);
            setFailure(undefined);
            onBegin({ id: newest.id, text: newest.text });
          }}
          onDrop={onDrop}
        />
      )}
      {isChanged && <Diff label="What would change" before={newest.text} after={text} />}
      <div class="row">
        <label>
          Why
          <input
            maxLength={1000}
            value={why}
            disabled={whyNot("admin") !== undefined}
            onInput={(event) => setWhy(event.currentTarget.value)}
          />
        </label>
        <Act needs="operator" onAct={rehearse} whyNotNow={whyUnusable}>
          Rehearse
        </Act>
        {isOvertaken ? (
          <Confirm
            needs="admin"
            kind="danger"
            question={`What version ${newest.id} changed is taken back where yours differs, as shown.`}
            yes="Yes, apply mine"
            whyNotNow={whyNotNow}
            onAct={apply}
          >
            Apply mine over version {newest.id}
          </Confirm>
        ) : (
          <Act needs="admin" kind="main" onAct={apply} whyNotNow={whyNotNow}>
            Apply
          </Act>
        )}
      </div>
      <RehearsalResult rehearsed={rehearsed} text={text} />
    </div>
  );
}

/** What the server says of a text, a moment after the last key. */
function useValidated(text: string): (ValidateAnswer & { text: string }) | undefined {
  const [answer, setAnswer] = useState<ValidateAnswer & { text: string }>();
  useEffect(() => {
    const timer = setTimeout(async () => {
      try {
        setAnswer({ ...(await ask<ValidateAnswer>("POST", "/v1/policy/validate", { text })), text });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
      }
    }, 250);
    return () => clearTimeout(timer);
  }, [text]);
  return answer;
}

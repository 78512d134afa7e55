import { useState } from "preact/hooks";
import { ask, problemOf } from "../ask.ts";
import { hearMyself } from "../live/events.ts";
import { useAnswer } from "../live/use-answer.ts";
import type { PolicyAnswer, PolicyVersionAnswer, PolicyVersionsAnswer, ProblemAnswer } from "../types.ts";
import { sourceWords } from "../value-words.ts";
import { Act } from "./act.tsx";
import { ChangedMeanwhile } from "./changed-meanwhile.tsx";
import { Diff } from "./diff.tsx";
import { Foreign } from "./foreign.tsx";
import { ProblemNote } from "./problem-note.tsx";
import { Table } from "./table.tsx";
import { Ago } from "./time.tsx";
import { told } from "./told.tsx";

type Version = PolicyVersionAnswer["version"];

/** All versions; each can be compared with the one in force, and brought back. */
export function PolicyHistory(props: {
  newest: PolicyAnswer["version"];
  /** By what the one in force is known. */
  etag: string | undefined;
  onDone: () => Promise<void>;
}) {
  const { newest, etag, onDone } = props;
  const { answer, problem } = useAnswer<PolicyVersionsAnswer>("/v1/policy/versions?most=50", [
    "policy",
    "audit",
  ]);
  const [shown, setShown] = useState<Version>();
  const [failure, setFailure] = useState<ProblemAnswer>();

  async function attempt(act: () => Promise<void>): Promise<void> {
    try {
      setFailure(undefined);
      await act();
    } catch (error) {
      setFailure(problemOf(error));
      await onDone();
    }
  }
  const compare = (id: number) =>
    attempt(async () =>
      setShown((await ask<PolicyVersionAnswer>("GET", `/v1/policy/versions/${id}`)).version),
    );
  const rollBack = (id: number) =>
    attempt(async () => {
      const { version } = await ask<PolicyVersionAnswer>("POST", "/v1/policy/rollback", { to: id }, etag);
      void told(`Version ${version.id} is in force, with the text of ${id}.`, { what: "policy." });
      hearMyself("policy");
      await onDone();
    });
  return (
    <>
      <ChangedMeanwhile problem={failure} what="policy." />
      <ProblemNote problem={problem} />
      <Table
        label="Versions, newest first"
        head={["Version", "When", "Who", "From", "Why", "Do"]}
        empty="No version is stored."
      >
        {(answer?.versions ?? []).map(({ id, at, who, source, why }) => (
          <tr key={id}>
            <td>{id}</td>
            <td>
              <Ago at={at} />
            </td>
            <td>
              <Foreign text={who} />
            </td>
            <td>{sourceWords(source)}</td>
            <td class="wraps">
              <Foreign text={why} />
            </td>
            <td>
              {id !== newest?.id && (
                <>
                  <button type="button" onClick={() => void compare(id)}>
                    Compare<span class="unseen"> {id} with the one in force</span>
                  </button>{" "}
                  <Act needs="admin" kind="danger" about={`to version ${id}`} onAct={() => rollBack(id)}>
                    Roll back
                  </Act>
                </>
              )}
            </td>
          </tr>
        ))}
      </Table>
      {shown !== undefined && newest !== null && (
        <>
          <h3>
            From version {shown.id} to {newest.id}
          </h3>
          <Diff label={`From version ${shown.id} to ${newest.id}`} before={shown.text} after={newest.text} />
        </>
      )}
    </>
  );
}

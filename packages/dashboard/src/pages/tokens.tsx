import { useState } from "preact/hooks";
import { ask, part, problemOf } from "../ask.ts";
import { hearMyself } from "../live/events.ts";
import { useAnswer } from "../live/use-answer.ts";
import { MayNot } from "../parts/act.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { NewToken } from "../parts/new-token.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Table } from "../parts/table.tsx";
import { Ago, Countdown } from "../parts/time.tsx";
import { told } from "../parts/told.tsx";
import { whyNot } from "../session.ts";
import type { ProblemAnswer, TokensAnswer } from "../types.ts";

export function Tokens() {
  const isAllowed = whyNot("admin") === undefined;
  const { answer, problem, refresh } = useAnswer<TokensAnswer>(isAllowed ? "/v1/tokens" : undefined, [
    "audit",
  ]);
  const [failure, setFailure] = useState<ProblemAnswer>();

  async function revoke(id: string, name: string): Promise<void> {
    try {
      setFailure(undefined);
      await ask("DELETE", `/v1/tokens/${part(id)}`);
      void told(`${name} is revoked.`);
    } catch (error) {
      setFailure(problemOf(error));
    }
    hearMyself("audit");
    await refresh();
  }
  if (!isAllowed) return <MayNot needs="admin" />;
  return (
    <>
      <p>Who may ask, and what they may. As soon as there is a token, everybody needs one.</p>
      <h2>New token</h2>
      <NewToken onDone={refresh} />
      <h2>Tokens</h2>
      <ProblemNote problem={failure ?? problem} />
      <Table
        label="Tokens"
        head={["Name", "Role", "Made", "By", "Last used", "Ends in", "Do"]}
        empty="Nobody made a token yet."
      >
        {(answer?.tokens ?? []).map(({ id, name, role, createdAt, createdBy, lastUsedAt, until }) => (
          <tr key={id}>
            <td>
              <Foreign text={name} />
            </td>
            <td>{role}</td>
            <td>
              <Ago at={createdAt} />
            </td>
            <td>
              <Foreign text={createdBy} />
            </td>
            <td>{lastUsedAt === undefined ? "never" : <Ago at={lastUsedAt} />}</td>
            <td>{until === undefined ? "when it is revoked" : <Countdown until={until} />}</td>
            <td>
              <Confirm
                needs="admin"
                kind="danger"
                about={name}
                question="It and every session begun with it end at once."
                yes="Yes, revoke"
                onAct={() => revoke(id, name)}
              >
                Revoke
              </Confirm>
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

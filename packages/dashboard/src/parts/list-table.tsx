import { useState } from "preact/hooks";
import { ask, part, problemOf } from "../ask.ts";
import { hearMyself } from "../live/events.ts";
import { useAnswer } from "../live/use-answer.ts";
import type { ListAnswer, ProblemAnswer } from "../types.ts";
import { Act } from "./act.tsx";
import { ChangedMeanwhile } from "./changed-meanwhile.tsx";
import { ClientLink } from "./client-link.tsx";
import { DurationField } from "./duration-field.tsx";
import { Foreign } from "./foreign.tsx";
import { ProblemNote } from "./problem-note.tsx";
import { Table } from "./table.tsx";
import { Countdown } from "./time.tsx";
import { told } from "./told.tsx";

type ListEntry = ListAnswer["entries"][number];

const pageSize = 100;

/** A list's entries, page by page. */
export function ListTable({ list }: { list: "blocklist" | "safelist" }) {
  const [starts, setStarts] = useState<readonly string[]>([]);
  const after = starts.at(-1);
  const from = after === undefined ? "" : `&after=${encodeURIComponent(after)}`;
  const { answer, problem } = useAnswer<ListAnswer>(`/v1/lists/${list}?most=${pageSize}${from}`, ["audit"]);
  const [failure, setFailure] = useState<{ address: string; problem: ProblemAnswer }>();
  const [extending, setExtending] = useState<string>();

  async function change(address: string, act: () => Promise<void>): Promise<void> {
    try {
      setFailure(undefined);
      await act();
    } catch (error) {
      setFailure({ address, problem: problemOf(error) });
    }
    hearMyself("audit");
  }
  const remove = ({ address, etag }: ListEntry) =>
    change(address, async () => {
      await ask("DELETE", `/v1/lists/${list}/${part(address)}`, undefined, etag);
      void told(`${address} is off the ${list}.`, { what: `${list}.remove`, target: address });
    });
  const extend = ({ address, why, etag }: ListEntry, duration: string) =>
    change(address, async () => {
      const body = { for: duration, ...(why !== undefined && { why }), force: true };
      await ask("PUT", `/v1/lists/${list}/${part(address)}`, body, etag);
      setExtending(undefined);
      void told(`${address} has a new end.`, { what: `${list}.add`, target: address });
    });

  if (answer === undefined) return problem ? <ProblemNote problem={problem} /> : <p class="quiet">…</p>;
  return (
    <>
      <ChangedMeanwhile
        problem={failure?.problem}
        what={`${list}.`}
        {...(failure && { target: failure.address })}
      />
      <ProblemNote problem={problem} />
      <Table
        label={`On the ${list}`}
        head={["Address", "Why", "Who", "Ends in", "Do"]}
        empty="Nobody put anything on it."
      >
        {answer.entries.map((entry) => (
          <tr key={entry.address}>
            <td>
              <ClientLink client={entry.address} />
            </td>
            <td class="wraps">
              <Foreign text={entry.why} />
            </td>
            <td>
              <Foreign text={entry.who} />
            </td>
            <td>
              <Countdown until={entry.until} />
            </td>
            <td>
              {extending === entry.address ? (
                <NewEnd
                  onSet={(duration) => extend(entry, duration)}
                  onLeave={() => setExtending(undefined)}
                />
              ) : (
                <>
                  <Act needs="operator" about={entry.address} onAct={() => setExtending(entry.address)}>
                    Extend
                  </Act>{" "}
                  <Act needs="operator" kind="danger" about={entry.address} onAct={() => remove(entry)}>
                    Remove
                  </Act>
                </>
              )}
            </td>
          </tr>
        ))}
      </Table>
      <p class="row">
        {starts.length > 0 && (
          <button type="button" onClick={() => setStarts(starts.slice(0, -1))}>
            Page before
          </button>
        )}
        {answer.next !== undefined && (
          <button type="button" onClick={() => setStarts([...starts, answer.next as string])}>
            Next page
          </button>
        )}
      </p>
      {answer.fromPolicy.length > 0 && (
        <>
          <h3>From the policy</h3>
          <p class="quiet">These are changed in the policy.</p>
          <ul class="plain">
            {answer.fromPolicy.map((address) => (
              <li key={address}>
                <Foreign text={address} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function NewEnd(props: { onSet: (duration: string) => Promise<void>; onLeave: () => void }) {
  const [duration, setDuration] = useState("7d");
  return (
    <div class="row">
      <DurationField label="From now on for" value={duration} onChange={setDuration} />
      <Act needs="operator" kind="main" onAct={() => props.onSet(duration)}>
        Set
      </Act>
      <button type="button" onClick={props.onLeave}>
        Leave
      </button>
    </div>
  );
}

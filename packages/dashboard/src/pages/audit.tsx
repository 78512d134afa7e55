import { useState } from "preact/hooks";
import { useAnswer } from "../live/use-answer.ts";
import { Act } from "../parts/act.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { undo } from "../parts/told.tsx";
import type { Role } from "../session.ts";
import type { AuditAnswer } from "../types.ts";
import { brief } from "../words.ts";

type Entry = AuditAnswer["entries"][number];

interface Filter {
  readonly who: string;
  readonly what: string;
  readonly target: string;
}

const none: Filter = { who: "", what: "", target: "" };

const labels: Readonly<Record<keyof Filter, string>> = {
  who: "Who",
  what: "What (begins with)",
  target: "Target",
};

export function Audit() {
  const [befores, setBefores] = useState<readonly number[]>([]);
  const [filter, setFilter] = useState(none);
  const before = befores.at(-1);
  const given = Object.entries(filter).filter(([, text]) => text !== "");
  const query = (more: Readonly<Record<string, string>>): string =>
    `/v1/audit?${new URLSearchParams({ ...Object.fromEntries(given), ...more })}`;
  const { answer, problem } = useAnswer<AuditAnswer>(
    query({ most: "100", ...(before !== undefined && { before: `${before}` }) }),
    ["audit"],
  );
  return (
    <>
      <form onSubmit={(event) => event.preventDefault()}>
        <div class="row">
          {(Object.keys(none) as (keyof Filter)[]).map((name) => (
            <label key={name}>
              {labels[name]}
              <input
                type="search"
                maxLength={100}
                value={filter[name]}
                onInput={(event) => {
                  setFilter({ ...filter, [name]: event.currentTarget.value.trim() });
                  setBefores([]);
                }}
              />
            </label>
          ))}
          <a href={query({ format: "csv" })} download>
            As CSV
          </a>
        </div>
      </form>
      <ProblemNote problem={problem} />
      <Table
        label="Changes, newest first"
        head={["When", "Who", "What", "Target", "Why", "Before", "After", "Do"]}
        empty={given.length === 0 ? "Nobody changed anything yet." : "None."}
      >
        {(answer?.entries ?? []).map((entry) => (
          <Line key={entry.id} entry={entry} />
        ))}
      </Table>
      <p class="row">
        {befores.length > 0 && (
          <button type="button" onClick={() => setBefores(befores.slice(0, -1))}>
            Newer
          </button>
        )}
        {answer?.next !== undefined && (
          <button type="button" onClick={() => setBefores([...befores, answer.next as number])}>
            Older
          </button>
        )}
      </p>
    </>
  );
}

function Line({ entry }: { entry: Entry }) {
  const { id, at, who, what, target, why, before, after, undoable, undoneBy } = entry;
  return (
    <tr>
      <td>
        <Ago at={at} />
      </td>
      <td>
        <Foreign text={who} />
      </td>
      <td>{what}</td>
      <td>
        <Foreign text={target} />
      </td>
      <td class="wraps">
        <Foreign text={why} />
      </td>
      <td class="wraps">
        <Foreign text={brief(before)} />
      </td>
      <td class="wraps">
        <Foreign text={brief(after)} />
      </td>
      <td>
        {undoneBy !== undefined ? (
          <span class="quiet">undone</span>
        ) : (
          undoable && (
            <Act needs={needOf(what)} about={`${what} ${target ?? ""}`} onAct={() => undo(id)}>
              Undo
            </Act>
          )
        )}
      </td>
    </tr>
  );
}

/** Who may do a thing may take it back. */
function needOf(what: string): Role {
  return /^(?:safelist|blocklist|customer)\./.test(what) ? "operator" : "admin";
}

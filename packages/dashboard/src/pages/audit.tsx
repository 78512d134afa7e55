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
import { deed, valueWords } from "../value-words.ts";

type Entry = AuditAnswer["entries"][number];

interface Filter {
  readonly who: string;
  readonly what: string;
  readonly target: string;
  /** As the field has them: `2026-01-31T12:00`, in the zone of whoever looks. */
  readonly since: string;
  readonly until: string;
}

const none: Filter = { who: "", what: "", target: "", since: "", until: "" };

const areas: readonly (readonly [begins: string, words: string])[] = [
  ["", "everything"],
  ["blocklist.", "the blocklist"],
  ["safelist.", "the safelist"],
  ["customer.", "customers"],
  ["policy.", "the policy"],
  ["edge.", "edges"],
  ["client.", "clients"],
  ["token.", "tokens"],
];

export function Audit() {
  const [befores, setBefores] = useState<readonly number[]>([]);
  const [filter, setFilter] = useState(none);
  const before = befores.at(-1);
  const given = Object.entries(filter)
    .filter(([, text]) => text !== "")
    .map(([name, text]) => [name, name === "since" || name === "until" ? momentOf(text) : text]);
  const query = (more: Readonly<Record<string, string>>): string =>
    `/v1/audit?${new URLSearchParams({ ...Object.fromEntries(given), ...more })}`;
  const { answer, problem } = useAnswer<AuditAnswer>(
    query({ most: "100", ...(before !== undefined && { before: `${before}` }) }),
    ["audit"],
  );
  const set = (more: Partial<Filter>): void => {
    setFilter({ ...filter, ...more });
    setBefores([]);
  };
  return (
    <>
      <form class="wide" onSubmit={(event) => event.preventDefault()}>
        <div class="row">
          <TextField label="Who" value={filter.who} onSet={(who) => set({ who })} />
          <label>
            What
            <select value={filter.what} onChange={(event) => set({ what: event.currentTarget.value })}>
              {areas.map(([begins, words]) => (
                <option key={begins} value={begins}>
                  {words}
                </option>
              ))}
            </select>
          </label>
          <TextField label="Target" value={filter.target} onSet={(target) => set({ target })} />
          <TimeField label="Since" value={filter.since} onSet={(since) => set({ since })} />
          <TimeField label="Until" value={filter.until} onSet={(until) => set({ until })} />
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

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onSet: (value: string) => void;
}

function TextField({ label, value, onSet }: FieldProps) {
  return (
    <label>
      {label}
      <input
        type="search"
        maxLength={100}
        value={value}
        onInput={(event) => onSet(event.currentTarget.value.trim())}
      />
    </label>
  );
}

function TimeField({ label, value, onSet }: FieldProps) {
  return (
    <label>
      {label}
      <input type="datetime-local" value={value} onInput={(event) => onSet(event.currentTarget.value)} />
    </label>
  );
}

/** The API's form of it; what is no time yet is left to the API to refuse. */
function momentOf(local: string): string {
  const at = Date.parse(local);
  return Number.isFinite(at) ? new Date(at).toISOString() : local;
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
      <td>{deed(what)}</td>
      <td>
        <Foreign text={target} />
      </td>
      <td class="wraps">
        <Foreign text={why} />
      </td>
      <td class="wraps">
        <Foreign text={valueWords(what, before)} />
      </td>
      <td class="wraps">
        <Foreign text={valueWords(what, after)} />
      </td>
      <td>
        {undoneBy !== undefined ? (
          <span class="quiet">undone</span>
        ) : (
          undoable && (
            <Act needs={needOf(what)} about={`${deed(what)} ${target ?? ""}`} onAct={() => undo(id)}>
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

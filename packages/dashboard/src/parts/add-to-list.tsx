import { useMemo, useState } from "preact/hooks";
import { ask, Problem, part, type Seen } from "../ask.ts";
import { hearMyself } from "../live/events.ts";
import { whyNot } from "../session.ts";
import type { ListEntryAnswer, ProblemAnswer } from "../types.ts";
import { visible } from "../words.ts";
import { Act } from "./act.tsx";
import { DurationField } from "./duration-field.tsx";
import { Foreign } from "./foreign.tsx";
import { ListPreview } from "./list-preview.tsx";
import { ProblemNote } from "./problem-note.tsx";
import { Countdown } from "./time.tsx";
import { told } from "./told.tsx";

interface Refused {
  readonly address: string;
  readonly problem: ProblemAnswer;
  /** Of one that is there already: by what it is known, and whether a slip was meant. */
  readonly etag?: string | undefined;
  readonly force?: boolean;
}

type Entry = ListEntryAnswer["entry"];

/** One address or block, or many, a line each. What a guard stopped can be added all the same. */
export function AddToList({ list, given }: { list: "blocklist" | "safelist"; given: string }) {
  const [text, setText] = useState(given);
  const [duration, setDuration] = useState("7d");
  const [why, setWhy] = useState("");
  const [refused, setRefused] = useState<readonly Refused[]>([]);
  const [added, setAdded] = useState<readonly string[]>([]);
  const [isUnderWay, setUnderWay] = useState(false);
  const guarded = refused.filter(({ problem }) => problem.code === "TG_GUARD");
  const there = refused.filter(({ problem }) => problem.code === "TG_CHANGED");
  const others = refused.filter(({ problem }) => !["TG_GUARD", "TG_CHANGED"].includes(problem.code));
  const addresses = useMemo(() => addressesIn(text), [text]);

  /** What is there already is replaced only as it was shown. */
  async function add(wanted: readonly Wanted[]): Promise<void> {
    setUnderWay(true);
    const done: string[] = [];
    const stopped = refused.filter(({ address }) => !wanted.some((each) => each.address === address));
    for (const { address, force = false, seen = null } of wanted) {
      try {
        const path = `/v1/lists/${list}/${part(address)}`;
        const body = { for: duration, ...(why !== "" && { why }), ...(force && { force }) };
        done.push((await ask<ListEntryAnswer>("PUT", path, body, seen)).entry.address);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        stopped.push({ address, problem: error.answer, etag: error.etag, force });
      }
    }
    setUnderWay(false);
    setAdded(done);
    setRefused(stopped);
    setText(stopped.map(({ address }) => address).join("\n"));
    hearMyself("audit");
    if (done.length === 0) return;
    const [first = ""] = done;
    if (done.length === 1) await told(`${first} is on the ${list}.`, { what: `${list}.add`, target: first });
    else await told(`${done.length} entries are on the ${list}.`);
  }

  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setRefused([]);
          void add(addresses.map((address) => ({ address })));
        }}
      >
        <fieldset disabled={whyNot("operator") !== undefined || isUnderWay}>
          <label>
            Addresses or blocks, one a line
            <textarea
              class="foreign"
              rows={text.includes("\n") ? 6 : 2}
              required
              spellcheck={false}
              placeholder="203.0.113.7 or 203.0.113.0/24"
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <div class="row">
            <DurationField label="For" value={duration} onChange={setDuration} />
            <label>
              Why
              <input maxLength={1000} value={why} onInput={(event) => setWhy(event.currentTarget.value)} />
            </label>
            <button type="submit" class="main" title={whyNot("operator")}>
              Add
            </button>
          </div>
        </fieldset>
      </form>
      <ListPreview list={list} addresses={addresses} />
      {refused.length > 0 && added.length > 0 && (
        <p class="note" role="status">
          Added to the {list}: {visible(shortened(added))}. The rest was not:
        </p>
      )}
      {guarded.length > 0 && (
        <div class="note bad" role="alert">
          {guarded.map(({ address, problem }) => (
            <p key={address}>
              <strong>Not added:</strong> {visible(problem.detail.replace(/ Nothing was changed\.$/, ""))}
            </p>
          ))}
          <Act
            needs="operator"
            kind="danger"
            onAct={() => add(guarded.map(({ address }) => ({ address, force: true })))}
          >
            Add anyway
          </Act>
        </div>
      )}
      {there.length > 0 && (
        <div class="note bad" role="alert">
          {there.map(({ address, problem: { now } }) => (
            <StandsThere key={address} address={address} entry={now as Entry | null} />
          ))}
          <Act
            needs="operator"
            kind="danger"
            onAct={() =>
              add(there.map(({ address, etag, force = false }) => ({ address, force, seen: etag })))
            }
          >
            Replace
          </Act>
        </div>
      )}
      {others.map(({ address, problem }) => (
        <ProblemNote key={address} problem={problem}>
          <p>
            Not added: <Foreign text={address} />
          </p>
        </ProblemNote>
      ))}
    </>
  );
}

/** One to be added. */
interface Wanted {
  readonly address: string;
  readonly force?: boolean;
  readonly seen?: Seen;
}

function StandsThere({ address, entry }: { address: string; entry: Entry | null }) {
  return (
    <p>
      <Foreign text={address} /> was not added: it is there already
      {entry !== null && (
        <>
          , by <Foreign text={entry.who} /> (<Foreign text={entry.why} />
          ), ends in <Countdown until={entry.until} />
        </>
      )}
      .
    </p>
  );
}

const mostNamed = 20;

function shortened(addresses: readonly string[]): string {
  const more = addresses.length - mostNamed;
  return `${addresses.slice(0, mostNamed).join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
}

/** However they were pasted: lines, spaces, commas. */
function addressesIn(text: string): string[] {
  return [...new Set(text.split(/[\s,;]+/).filter((each) => each !== ""))];
}

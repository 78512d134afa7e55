import { useState } from "preact/hooks";
import { ask, Problem, part, type Seen } from "../ask.ts";
import { placeOf } from "../place.ts";
import { whyNot } from "../session.ts";
import type { ProblemAnswer } from "../types.ts";
import { Act } from "./act.tsx";
import { ChangedMeanwhile } from "./changed-meanwhile.tsx";
import { DurationField } from "./duration-field.tsx";
import { Foreign } from "./foreign.tsx";

import { told } from "./told.tsx";

type ListName = "blocklist" | "safelist";

interface Stopped {
  readonly list: ListName;
  readonly problem: ProblemAnswer;
  readonly etag: string | undefined;
  readonly force: boolean;
}

/** Puts one client on a list. What is there already is replaced only as it was shown. */
export function ListedHere(props: { address: string; listed: string | undefined; onDone: () => void }) {
  const { address, listed, onDone } = props;
  const [duration, setDuration] = useState("1d");
  const [why, setWhy] = useState("");
  const [stopped, setStopped] = useState<Stopped>();

  async function add(list: ListName, force = false, seen: Seen = null): Promise<void> {
    setStopped(undefined);
    try {
      const body = { for: duration, ...(why !== "" && { why }), ...(force && { force }) };
      await ask("PUT", `/v1/lists/${list}/${part(address)}`, body, seen);
      void told(`${address} is on the ${list}.`, { what: `${list}.add`, target: address });
      onDone();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setStopped({ list, problem: error.answer, etag: error.etag, force });
    }
  }
  return (
    <>
      {listed !== undefined && (
        <p>
          It is on a list as <Foreign text={listed} />: see <a href={placeOf("lists")}>Lists</a>.
        </p>
      )}
      <fieldset disabled={whyNot("operator") !== undefined}>
        <div class="row">
          <DurationField label="For" value={duration} onChange={setDuration} />
          <label>
            Why
            <input maxLength={1000} value={why} onInput={(event) => setWhy(event.currentTarget.value)} />
          </label>
          <Act needs="operator" kind="danger" onAct={() => add("blocklist")}>
            Block
          </Act>
          <Act needs="operator" onAct={() => add("safelist")}>
            Let pass
          </Act>
        </div>
      </fieldset>
      <ChangedMeanwhile problem={stopped?.problem} what={stopped?.list ?? ""} target={address} />
      {stopped?.problem.code === "TG_CHANGED" && (
        <Act needs="operator" kind="danger" onAct={() => add(stopped.list, stopped.force, stopped.etag)}>
          Replace
        </Act>
      )}
      {stopped?.problem.code === "TG_GUARD" && (
        <Act needs="operator" kind="danger" onAct={() => add(stopped.list, true)}>
          Add anyway
        </Act>
      )}
    </>
  );
}

import { useState } from "preact/hooks";
import { ask, problemOf } from "../ask.ts";
import { clearedWords } from "../cleared-words.ts";
import { hearMyself } from "../live/events.ts";
import { useAnswer } from "../live/use-answer.ts";
import type { ClearAnswer, ClientsAnswer, OffendersAnswer, ProblemAnswer } from "../types.ts";
import { Act, MayNot } from "./act.tsx";
import { Foreign } from "./foreign.tsx";
import { HeldTable } from "./held-table.tsx";
import { ProblemNote } from "./problem-note.tsx";
import { SeenTable } from "./seen-table.tsx";
import { told } from "./told.tsx";

/** Who stands under a fingerprint: of itself it says nothing of a client. */
export function FingerprintClients({ fingerprint }: { fingerprint: string }) {
  const held = useAnswer<OffendersAnswer>(`/v1/offenders?key=${fingerprint}`, ["held", "audit"]);
  const seen = useAnswer<ClientsAnswer>(`/v1/clients?key=${fingerprint}`, ["busiest", "audit"]);
  const [failure, setFailure] = useState<ProblemAnswer>();
  async function clear(): Promise<void> {
    try {
      setFailure(undefined);
      const asked = { key: fingerprint, remembered: true };
      void told(clearedWords(await ask<ClearAnswer>("POST", "/v1/clear", asked)));
    } catch (error) {
      setFailure(problemOf(error));
    }
    hearMyself("held");
    await Promise.all([held.refresh(), seen.refresh()]);
  }
  return (
    <>
      <h2>
        Fingerprint <Foreign text={fingerprint} />
      </h2>
      <ProblemNote problem={failure ?? held.problem ?? seen.problem} />
      <h3>Held at the edges</h3>
      <HeldTable held={held.answer?.offenders ?? []} empty="Nobody is held under it." />
      <h3>Refused under it lately</h3>
      <SeenTable label="Clients" clients={seen.answer?.clients ?? []} empty="Nobody that is remembered." />
      <h3>Do</h3>
      <MayNot needs="operator" />
      <p>
        <Act needs="operator" kind="danger" onAct={clear}>
          Clear everywhere
        </Act>{" "}
        <span class="quiet">
          Forgets the counts and holds of the clients refused under it lately, and takes whoever stands under
          it off every edge.
        </span>
      </p>
    </>
  );
}

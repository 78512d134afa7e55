import { useState } from "preact/hooks";
import { ask, problemOf } from "../ask.ts";
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
      const { edges = [] } = await ask<ClearAnswer>("POST", "/v1/clear", { key: fingerprint });
      void told(`Taken off ${edges.length} at the edges.`);
    } catch (error) {
      setFailure(problemOf(error));
    }
    hearMyself("held");
    await held.refresh();
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
          Clear at the edges
        </Act>{" "}
        <span class="quiet">Takes whoever stands under it off every edge. Counts are cleared by client.</span>
      </p>
    </>
  );
}

import { useAnswer } from "../live/use-answer.ts";
import type { ClientsAnswer, OffendersAnswer } from "../types.ts";
import { ClearEverywhere } from "./clear-everywhere.tsx";
import { Foreign } from "./foreign.tsx";
import { HeldTable } from "./held-table.tsx";
import { ProblemNote } from "./problem-note.tsx";
import { SeenTable } from "./seen-table.tsx";

/** Who stands under a fingerprint: of itself it says nothing of a client. */
export function FingerprintClients({ fingerprint }: { fingerprint: string }) {
  const held = useAnswer<OffendersAnswer>(`/v1/offenders?key=${fingerprint}`, ["held", "audit"]);
  const seen = useAnswer<ClientsAnswer>(`/v1/clients?key=${fingerprint}`, ["busiest", "audit"]);
  return (
    <>
      <h2>
        Fingerprint <Foreign text={fingerprint} />
      </h2>
      <ProblemNote problem={held.problem ?? seen.problem} />
      <h3>Held at the edges</h3>
      <HeldTable held={held.answer?.offenders ?? []} empty="Nobody is held under it." />
      <h3>Refused under it lately</h3>
      <SeenTable label="Clients" clients={seen.answer?.clients ?? []} empty="Nobody that is remembered." />
      <h3>Do</h3>
      <ClearEverywhere
        who={{ key: fingerprint }}
        onDone={() => Promise.all([held.refresh(), seen.refresh()])}
      >
        Forgets the counts and holds of the clients refused under it lately, and takes whoever stands under it
        off every edge.
      </ClearEverywhere>
    </>
  );
}

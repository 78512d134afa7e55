import { useAnswer } from "../live/use-answer.ts";
import { placeOf } from "../place.ts";
import type { ClientsAnswer } from "../types.ts";
import { count } from "../words.ts";
import { Foreign } from "./foreign.tsx";
import { ProblemNote } from "./problem-note.tsx";
import { SeenTable } from "./seen-table.tsx";

/** Who came lately from a block of addresses. */
export function ClientsWithin({ block }: { block: string }) {
  const path = `/v1/clients?within=${encodeURIComponent(block)}`;
  const { answer, problem } = useAnswer<ClientsAnswer>(path, ["busiest", "audit"]);
  return (
    <>
      <h2>
        Seen lately within <Foreign text={block} />
      </h2>
      <ProblemNote problem={problem} />
      {answer !== undefined && (
        <>
          {answer.count > answer.clients.length && (
            <p>
              {count(answer.clients.length)} of {count(answer.count)}, the busiest first.
            </p>
          )}
          <SeenTable label="Clients" clients={answer.clients} empty="Nobody there is known by name." />
        </>
      )}
      <p>
        To refuse or let pass all of it:{" "}
        <a href={placeOf("lists/blocklist", { address: block })}>blocklist</a>,{" "}
        <a href={placeOf("lists/safelist", { address: block })}>safelist</a>.
      </p>
      <p class="quiet">
        Known by name are the thousand busiest clients, those refused lately, and those held at the edges.
      </p>
    </>
  );
}

import type { HeldClient } from "../types.ts";
import { count } from "../words.ts";
import { Foreign } from "./foreign.tsx";
import { HeldClientCell, LastSeenCell } from "./held-cells.tsx";
import { Table } from "./table.tsx";
import { Countdown } from "./time.tsx";

/** Who is held at the edges. */
export function HeldTable({ held, empty }: { held: readonly HeldClient[]; empty: string }) {
  return (
    <Table
      label="Held at the edges"
      head={["Client", "Rule", "Ends in", "Times over", "Came through", "Edges", "Last seen by"]}
      numbers={[3, 4]}
      empty={empty}
    >
      {held.map((client) => (
        <HeldRow key={`${client.rule} ${client.key}`} client={client} />
      ))}
    </Table>
  );
}

function HeldRow({ client }: { client: HeldClient }) {
  const { key, rule, until, score, leaked, edges, about } = client;
  return (
    <tr>
      <HeldClientCell id={key} about={about} />
      <td>
        <Foreign text={rule} />
      </td>
      <td>
        <Countdown until={until} />
      </td>
      <td class="number">{score.toFixed(1)}</td>
      <td class="number">{count(leaked)}</td>
      <td>{edges.join(", ")}</td>
      <LastSeenCell about={about} />
    </tr>
  );
}

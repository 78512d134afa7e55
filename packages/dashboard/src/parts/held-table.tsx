import type { HeldClient } from "../types.ts";
import { count } from "../words.ts";
import { HeldCells, LastSeenCell } from "./held-cells.tsx";
import { Table } from "./table.tsx";

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
  const { score, leaked, edges, about } = client;
  return (
    <tr>
      <HeldCells held={client} />
      <td class="number">{score.toFixed(1)}</td>
      <td class="number">{count(leaked)}</td>
      <td>{edges.join(", ")}</td>
      <LastSeenCell about={about} />
    </tr>
  );
}

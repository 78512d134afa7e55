import type { HeldAnswer } from "../types.ts";
import { HeldCells, LastSeenCell } from "./held-cells.tsx";
import { Table } from "./table.tsx";

type Held = HeldAnswer["held"][number];

/** Who is held, by a rule of this server, at the edges, or both. */
export function HeldNow({ held, empty }: { held: readonly Held[]; empty: string }) {
  return (
    <Table label="Held now" head={["Client", "Rule", "Ends in", "Held", "Last seen by"]} empty={empty}>
      {held.map((one) => (
        <HeldRow key={`${one.rule} ${one.key}`} held={one} />
      ))}
    </Table>
  );
}

function HeldRow({ held }: { held: Held }) {
  const { isHere, edges, about } = held;
  return (
    <tr>
      <HeldCells held={held} />
      <td>{whereWords(isHere, edges)}</td>
      <LastSeenCell about={about} />
    </tr>
  );
}

function whereWords(isHere: boolean, edges: readonly string[]): string {
  const at = edges.length === 0 ? "" : `at ${edges.join(", ")}`;
  return isHere ? ["here", at].filter(Boolean).join(" and ") : at || "at the edges";
}

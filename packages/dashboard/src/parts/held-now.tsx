import type { HeldAnswer } from "../types.ts";
import { Foreign } from "./foreign.tsx";
import { HeldClientCell, LastSeenCell } from "./held-cells.tsx";
import { Table } from "./table.tsx";
import { Countdown } from "./time.tsx";

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

function HeldRow({ held: { key, rule, until, isHere, edges, about } }: { held: Held }) {
  return (
    <tr>
      <HeldClientCell id={key} about={about} />
      <td>
        <Foreign text={rule} />
      </td>
      <td>
        <Countdown until={until} />
      </td>
      <td>{whereWords(isHere, edges)}</td>
      <LastSeenCell about={about} />
    </tr>
  );
}

function whereWords(isHere: boolean, edges: readonly string[]): string {
  const at = edges.length === 0 ? "" : `at ${edges.join(", ")}`;
  return isHere ? ["here", at].filter(Boolean).join(" and ") : at || "at the edges";
}

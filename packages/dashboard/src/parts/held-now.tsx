import type { HeldAnswer } from "../types.ts";
import { ClientLink } from "./client-link.tsx";
import { Foreign } from "./foreign.tsx";
import { Table } from "./table.tsx";
import { Countdown } from "./time.tsx";

type Held = HeldAnswer["held"][number];

const digest = /^[0-9a-f]{40,64}$/;

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
  const isAddress = key === about.ip;
  return (
    <tr>
      <td>
        <ClientLink client={about.ip ?? key} />
        {digest.test(key) ? (
          <div class="quiet">fingerprint {key.slice(0, 12)}…</div>
        ) : (
          !isAddress &&
          about.ip !== undefined && (
            <div class="quiet">
              as <Foreign text={key} most={80} />
            </div>
          )
        )}
      </td>
      <td>
        <Foreign text={rule} />
      </td>
      <td>
        <Countdown until={until} />
      </td>
      <td>{whereWords(isHere, edges)}</td>
      <td class="wraps">
        <Foreign text={[about.method, about.host, about.path].filter(Boolean).join(" ")} />
        <div>
          <Foreign text={about.userAgent} />
        </div>
      </td>
    </tr>
  );
}

function whereWords(isHere: boolean, edges: readonly string[]): string {
  const at = edges.length === 0 ? "" : `at ${edges.join(", ")}`;
  return isHere ? ["here", at].filter(Boolean).join(" and ") : at || "at the edges";
}

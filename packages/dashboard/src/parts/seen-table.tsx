import type { ClientsAnswer } from "../types.ts";
import { count } from "../words.ts";
import { ClientLink } from "./client-link.tsx";
import { Foreign } from "./foreign.tsx";
import { Table } from "./table.tsx";
import { Ago, Countdown } from "./time.tsx";

type Client = ClientsAnswer["clients"][number];

/** Clients seen lately. */
export function SeenTable(props: { label: string; clients: readonly Client[]; empty: string }) {
  return (
    <Table
      label={props.label}
      head={["Client", "Requests lately", "Refused", "Last refused", "Now", "Held for", "User agent"]}
      numbers={[1, 2]}
      empty={props.empty}
    >
      {props.clients.map(({ client, ip, requests, refused, refusedAt, allowed, heldUntil, userAgent }) => (
        <tr key={client}>
          <td>
            <ClientLink client={ip ?? client.replace(/\/\d+$/, "")} />
          </td>
          <td class="number">{requests === 0 ? "few" : count(requests)}</td>
          <td class="number">{count(refused)}</td>
          <td>{refusedAt === undefined ? "–" : <Ago at={refusedAt} />}</td>
          <td>
            {allowed === null ? (
              "–"
            ) : (
              <span class={allowed ? "good" : "worse"}>{allowed ? "passes" : "refused"}</span>
            )}
          </td>
          <td>{heldUntil === undefined ? "–" : <Countdown until={heldUntil} />}</td>
          <td class="wraps">
            <Foreign text={userAgent} most={80} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

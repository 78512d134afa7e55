import { Foreign } from "../parts/foreign.tsx";
import { Table } from "../parts/table.tsx";
import type { RehearsalReport } from "../types.ts";
import { count } from "../words.ts";
import { useAgainst } from "./against.ts";
import { Heading } from "./heading.tsx";

/** Client by client, the most changed first. */
export function Changes({ change }: { change: NonNullable<RehearsalReport["change"]> }) {
  return (
    <>
      <Heading>What would change</Heading>
      <Table
        label="Clients answered otherwise"
        head={["Client", "Requests", "Newly refused", "Newly let through", "User agent"]}
        numbers={[1, 2, 3]}
        empty={`Nothing: this traffic would be answered as under ${useAgainst()}.`}
      >
        {change.worst.map(({ client, requests, newlyRefused, newlyPassed, userAgent }) => (
          <tr key={client}>
            <th scope="row">
              <Foreign text={client} />
            </th>
            <td class="number">{count(requests)}</td>
            <td class={newlyRefused > 0 ? "number worse" : "number"}>{count(newlyRefused)}</td>
            <td class={newlyPassed > 0 ? "number good" : "number"}>{count(newlyPassed)}</td>
            <td class="wraps">
              <Foreign text={userAgent} />
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

import { Foreign } from "../parts/foreign.tsx";
import { Table } from "../parts/table.tsx";
import type { RehearsalReport } from "../types.ts";
import { count, visible } from "../words.ts";
import { Heading } from "./heading.tsx";

/** Limits from the traffic's own distribution. */
export function Suggestions({ suggestions }: { suggestions: NonNullable<RehearsalReport["suggestions"]> }) {
  return (
    <>
      <Heading>Suggested limits</Heading>
      <Table
        label="Suggested limits"
        head={["Rule", "Now", "Suggested", "Would refuse", "Clients", "Why"]}
        numbers={[3, 4]}
        empty="No rule judged anything, so there is nothing to suggest."
      >
        {suggestions.map(({ rule, limit, suggested, refused, refusedClients, words }) => (
          <tr key={`${rule} ${limit}`}>
            <th scope="row">
              <Foreign text={rule} />
            </th>
            <td>
              <Foreign text={limit} />
            </td>
            <td>
              <Foreign text={suggested} />
            </td>
            <td class="number">{refused === undefined ? "–" : count(refused)}</td>
            <td class="number">{refusedClients === undefined ? "–" : count(refusedClients)}</td>
            <td class="wraps words">{visible(words)}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

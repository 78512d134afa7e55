import { Foreign } from "../parts/foreign.tsx";
import { Table } from "../parts/table.tsx";
import type { RehearsalReport } from "../types.ts";
import { count, visible } from "../words.ts";
import { Heading } from "./heading.tsx";
import { share } from "./words.ts";

/** Refused, and maybe wrongly: to be looked at before anything is enforced. */
export function FalsePositives({ suspicions }: { suspicions: RehearsalReport["falsePositives"] }) {
  return (
    <>
      <Heading>Likely false positives</Heading>
      <Table
        label="Likely false positives"
        head={["Client", "Why", "Rule", "Refused", "Share", "User agent"]}
        numbers={[3, 4]}
        empty="None is seen."
      >
        {suspicions.map(({ client, rule, words, refused, share: part, userAgent }) => (
          <tr key={`${client} ${rule}`}>
            <th scope="row">
              <Foreign text={client} />
            </th>
            <td class="wraps words">{visible(words)}</td>
            <td>
              <Foreign text={rule} />
            </td>
            <td class="number">{count(refused)}</td>
            <td class="number">{share(part)}</td>
            <td class="wraps">
              <Foreign text={userAgent} />
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

import { useContext } from "preact/hooks";
import { Table } from "../parts/table.tsx";
import type { RehearsalReport } from "../types.ts";
import { count, visible } from "../words.ts";
import { Against } from "./against.ts";
import { Heading } from "./heading.tsx";
import { instant } from "./words.ts";

type Outcome = RehearsalReport["outcome"];

const rows: readonly (readonly [name: string, key: keyof Outcome])[] = [
  ["Let through", "allowed"],
  ["Refused", "refused"],
  ["of these, held", "held"],
  ["Would be refused but for shadow", "shadow"],
  ["Kept waiting", "delayed"],
  ["Clients refused", "refusedClients"],
];

/** The same numbers under each policy, side by side. */
export function BeforeAfter({ report }: { report: RehearsalReport }) {
  const { outcome, against, worstSecond } = report;
  const { recorded, passed, passedAgainst } = worstSecond;
  const file = useContext(Against);
  const other = file === undefined ? "In force" : `Against ${visible(file)}`;
  const head = ["What", against === undefined ? "Without" : other, "This policy"];
  const without = { allowed: report.requests, refused: 0, held: 0, shadow: 0, delayed: 0, refusedClients: 0 };
  const before = against ?? without;
  const second = passedAgainst ?? recorded;
  return (
    <>
      <Heading>Before and after</Heading>
      <Table label="Before and after" head={head} numbers={[1, 2]} empty="">
        {[
          ...rows.map(([name, key]) => (
            <tr key={key}>
              <th scope="row">{name}</th>
              <td class="number">{count(before[key])}</td>
              <td class="number">{count(outcome[key])}</td>
            </tr>
          )),
          <tr key="worst">
            <th scope="row">Worst second at the origin</th>
            <td class="number" title={instant(second.at)}>
              {count(second.requests)}
            </td>
            <td class="number" title={instant(passed.at)}>
              {count(passed.requests)}
            </td>
          </tr>,
        ]}
      </Table>
    </>
  );
}

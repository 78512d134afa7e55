import { Foreign } from "../parts/foreign.tsx";
import { Table } from "../parts/table.tsx";
import type { RehearsalReport } from "../types.ts";
import { count } from "../words.ts";
import { Heading } from "./heading.tsx";
import { instant } from "./words.ts";

type Rule = RehearsalReport["rules"][number];

/** What each rule did; those that did nothing are named first. */
export function Rules({ rules }: { rules: readonly Rule[] }) {
  return (
    <>
      <Heading>Rules</Heading>
      <Silent
        rules={rules}
        silence="never-applies"
        words="No request was theirs. See that their conditions, and what they count by, say what is meant."
      />
      <Silent rules={rules} silence="never-fires" words="They refused nobody in this traffic." />
      <Table
        label="What each rule did"
        head={["Rule", "Applied to", "Refused", "Clients", "First", "Last", "Remarks"]}
        numbers={[1, 2, 3]}
        empty="The policy has no rule."
      >
        {rules.map((rule) => (
          <tr key={rule.rule}>
            <th scope="row">
              <Foreign text={rule.rule} />
            </th>
            <td class="number">{count(rule.judged)}</td>
            <td class="number">{count(rule.refused)}</td>
            <td class="number">{count(rule.clients)}</td>
            <td class="when">{instant(rule.firstAt)}</td>
            <td class="when">{instant(rule.lastAt)}</td>
            <td>
              {rule.isShadow && <span class="tag">shadow</span>}
              {rule.silence !== undefined && <span class="tag">{rule.silence.replace("-", " ")}</span>}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function Silent(props: { rules: readonly Rule[]; silence: NonNullable<Rule["silence"]>; words: string }) {
  const silent = props.rules.filter(({ silence }) => silence === props.silence);
  if (silent.length === 0) return null;
  return (
    <p class="note">
      {silent.map(({ rule }, i) => (
        <span key={rule}>
          {i > 0 && ", "}
          <Foreign text={rule} />
        </span>
      ))}
      : {props.words}
    </p>
  );
}

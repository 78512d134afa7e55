import { Foreign } from "../parts/foreign.tsx";
import { Table } from "../parts/table.tsx";
import type { InputFacts } from "../types.ts";
import { count } from "../words.ts";
import { Heading } from "./heading.tsx";

/** Which policies and which logs it is made from, and what of them could not be read. */
export function Input({ input }: { input: InputFacts }) {
  const { policy, against, files, samples, malformed } = input;
  return (
    <>
      <Heading>What was read</Heading>
      {policy !== undefined && (
        <p>
          Policy <Foreign text={policy} />
          {against !== undefined && (
            <>
              {" "}
              against <Foreign text={against} />
            </>
          )}
        </p>
      )}
      <Table
        label="Logs"
        head={["Log", "Format", "Lines", "Requests", "Could not be read", "No requests", "Remarks"]}
        numbers={[2, 3, 4, 5]}
        empty="No log."
      >
        {files.map((file, i) => (
          <tr key={i}>
            <th scope="row">
              <Foreign text={file.name} />
            </th>
            <td>{file.format}</td>
            <td class="number">{count(file.lines)}</td>
            <td class="number">{count(file.requests)}</td>
            <td class={file.malformed > 0 ? "number worse" : "number"}>{count(file.malformed)}</td>
            <td class="number">{count(file.skipped)}</td>
            <td class="wraps">{file.problem !== undefined && <Foreign text={file.problem} />}</td>
          </tr>
        ))}
      </Table>
      {samples.length > 0 && (
        <>
          <p>
            Lines that could not be read
            {malformed > samples.length && `, the first ${count(samples.length)} of ${count(malformed)}`}:
          </p>
          <ul class="plain">
            {samples.map(({ file, line, text }) => (
              <li key={`${file} ${line}`}>
                <Foreign text={`${file}:${line}`} /> <Foreign text={text} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

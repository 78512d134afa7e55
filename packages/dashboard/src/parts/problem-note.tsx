import type { ComponentChildren } from "preact";
import type { ProblemAnswer } from "../types.ts";
import { visible } from "../words.ts";

/** Why something did not work, in the server's words, and what may be done about it. */
export function ProblemNote(props: { problem: ProblemAnswer | undefined; children?: ComponentChildren }) {
  const { problem, children } = props;
  if (problem === undefined) return null;
  return (
    <div class="note bad" role="alert">
      <p>
        {visible(problem.detail)} {problem.help !== undefined && visible(problem.help)}{" "}
        {problem.code !== "" && <code class="quiet">{problem.code}</code>}
      </p>
      {children}
    </div>
  );
}

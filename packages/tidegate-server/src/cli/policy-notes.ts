import { problemText } from "../observe/problem-text.js";
import type { PolicyStatus } from "../policy/policy-status.js";
import { printable } from "../printable.js";

/** What whoever looks at the policy in force has to know beside it, a line each: a file that is not it, a version that is not. */
export function policyNotes({ problem, file }: PolicyStatus): string[] {
  const notes = problem === undefined ? [] : [problem];
  if (file?.state === "behind")
    notes.push(
      `${file.path} is behind: another policy was put in force since. Change the file, and it is taken in again.`,
    );
  if (file?.state === "refused") {
    const { path, problems = [] } = file;
    const told = problems.length > 0 ? problems.map(problemText) : [file.problem ?? ""];
    notes.push(`${path} is refused, and the policy in force stays:`, ...told.map((each) => `  ${each}`));
  }
  const { needsRestart = [] } = file ?? {};
  if (file !== undefined && needsRestart.length > 0)
    notes.push(`${needsRestart.join(", ")}: changed in ${file.path}; in effect from the next start.`);
  return notes.map(printable);
}

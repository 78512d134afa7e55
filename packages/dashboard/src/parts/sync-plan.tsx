import { useState } from "preact/hooks";
import { ask, part, problemOf } from "../ask.ts";
import { hearMyself } from "../live/events.ts";
import type { EdgeSyncAnswer, ProblemAnswer } from "../types.ts";
import { count, visible } from "../words.ts";
import { Act } from "./act.tsx";
import { Foreign } from "./foreign.tsx";
import { ProblemNote } from "./problem-note.tsx";
import { told } from "./told.tsx";

type Report = EdgeSyncAnswer["reports"][number];

const mostShown = 50;

/** Sets an edge right now; what that would be is shown first. */
export function SyncPlan({ edge }: { edge: string }) {
  const [plan, setPlan] = useState<Report>();
  const [problem, setProblem] = useState<ProblemAnswer>();
  async function sync(dryRun: boolean): Promise<void> {
    setProblem(undefined);
    try {
      const path = `/v1/edges/${part(edge)}/sync`;
      const { reports } = await ask<EdgeSyncAnswer>("POST", path, { dryRun });
      const report = reports.find((each) => each.edge === edge);
      setPlan(dryRun || report?.problem !== undefined ? report : undefined);
      if (!dryRun && report !== undefined && report.problem === undefined)
        void told(
          report.keeper === undefined
            ? `${edge} was set right: ${report.put.length} put, ${report.remove.length} removed.`
            : `${edge} is set right by ${report.keeper} at its next look.`,
        );
    } catch (error) {
      setProblem(problemOf(error));
    }
    hearMyself("edges");
  }
  return (
    <div class="plan">
      <Act needs="admin" about={edge} onAct={() => sync(true)}>
        What would a sync do?
      </Act>
      <ProblemNote problem={problem} />
      {plan !== undefined && (
        <div class="note" role="status">
          {plan.problem !== undefined && <p class="worse">{visible(plan.problem)}</p>}
          <p>
            It would put {count(plan.put.length)} and remove {count(plan.remove.length)} entries.
          </p>
          <ul class="plain">
            {plan.put.slice(0, mostShown).map(({ key, rule }) => (
              <li key={`put ${key}`} class="added">
                + <Foreign text={key} /> (<Foreign text={rule} />)
              </li>
            ))}
            {plan.remove.slice(0, mostShown).map((key) => (
              <li key={`remove ${key}`} class="removed">
                − <Foreign text={key} />
              </li>
            ))}
          </ul>
          <Act needs="admin" kind="main" about={edge} onAct={() => sync(false)}>
            Sync now
          </Act>{" "}
          <button type="button" onClick={() => setPlan(undefined)}>
            Leave
          </button>
        </div>
      )}
    </div>
  );
}

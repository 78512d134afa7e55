import type { EdgesAnswer } from "../types.ts";
import { visible } from "../words.ts";

export type EdgeStatus = EdgesAnswer["edges"][number];

/** How an edge is, in a word or two. */
export function EdgeState({ edge }: { edge: EdgeStatus }) {
  const { state, stopped, problem, alarms } = edge;
  return (
    <>
      {state === undefined ? (
        <strong class="worse">out of reach</strong>
      ) : (
        <span class={state === "in step" ? "good" : "worse"}>{state}</span>
      )}
      {stopped !== undefined && <p class="worse">In shadow: {visible(stopped)}</p>}
      {state === undefined && problem !== undefined && <p class="worse">{visible(problem.message)}</p>}
      {alarms.map((alarm) => (
        <p class="worse" key={alarm}>
          {visible(alarm)}
        </p>
      ))}
    </>
  );
}

/** From crossing to applied, and on to what the canary sees. */
export function enforceWords({ applyMs, propagationMs }: EdgeStatus): string {
  if (applyMs === undefined) return "–";
  const seen = propagationMs === undefined ? "" : `, seen ${Math.round(propagationMs)} ms later`;
  return `${Math.round(applyMs.p50)} ms (p99 ${Math.round(applyMs.p99)} ms)${seen}`;
}

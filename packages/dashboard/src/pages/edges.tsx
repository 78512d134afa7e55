import { useState } from "preact/hooks";
import { ask, part, problemOf } from "../ask.ts";
import { hearMyself } from "../live/events.ts";
import { useAnswer } from "../live/use-answer.ts";
import { Act, MayNot } from "../parts/act.tsx";
import { EdgeState, enforceWords } from "../parts/edge-state.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { SyncPlan } from "../parts/sync-plan.tsx";
import { Ago } from "../parts/time.tsx";
import { told } from "../parts/told.tsx";
import { whyNot } from "../session.ts";
import type { EdgesAnswer, ProblemAnswer } from "../types.ts";
import { count } from "../words.ts";

type Edge = EdgesAnswer["edges"][number];
type Mode = Edge["mode"];

export function Edges() {
  const { answer, problem } = useAnswer<EdgesAnswer>("/v1/edges", ["edges", "audit"]);
  return (
    <>
      <ProblemNote problem={problem} />
      <MayNot needs="admin" />
      {answer?.edges.length === 0 && (
        <p>
          No edge is configured. Write one under <code>edges</code> in <code>tidegate.yaml</code>.
        </p>
      )}
      {answer?.edges.map((edge) => (
        <OneEdge key={edge.edge} edge={edge} />
      ))}
    </>
  );
}

function OneEdge({ edge }: { edge: Edge }) {
  const { edge: name, kind, mode, setBy } = edge;
  return (
    <section aria-label={`Edge ${name}`}>
      <h2>
        {name} <span class="tag">{kind}</span> <span class="tag">{mode}</span>
      </h2>
      <EdgeState edge={edge} />
      {setBy !== undefined && (
        <p class="quiet">
          Set to {mode} by <Foreign text={setBy.who} /> <Ago at={setBy.at} />
          {setBy.why !== undefined && (
            <>
              : <Foreign text={setBy.why} />
            </>
          )}
        </p>
      )}
      <Facts edge={edge} />
      <SetMode edge={edge} />
      <SyncPlan edge={name} />
    </section>
  );
}

function Facts({ edge }: { edge: Edge }) {
  const { entries, maxEntries, foreign, pending, drift, evicted, unknowable, readAt, keeper } = edge;
  const facts: readonly (readonly [string, unknown])[] = [
    ["Entries", entries === undefined ? "–" : `${count(entries)} of ${count(maxEntries)}`],
    ["Others' entries", foreign ?? "–"],
    ["Changes to be made", pending ?? "–"],
    ["Found wrong at the last full look", drift ?? "–"],
    ["Without room", evicted],
    ["It can not know", unknowable],
    ["Time to enforce", enforceWords(edge)],
    ["Last read", readAt === undefined ? "never" : <Ago at={readAt} />],
    ["Kept by", keeper ?? "nobody"],
  ];
  return (
    <>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value as string}</dd>
          </div>
        ))}
      </dl>
      {edge.quarantined.map(({ key, why }) => (
        <p key={key} class="worse">
          It refuses to take <Foreign text={key} />: <Foreign text={why} />
        </p>
      ))}
    </>
  );
}

const modeWords: Readonly<Record<Mode, string>> = {
  on: "refuse",
  shadow: "only mark whom it would refuse",
  off: "let everybody pass",
};

function SetMode({ edge }: { edge: Edge }) {
  const [why, setWhy] = useState("");
  const [problem, setProblem] = useState<ProblemAnswer>();
  async function set(mode: Mode): Promise<void> {
    try {
      const body = { mode, ...(why !== "" && { why }) };
      await ask("POST", `/v1/edges/${part(edge.edge)}/mode`, body, edge.etag);
      setProblem(undefined);
      setWhy("");
      void told(`${edge.edge} is set to ${mode}.`, { what: "edge.mode", target: edge.edge });
    } catch (error) {
      setProblem(problemOf(error));
    }
    hearMyself("edges");
  }
  return (
    <>
      <fieldset disabled={whyNot("admin") !== undefined}>
        <div class="row">
          <label>
            Why {edge.edge} is set
            <input maxLength={1000} value={why} onInput={(event) => setWhy(event.currentTarget.value)} />
          </label>
          {(Object.keys(modeWords) as Mode[]).map((mode) => (
            <Act
              key={mode}
              needs="admin"
              kind={mode === "off" ? "danger" : undefined}
              about={`${edge.edge}: ${modeWords[mode]}`}
              whyNotNow={
                edge.mode === mode && edge.stopped === undefined ? `It is ${mode} already.` : undefined
              }
              onAct={() => set(mode)}
            >
              {mode}
            </Act>
          ))}
        </div>
      </fieldset>
      <ProblemNote problem={problem} />
    </>
  );
}

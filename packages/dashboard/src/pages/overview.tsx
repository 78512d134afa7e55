import { useEffect, useState } from "preact/hooks";
import type { Rates } from "../live/rates.ts";
import { history, status } from "../live/server.ts";
import { useAnswer } from "../live/use-answer.ts";
import { ClientLink } from "../parts/client-link.tsx";
import { EdgeState, enforceWords } from "../parts/edge-state.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { HeldNow } from "../parts/held-now.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { RatesChart } from "../parts/rates-chart.tsx";
import { RulesChart } from "../parts/rules-chart.tsx";
import { Table } from "../parts/table.tsx";
import { placeOf } from "../place.ts";
import type { BusiestAnswer, EdgesAnswer, HeldAnswer } from "../types.ts";
import { count, rate } from "../words.ts";

export function Overview() {
  const points = history.value;
  const last = points.at(-1);
  return (
    <>
      <Numbers rates={last} />
      <RatesChart points={points} />
      <h2>By rule</h2>
      <RulesChart points={points} rules={Object.keys(status.value?.metrics.byRule ?? {})} />
      <ByRule rates={last} />
      <Busiest />
      <Held />
      <Edges />
    </>
  );
}

function Numbers({ rates }: { rates: Rates | undefined }) {
  const { store, metrics } = status.value ?? {};
  return (
    <>
      <dl class="numbers">
        <Figure name="Allowed per second" value={rates && rate(rates.allowed)} />
        <Figure name="Refused per second" value={rates && rate(rates.refused)} />
        <Figure name="Shadow per second" value={rates && rate(rates.shadow)} />
        <Figure name="Allowed since start" value={metrics && count(metrics.allowed)} />
        <Figure name="Refused since start" value={metrics && count(metrics.refused)} />
        <Figure name="Store" value={store && `${store.kind}${store.isDegraded ? ", degraded" : ""}`} />
      </dl>
      <Spoken rates={rates} />
    </>
  );
}

function Figure({ name, value }: { name: string; value: string | undefined }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value ?? "…"}</dd>
    </div>
  );
}

/** For who listens: now and then, for numbers that change all the time can not be listened to. */
function Spoken({ rates }: { rates: Rates | undefined }) {
  const [words, setWords] = useState("");
  const turn = rates === undefined ? 0 : Math.floor(rates.at / 20_000);
  useEffect(() => {
    if (rates !== undefined)
      setWords(`Per second: ${rate(rates.allowed)} allowed, ${rate(rates.refused)} refused.`);
  }, [turn]);
  return (
    <p class="unseen" aria-live="polite">
      {words}
    </p>
  );
}

function ByRule({ rates }: { rates: Rates | undefined }) {
  const rules = Object.entries(status.value?.metrics.byRule ?? {});
  return (
    <Table
      label="By rule"
      head={["Rule", "Judged/s", "Refused/s", "Shadow/s", "Refused", "Shadow", "Began to hold"]}
      numbers={[1, 2, 3, 4, 5, 6]}
      empty="No rule has judged anything yet."
    >
      {rules.map(([rule, counts]) => {
        const own = rates?.byRule[rule];
        return (
          <tr key={rule}>
            <td>
              <Foreign text={rule} />
            </td>
            <td class="number">{rate(own?.judged ?? 0)}</td>
            <td class="number">{rate(own?.refused ?? 0)}</td>
            <td class="number">{rate(own?.shadow ?? 0)}</td>
            <td class="number">{count(counts.refused)}</td>
            <td class="number">{count(counts.shadowRefused)}</td>
            <td class="number">{count(counts.held)}</td>
          </tr>
        );
      })}
    </Table>
  );
}

function Busiest() {
  const { answer, problem } = useAnswer<BusiestAnswer>("/v1/busiest?most=10", ["busiest"]);
  return (
    <>
      <h2>Busiest clients</h2>
      <ProblemNote problem={problem} />
      <Table
        label="Busiest clients"
        head={["Client", "Per minute", "Per second", "Requests lately", "of them refused"]}
        numbers={[1, 2, 3, 4]}
        empty="Nobody yet."
      >
        {(answer?.clients ?? []).map(({ key, count: requests, error, refused, perMinute }) => (
          <tr key={key}>
            <td>
              <ClientLink client={key} />
            </td>
            <td class="number">{perMinute === undefined ? "–" : count(perMinute)}</td>
            <td class="number">{perMinute === undefined ? "–" : rate(perMinute / 60)}</td>
            <td class="number">
              {count(Math.round(requests))}
              {error >= 0.5 && <span class="quiet"> (at most {count(Math.round(error))} too many)</span>}
            </td>
            <td class="number">{count(Math.round(refused))}</td>
          </tr>
        ))}
      </Table>
      <p class="quiet">
        Per minute and per second: of the last minute. Lately: a request counts half as much after five
        minutes.
      </p>
    </>
  );
}

function Held() {
  // Who is held here is told by no event; the busiest are every two seconds.
  const { answer, problem } = useAnswer<HeldAnswer>("/v1/held?most=20", ["held", "busiest", "audit"]);
  const more = (answer?.count ?? 0) - (answer?.held.length ?? 0);
  return (
    <>
      <h2>Held now</h2>
      <ProblemNote problem={problem} />
      <HeldNow held={answer?.held ?? []} empty="Nobody is held, neither here nor at the edges." />
      {more > 0 && <p class="quiet">These are held longest; there are {count(more)} more.</p>}
    </>
  );
}

function Edges() {
  const { answer, problem } = useAnswer<EdgesAnswer>("/v1/edges", ["edges"]);
  return (
    <>
      <h2>Edges</h2>
      <ProblemNote problem={problem} />
      <Table
        label="Edges"
        head={["Edge", "Mode", "State", "Entries", "Time to enforce"]}
        numbers={[3]}
        empty="No edge is configured."
      >
        {(answer?.edges ?? []).map((edge) => (
          <tr key={edge.edge}>
            <td>
              <a href={placeOf("edges")}>{edge.edge}</a>
            </td>
            <td>{edge.mode}</td>
            <td>
              <EdgeState edge={edge} />
            </td>
            <td class="number">{edge.entries === undefined ? "–" : count(edge.entries)}</td>
            <td>{enforceWords(edge)}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

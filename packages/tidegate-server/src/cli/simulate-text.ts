import {
  allPassUpTo,
  burstLetThrough,
  type ClientRun,
  type ComparedLimit,
  type EarrrlNumbers,
  limitOf,
  lockedOutAbove,
  type Scenario,
  type ScenarioRun,
  type SimulatedClient,
  soFar,
  steadyEstimate,
} from "tidegate/simulate";
import type { PageTable } from "../plots/html-page.js";

/** What came of it, as tables: first what passed, then estimates beside their closed form, then what follows from EARRRL's numbers. */
export function runTables({ scenario, limits }: ScenarioRun): PageTable[] {
  const outcomes = limits.flatMap(({ name, clients }) =>
    clients.map(({ client, sent, passed, firstRefusedAt, lastRefusedAt }) => [
      name,
      client,
      String(sent),
      String(passed),
      sent === 0 ? "" : `${((100 * passed) / sent).toFixed(1)} %`,
      moment(firstRefusedAt),
      moment(lastRefusedAt),
    ]),
  );
  const readings = limits.flatMap(({ name, clients }, i) =>
    clients.flatMap((run, j) =>
      readingsOf(run, scenario.clients[j], scenario.limits[i]).map(({ seconds, estimate, closedForm }) => [
        name,
        run.client,
        `${seconds} s`,
        estimate.toFixed(6),
        closedForm === undefined ? "" : closedForm.toFixed(6),
      ]),
    ),
  );
  const rules = scenario.limits.flatMap((limit, i) => {
    const numbers = numbersOf(limit);
    if (numbers === undefined || numbers.rate >= 1e6) return [];
    const name = limits[i]?.name ?? "";
    return [
      [name, String(burstLetThrough(numbers)), rate(allPassUpTo(numbers)), rate(lockedOutAbove(numbers))],
    ];
  });
  return [
    {
      title: "What passed",
      words: 2,
      head: ["Limit", "Client", "Sent", "Let in", "Share", "First refused", "Last refused"],
      rows: outcomes,
    },
    {
      title: "Estimates, calls per second",
      words: 2,
      head: ["Limit", "Client", "At", "Estimate", "Closed form"],
      rows: readings,
    },
    {
      title: "What follows from EARRRL's numbers",
      head: ["Limit", "At once", "All pass up to", "Locked out above"],
      rows: rules,
    },
  ].filter(({ rows }) => rows.length > 0);
}

/** The same for programs; times are seconds from the start. */
export function runJson({ scenario, limits }: ScenarioRun) {
  const every = scenario.seconds / 400;
  return {
    scenario: scenario.name,
    title: scenario.title,
    seconds: scenario.seconds,
    every,
    limits: limits.map(({ name, kind, clients }, i) => {
      const limit = scenario.limits[i] as ComparedLimit;
      const numbers = numbersOf(limit);
      return {
        name,
        kind,
        ...(numbers && {
          burst: burstLetThrough(numbers),
          allPassUpTo: allPassUpTo(numbers),
          // No number where nobody is.
          lockedOutAbove: finite(lockedOutAbove(numbers)),
        }),
        clients: clients.map((run, j) => {
          const { sent, passed } = soFar(run, scenario.seconds, every);
          return {
            client: run.client,
            sent: run.sent,
            passed: run.passed,
            firstRefused: run.firstRefusedAt ?? null,
            lastRefused: run.lastRefusedAt ?? null,
            readings: readingsOf(run, scenario.clients[j], limit),
            sentSoFar: sent.map(([, value]) => value),
            passedSoFar: passed.map(([, value]) => value),
            ...(run.estimates && { estimates: run.estimates }),
          };
        }),
      };
    }),
  };
}

/** Estimates read at the times asked for, and what the closed form says where there is one. */
function readingsOf(run: ClientRun, client: SimulatedClient | undefined, limit: ComparedLimit | undefined) {
  const closedForm = closedFormOf(client, limit, run);
  return (run.readings ?? []).map(([seconds, estimate]) => ({
    seconds,
    estimate,
    ...(closedForm && { closedForm: closedForm(seconds) }),
  }));
}

/** A client that calls steadily in one phase, and whose calls all weigh the same. */
function closedFormOf(
  client: SimulatedClient | undefined,
  limit: ComparedLimit | undefined,
  { sent, passed }: ClientRun,
): ((seconds: number) => number) | undefined {
  const numbers = limit && numbersOf(limit);
  const phase = client?.phases[0];
  if (!numbers || !phase || client.phases.length > 1 || limit.isShared === true) return undefined;
  const isEqual = sent === passed || numbers.overage === 1;
  if ((phase.pattern ?? "steady") !== "steady" || phase.rate === 0 || !isEqual) return undefined;
  const { from, to, rate: perSecond } = phase;
  return (seconds) => steadyEstimate({ perSecond, halfLife: numbers.halfLife, from, to }, seconds);
}

function numbersOf({ limit }: Scenario["limits"][number]): Required<EarrrlNumbers> | undefined {
  if (!("earrrl" in limit)) return undefined;
  const [perSecond, lambdaMs, overage] = limitOf(limit).args as [number, number, number];
  return { rate: perSecond, halfLife: Math.LN2 / lambdaMs / 1000, overage };
}

function moment(seconds: number | undefined): string {
  return seconds === undefined ? "" : `${Number(seconds.toFixed(2))} s`;
}

function rate(perSecond: number): string {
  return Number.isFinite(perSecond) ? `${perSecond.toFixed(3)}/s` : "nobody";
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

import { type ClientRun, type LimitRun, type ScenarioRun, soFar } from "tidegate/simulate";
import { linearAxis, logAxis } from "./axes.js";
import { colorOf, type Line, type Mark, type Panel, type Plot } from "./plot.js";

/** What a scenario's run shows, as its `plot` says. */
export function scenarioPlot(run: ScenarioRun): Plot {
  const { title, about, plot = "calls-by-limit" } = run.scenario;
  const estimated = run.limits.filter(({ kind }) => kind === "earrrl");
  const panels =
    plot === "estimates" && estimated.length > 0
      ? estimated.map((limit) => estimatesPanel(run, limit))
      : plot === "calls-by-client"
        ? run.scenario.clients.map((_, nth) => clientPanel(run, nth))
        : run.limits.map((limit) => limitPanel(run, limit));
  return { title, about, panels };
}

/** Estimates are told on a logarithmic axis where clients differ this much. */
const farApart = 20;

function estimatesPanel({ scenario }: ScenarioRun, { name, clients }: LimitRun): Panel {
  const phases = scenario.clients.flatMap((client) => client.phases).filter(({ rate }) => rate > 0);
  const rates = phases.map(({ rate }) => rate);
  const [least, most] = [Math.min(...rates), Math.max(...rates)];
  const label = "estimate, calls per second";
  const trueRates = phases.map(
    ({ from, to, rate }): Line => ({
      color: "grey",
      isDashed: true,
      points: [
        [from, rate],
        [to, rate],
      ],
    }),
  );
  const highest = Math.max(
    ...clients.flatMap(({ estimates = [] }) => estimates.map(([, value]) => value)),
    most,
  );
  return {
    title: name,
    x: linearAxis("seconds", scenario.seconds, { isExact: true }),
    y: most / least >= farApart ? logAxis(label, least / 10, highest) : linearAxis(label, highest),
    lines: [
      ...trueRates,
      ...clients.map(
        ({ client, estimates = [] }, i): Line => ({ label: client, color: colorOf(i), points: estimates }),
      ),
      { label: "true rate", color: "grey", isDashed: true, points: [] },
    ],
    marks: marksOn(scenario.marks, (at) => nearest(clients[0]?.estimates ?? [], at)),
  };
}

function limitPanel({ scenario }: ScenarioRun, { name, clients }: LimitRun): Panel {
  const series = clients.map((client) => countsOf(client, scenario.seconds));
  const isAlone = clients.length === 1;
  const lines = clients.flatMap(({ client, sent, passed }, i): Line[] => [
    {
      ...(isAlone && { label: `sent (${sent})` }),
      color: isAlone ? "red" : colorOf(i),
      isDashed: !isAlone,
      points: series[i]?.sent ?? [],
    },
    {
      label: isAlone ? `let in (${passed})` : `${client}: ${passed} of ${sent}`,
      color: colorOf(i),
      points: series[i]?.passed ?? [],
    },
  ]);
  return {
    title: name,
    ...callAxes(scenario.seconds, clients),
    lines: isAlone ? lines : [...lines, { label: "sent", color: "grey", isDashed: true, points: [] }],
    marks: marksOn(scenario.marks, (at) => nearest(series[0]?.sent ?? [], at)),
  };
}

function clientPanel({ scenario, limits }: ScenarioRun, nth: number): Panel {
  const runs = limits.map(({ name, clients }) => ({ name, run: clients[nth] as ClientRun }));
  const first = runs[0]?.run as ClientRun;
  return {
    title: first.client,
    ...callAxes(scenario.seconds, [first]),
    lines: [
      {
        label: `sent (${first.sent})`,
        color: "grey",
        isDashed: true,
        points: countsOf(first, scenario.seconds).sent,
      },
      ...apart(
        runs.map(
          ({ name, run }, i): NamedLine => ({
            name,
            label: `${name} (${run.passed})`,
            color: colorOf(i),
            points: countsOf(run, scenario.seconds).passed,
          }),
        ),
      ),
    ],
  };
}

type NamedLine = Line & { readonly name: string };

/** Of lines that are the same all the way one is seen: the others say under which they lie. */
function apart(lines: readonly NamedLine[]): Line[] {
  const texts = lines.map(({ points }) => points.join(" "));
  return lines.map(({ name, ...line }, i) => {
    const over = lines[texts.lastIndexOf(texts[i] as string)] as NamedLine;
    return over.name === name ? line : { ...line, label: `${line.label}, under ${over.name}` };
  });
}

function countsOf(client: ClientRun, seconds: number) {
  return soFar(client, seconds, seconds / 400);
}

function callAxes(seconds: number, clients: readonly ClientRun[]): Pick<Panel, "x" | "y"> {
  const counts = clients.map(({ sent }) => Math.max(1, sent));
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return {
    x: linearAxis("seconds", seconds, { isExact: true }),
    y: most / least >= farApart ? logAxis("calls so far", 1, most) : linearAxis("calls so far", most),
  };
}

function marksOn(
  marks: ScenarioRun["scenario"]["marks"],
  valueAt: (seconds: number) => number | undefined,
): Mark[] {
  return (marks ?? []).flatMap(({ at, label, side = "right" }) => {
    const y = valueAt(at);
    return y === undefined ? [] : [{ x: at, y, label, side }];
  });
}

/** The value at a time, or the one nearest to it; of several at one time the first. */
function nearest(points: readonly (readonly [number, number])[], at: number): number | undefined {
  let best: readonly [number, number] | undefined;
  for (const point of points)
    if (best === undefined || Math.abs(point[0] - at) < Math.abs(best[0] - at) - 1e-9) best = point;
  return best?.[1];
}

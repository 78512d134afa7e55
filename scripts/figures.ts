// `npm run figures` draws the figures of the EARRRL documentation into docs/figures, from the library itself.
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Axis, type Line, plot } from "./figures/svg.js";
import {
  type Convergence,
  convergence,
  convergenceFrom,
  convergenceTo,
  type Reform,
  reform,
} from "./figures/traffic.js";

const folder = new URL("../docs/figures/", import.meta.url);

/** Each figure's file name and its SVG. */
export async function drawFigures(): Promise<Record<string, string>> {
  return {
    "earrrl-convergence-half-life-10.svg": drawConvergence(10, await convergence(10)),
    "earrrl-convergence-half-life-1.svg": drawConvergence(1, await convergence(1)),
    "reform.svg": drawReform(await reform()),
  };
}

const colors = ["red", "green", "blue"] as const;

function drawConvergence(halfLifeSeconds: number, clients: readonly Convergence[]): string {
  const x: Axis = { label: "seconds", from: 0, to: 260, ticks: [0, 50, 100, 150, 200, 250] };
  const y: Axis = {
    label: "estimate, calls per second",
    from: 0.01,
    to: 30,
    ticks: [0.01, 0.1, 1, 10],
    scale: "log",
  };
  const lines = clients.flatMap(({ perSecond, estimates }, i): Line[] => [
    {
      color: "grey",
      isDashed: true,
      points: [
        [convergenceFrom, perSecond],
        [convergenceTo, perSecond],
      ],
    },
    { label: `${perSecond} per second`, color: colors[i] as Line["color"], points: estimates },
  ]);
  const fastest = clients[0] as Convergence;
  const estimateAt = (seconds: number) =>
    fastest.estimates.find(([at]) => Math.abs(at - seconds) < 1e-6)?.[1] as number;
  const marks = (
    [
      [convergenceFrom + halfLifeSeconds, "half the rate after one half-life", "right"],
      [convergenceTo + halfLifeSeconds, "half again", "right"],
    ] as const
  ).map(([at, label, side]) => ({ x: at, y: estimateAt(at), label, side }));
  return plot(
    `EARRRL follows three clients, half-life ${halfLifeSeconds} s`,
    "Clients sending 10, 1 and 0.1 calls a second from t = 50 s to t = 200 s; the estimate of each, on a logarithmic axis.",
    [{ x, y, lines: [...lines, { label: "true rate", color: "grey", isDashed: true, points: [] }], marks }],
  );
}

function drawReform([windowed, estimated]: readonly Reform[]): string {
  const x: Axis = { label: "seconds", from: 0, to: 400, ticks: [0, 50, 100, 150, 200, 250, 300, 350, 400] };
  const y: Axis = { label: "calls so far", from: 0, to: 500, ticks: [0, 100, 200, 300, 400, 500] };
  const panel = ({ name, calls }: Reform) => ({
    title: name,
    x,
    y,
    lines: [
      {
        label: "sent",
        color: "red" as const,
        points: calls.map(({ seconds }, i) => [seconds, i + 1] as const),
      },
      { label: "let in", color: "blue" as const, points: allowedSoFar(calls) },
    ],
    marks: [{ x: 150, y: 250, label: "the client reforms", side: "left" as const }],
  });
  return plot(
    "A client 67 % over the limit mends its ways at t = 150 s",
    "Calls sent and calls let in, under a fixed window and under EARRRL.",
    [panel(windowed as Reform), panel(estimated as Reform)],
  );
}

function allowedSoFar(calls: Reform["calls"]): (readonly [number, number])[] {
  let count = 0;
  return calls.map(({ seconds, allowed }) => {
    if (allowed) count++;
    return [seconds, count] as const;
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(folder, { recursive: true });
  for (const [name, svg] of Object.entries(await drawFigures())) {
    writeFileSync(new URL(name, folder), svg);
    console.log(`docs/figures/${name}  ${(svg.length / 1024).toFixed(0)} kB`);
  }
}

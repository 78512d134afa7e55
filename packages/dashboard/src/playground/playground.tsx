import { useMemo, useState } from "preact/hooks";
import { soFar } from "tidegate/simulate";
import type { PlotLine } from "../parts/line-plot.tsx";
import { Curves } from "./curves.tsx";
import { type Dials, type Played, play, type Rival, reform, rivals, seconds } from "./dials.ts";
import { Findings } from "./findings.tsx";
import { Slider, type SliderProps } from "./slider.tsx";
import "./playground.css";

type NumberDial = { [Name in keyof Dials]: Dials[Name] extends number ? Name : never }[keyof Dials];

const sliders: Readonly<Record<NumberDial, Omit<SliderProps, "value" | "onTurn">>> = {
  halfLife: { name: "Half-life", unit: "s", from: 1, to: 120, step: 1 },
  rate: { name: "Rate of the limit", unit: "per second", from: 0.1, to: 10, step: 0.1 },
  overage: { name: "Overage: a refused call weighs", unit: "", from: 0, to: 1, step: 0.05 },
  sends: { name: "The client sends", unit: "per second", from: 0.1, to: 20, step: 0.1 },
  changesAt: { name: "until", unit: "s", from: 0, to: seconds, step: 5 },
  afterwards: { name: "and from then on", unit: "per second", from: 0, to: 20, step: 0.1 },
  burst: { name: "Calls in a burst", unit: "", from: 2, to: 100, step: 1 },
};

const patterns = { steady: "steadily", "burst-and-wait": "in bursts", poisson: "by chance" } as const;

/** EARRRL beside another limit, on traffic of one's own making: curves follow the sliders. Needs no server. */
export function Playground() {
  const [dials, setDials] = useState(reform);
  const played = useMemo(() => play(dials), [dials]);
  const turn = (more: Partial<Dials>) => setDials((before) => ({ ...before, ...more }));
  const slider = (name: NumberDial) => (
    <Slider {...sliders[name]} value={dials[name]} onTurn={(value) => turn({ [name]: value })} />
  );
  return (
    <div class="playground">
      <form onSubmit={(event) => event.preventDefault()}>
        <h2>EARRRL</h2>
        {slider("halfLife")}
        {slider("rate")}
        {slider("overage")}
        <h2>Traffic</h2>
        {slider("sends")}
        {slider("changesAt")}
        {slider("afterwards")}
        <Choice
          name="It sends"
          value={dials.pattern}
          choices={patterns}
          onChoose={(pattern) => turn({ pattern: pattern as Dials["pattern"] })}
        />
        {dials.pattern === "burst-and-wait" && slider("burst")}
        <Choice
          name="Beside EARRRL"
          value={dials.against}
          choices={Object.fromEntries(rivals.map((each) => [each, each.replace("-", " ")]))}
          onChoose={(against) => turn({ against: against as Rival })}
        />
        <p>
          <button type="button" onClick={() => setDials(reform)}>
            As it was
          </button>
        </p>
      </form>
      <div>
        <Plots played={played} dials={dials} />
        <Findings played={played} dials={dials} />
      </div>
    </div>
  );
}

function Plots({ played, dials }: { played: Played; dials: Dials }) {
  const { estimated, rival, rivalName } = played;
  const { estimates = [] } = estimated;
  const estimateTimes = useMemo(() => estimates.map(([at]) => at), [played]);
  const estimateCurves = useMemo(
    (): PlotLine[] => [
      { name: "estimate", colour: "--accent", dash: [], values: estimates.map(([, value]) => value) },
      { name: "limit", colour: "--bad", dash: [6, 3], values: estimates.map(() => dials.rate) },
    ],
    [played],
  );
  const counts = useMemo(() => [estimated, rival].map((run) => soFar(run, seconds, 1)), [played]);
  const times = useMemo(() => (counts[0]?.sent ?? []).map(([at]) => at), [counts]);
  const callCurves = useMemo((): PlotLine[] => {
    const values = (points: readonly (readonly [number, number])[] = []) => points.map(([, value]) => value);
    return [
      { name: "sent", colour: "--quiet", dash: [2, 3], values: values(counts[0]?.sent) },
      { name: "EARRRL", colour: "--accent", dash: [], values: values(counts[0]?.passed) },
      { name: rivalName, colour: "--warn", dash: [6, 3], values: values(counts[1]?.passed) },
    ];
  }, [counts]);
  return (
    <>
      <figure>
        <Curves times={estimateTimes} curves={estimateCurves} />
        <figcaption class="quiet">
          The estimate, calls per second (line), and the limit (dashes), over seconds.
        </figcaption>
      </figure>
      <figure>
        <Curves times={times} curves={callCurves} />
        <figcaption class="quiet">
          Calls so far: sent (dots), let in by EARRRL (line), by {rivalName.toLowerCase()} (dashes).
        </figcaption>
      </figure>
    </>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly value: string;
  readonly choices: Readonly<Record<string, string>>;
  readonly onChoose: (value: string) => void;
}

function Choice({ name, value, choices, onChoose }: ChoiceProps) {
  return (
    <label>
      {name}
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {Object.entries(choices).map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

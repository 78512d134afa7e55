import { useMemo, useState } from "preact/hooks";
import type { Rates, RuleRates } from "../live/rates.ts";
import { type Measure, ruleLines } from "../live/rule-lines.ts";
import { rate } from "../words.ts";
import { Chart } from "./chart.tsx";
import { Foreign } from "./foreign.tsx";
import { Swatch } from "./swatch.tsx";

const measures: Readonly<Record<Measure, string>> = {
  refused: "refused",
  shadow: "would be refused in shadow",
  judged: "judged",
};

/** Per second, a line for each rule; each is switched on and off beside it. */
export function RulesChart({ points, rules }: { points: readonly Rates[]; rules: readonly string[] }) {
  const [measure, setMeasure] = useState<Measure>("refused");
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const times = useMemo(() => points.map(({ at }) => at), [points]);
  const names = rules.join("\n");
  const lines = useMemo(() => ruleLines(points, rules, measure), [points, names, measure]);
  const shown = useMemo(() => lines.filter(({ name }) => !hidden.has(name)), [lines, hidden]);
  const last: Readonly<Record<string, RuleRates>> = points.at(-1)?.byRule ?? {};
  if (lines.length === 0) return null;

  function toggle(name: string): void {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    setHidden(next);
  }

  return (
    <figure>
      <label class="inline">
        Per second, by rule:{" "}
        <select value={measure} onChange={(event) => setMeasure(event.currentTarget.value as Measure)}>
          {Object.entries(measures).map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {/* It has always the same lines: with others it is another one. */}
      <Chart key={shown.map(({ name }) => name).join("\n")} times={times} lines={shown} />
      <figcaption>
        <ul class="legend" aria-label="Rules in the plot">
          {lines.map(({ name, colour, dash }) => (
            <li key={name}>
              <label class="inline">
                <input type="checkbox" checked={!hidden.has(name)} onChange={() => toggle(name)} />
                <Swatch colour={colour} dash={dash} /> <Foreign text={name} />{" "}
                <span class="number">{rate(last[name]?.[measure] ?? 0)}</span>
              </label>
            </li>
          ))}
        </ul>
        {rules.length > lines.length && (
          <p class="quiet">The first {lines.length} of the policy's rules; the table has all of them.</p>
        )}
      </figcaption>
    </figure>
  );
}

import { useMemo } from "preact/hooks";
import type { Rates } from "../live/rates.ts";
import { Chart } from "./chart.tsx";
import { Legend } from "./legend.tsx";

const kinds = [
  { kind: "allowed", name: "allowed", colour: "--good", dash: [] },
  { kind: "refused", name: "refused", colour: "--bad", dash: [6, 3] },
  { kind: "shadow", name: "would be refused in shadow", colour: "--warn", dash: [2, 3] },
] as const;

/** Requests per second over time. */
export function RatesChart({ points }: { points: readonly Rates[] }) {
  const times = useMemo(() => points.map(({ at }) => at), [points]);
  const lines = useMemo(
    () => kinds.map((each) => ({ ...each, values: points.map((point) => point[each.kind]) })),
    [points],
  );
  return (
    <figure>
      <Chart times={times} lines={lines} />
      <figcaption class="quiet">
        Requests per second. <Legend lines={kinds} />
      </figcaption>
    </figure>
  );
}
